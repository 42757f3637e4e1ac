"""Words of many codes of one gate that differ in few units: one row of words, and the pieces of these units."""

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from jaxtyping import Int, UInt64

from reluscope.codes.layout import WORD_BITS, CodeLayout
from reluscope.codes.packing import pack_pieces


@dataclass(frozen=True, eq=False)
class SteadyWords:
    """Words ``(s, w)`` of a gate, written out when they are asked for as an array."""

    layout: CodeLayout  # of one gate
    row: UInt64[np.ndarray, "1 w"]  # words with which all codes begin
    units: Int[np.ndarray, " c"]
    pieces: np.ndarray  # (s, c) of these units; others are as in the row

    @classmethod
    def of(cls, layout: CodeLayout, steady: np.ndarray, units: Int[np.ndarray, " c"], pieces: np.ndarray) -> Self:
        """Return the words of codes ``(s, u)`` that are ``steady (u,)`` but for the pieces ``(s, c)`` of some units."""
        steady = steady.copy()
        steady[units] = pieces.max(axis=0, initial=0)
        differ = np.flatnonzero((pieces != steady[units]).any(axis=0))
        return cls(layout, pack_pieces([steady[None]], layout), units[differ], pieces[:, differ])

    def take(self, rows: np.ndarray, axis: Literal[0]) -> Self:
        """Return the words of some codes."""
        return type(self)(self.layout, self.row, self.units, self.pieces.take(rows, axis=axis))

    def __array__(self, dtype: np.dtype | None = None, copy: bool | None = None) -> np.ndarray:
        """Return all words."""
        (gate,) = self.layout
        found = np.repeat(self.row, len(self.pieces), axis=0)
        for unit, pieces in zip(self.units.tolist(), self.pieces.T, strict=True):
            word, bit = divmod(unit, WORD_BITS)
            for plane in range(gate.num_planes):
                column = found[:, plane * gate.words_per_plane + word]
                column &= ~np.uint64(1 << bit)
                column |= (pieces.astype(np.uint64) >> np.uint64(plane) & np.uint64(1)) << np.uint64(bit)
        return found if dtype is None else found.astype(dtype, copy=False)
