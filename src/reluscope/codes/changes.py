"""How many units differ between two sets of codes of the same points, point by point and gate by gate."""

import numpy as np
from jaxtyping import Int

from reluscope.codes.packed import Codes
from reluscope.errors import InputError


def changed_units(before: Codes, after: Codes) -> Int[np.ndarray, "s gates"]:
    """Return how many units of each gate changed their piece, for every point.

    Both codes are of the same points in the same order. Exact; the sum over gates is the Hamming distance.
    """
    if not before.layout.is_compatible(after.layout) or len(before) != len(after):
        raise InputError(
            f"changes need two sets of as many codes of equal layouts, got {before} and {after}: take the codes of the "
            "same points"
        )
    found = np.zeros((len(after), len(after.layout)), dtype=np.int64)
    for index, gate in enumerate(after.layout):
        columns = after.layout.words(index)
        flipped = before.words[:, columns] ^ after.words[:, columns]
        # A unit of many pieces has changed if any of its bits has.
        planes = flipped.reshape(len(after), gate.num_planes, gate.words_per_plane)
        found[:, index] = np.bitwise_count(np.bitwise_or.reduce(planes, axis=1)).sum(axis=1, dtype=np.int64)
    return found
