"""Chains of faces over the field of two elements: their boundaries, and the ranks of these.

A boundary matrix has a column for every face of dimension k and a row for every face of dimension k - 1. Columns are
reduced from the left to the right: as long as the lowest entry of a column is that of an earlier one, this one is
added. What is left over are pivots, one per row, and as many as the rank. From the top dimension down, a face that is a
pivot row is a boundary up to faces before it: its own column would reduce to nothing, and is left out (the twist of
Chen and Kerber, 2011).

Faces come in the order in which a height that grows passes them whole: nearly every column then finds a pivot at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from reluscope import _kernels

NONE = -1


@dataclass(frozen=True)
class Chains:
    """A chain complex over two elements.

    ``offsets`` and ``ids`` are the boundaries of the faces of dimension 1 to d.
    """

    counts: tuple[int, ...]  # faces of every dimension, from 0 to d
    offsets: tuple[Int[np.ndarray, " _"], ...]
    ids: tuple[Int[np.ndarray, " _"], ...]

    def only(self, kept: Sequence[Bool[np.ndarray, " _"]]) -> "Chains":
        """Return the chains of some faces, without what of their boundaries is not among these.

        Kept may be a closed subcomplex, or one without a smaller one: the relative chains.
        """
        offsets, ids = [], []
        for k, (begins, members) in enumerate(zip(self.offsets, self.ids, strict=True), 1):
            owner = np.repeat(np.arange(self.counts[k]), np.diff(begins))
            stays = kept[k][owner] & kept[k - 1][members]
            sizes = np.bincount(owner[stays], minlength=self.counts[k])[kept[k]]
            offsets.append(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))
            ids.append((np.cumsum(kept[k - 1]) - 1)[members[stays]])
        return Chains(tuple(int(one.sum()) for one in kept), tuple(offsets), tuple(ids))

    def swept(self, heights: Float[np.ndarray, " v"]) -> "tuple[Chains, list[Int[np.ndarray, ' _']]]":
        """Return the same chains in the order in which a height of the vertices passes faces, and where each was.

        A face is passed at its highest vertex. The faces before any height are a closed subcomplex.
        """
        order = np.argsort(heights, kind="stable")
        orders, offsets, ids = [order], [], []
        for begins, members in zip(self.offsets, self.ids, strict=True):
            place = np.empty(len(order), dtype=np.int64)
            place[order] = np.arange(len(order))
            members = place[members]
            highest = np.maximum.reduceat(members, begins[:-1])
            order = np.argsort(highest, kind="stable")
            counts = np.diff(begins)[order]
            first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
            ids.append(members[np.repeat(begins[:-1][order] - first[:-1], counts) + np.arange(first[-1])])
            offsets.append(first)
            orders.append(order)
        return Chains(self.counts, tuple(offsets), tuple(ids)), orders

    @property
    def euler_characteristic(self) -> int:
        """Faces of even dimension less those of odd dimension."""
        return sum((-1) ** k * number for k, number in enumerate(self.counts))


def pivots(chains: Chains) -> list[Int[np.ndarray, " _"]]:
    """Return for k from 1 to d the column of dimension k whose pivot is each row of dimension k - 1.

    -1 for none.
    """
    found: list[np.ndarray] = []
    cleared = np.zeros(chains.counts[-1], dtype=bool)
    for k in range(len(chains.ids), 0, -1):
        ids = chains.ids[k - 1].astype(np.int32)
        found.append(_kernels.reduce_columns(chains.offsets[k - 1], ids, chains.counts[k - 1], cleared))
        cleared = found[-1] != NONE
    return found[::-1]


def betti_numbers(chains: Chains) -> list[int]:
    """Return the dimensions of the homology, from dimension 0 to d."""
    ranks = [0, *(int(np.count_nonzero(one != NONE)) for one in pivots(chains)), 0]
    return [number - ranks[k] - ranks[k + 1] for k, number in enumerate(chains.counts)]
