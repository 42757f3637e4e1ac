"""Checks that words from files and messages are codes of a layout."""

import numpy as np
from jaxtyping import UInt64

from reluscope.codes.layout import CodeLayout
from reluscope.codes.packing import pack_pieces, unpack_pieces

# Number of codes that are unpacked at once.
ROWS = 2**16


def check_words(words: UInt64[np.ndarray, "s w"], layout: CodeLayout) -> None:
    """Raise ValueError unless every unit is on a piece that it has, and no bit is set beside the units."""
    for start in range(0, len(words), ROWS):
        rows = words[start : start + ROWS]
        pieces = unpack_pieces(rows, layout)
        by_gate = [pieces[:, layout.units(place)] for place in range(len(layout))]
        for gate, found in zip(layout, by_gate, strict=True):
            if found.size and found.max() >= gate.num_pieces:
                raise ValueError(f"a unit of gate {gate.name} is on piece {found.max()} of {gate.num_pieces}")
        if not np.array_equal(pack_pieces(by_gate, layout, num_codes=len(rows)), rows):
            raise ValueError("a bit is set beside the units")
