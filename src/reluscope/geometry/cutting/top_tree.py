"""All ways in which groups of linear forms have their k largest members inside a cell.

A set is the k largest where each of its members is above each of the others: one convex part of the cell, whatever the
order among them. From the part of a witness one goes through its sides to the parts beyond, until none is new: parts of
a convex cell hang together by their sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from reluscope.geometry.cutting.framed_cells import CellFrame, FramedCell, LinearForms
from reluscope.geometry.cutting.generation import Scratch
from reluscope.geometry.cutting.max_tree import Item, MaxTree
from reluscope.geometry.cutting.sign_tree import UNDECIDED_FORMS

# Rows that differ by less may be one hyperplane, which several pairs of members share.
SAME = 1e-7
# How often a witness is moved off hyperplanes.
MOVES = 20
# Programs and pivots of one step, each of as many rows as pairs of members: some tenths of a second.
WORK = 2**12


@dataclass
class _Walk:
    """The parts of one cell by one group: those to visit, each with a point inside, and those known."""

    cell: FramedCell
    group: int
    waiting: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    seen: set[bytes] = field(default_factory=set)

    def meet(self, inside: np.ndarray, witness: np.ndarray) -> None:
        """Add a part, if it is new."""
        if inside.tobytes() not in self.seen:
            self.seen.add(inside.tobytes())
            self.waiting.append((inside, witness))


class TopTree(MaxTree):
    """Searches for all choices of the k largest members inside one cell.

    All groups have as many members. Members of batches are (r, g, n) integers, 1 for those among the k largest.
    """

    def __init__(
        self, frame: CellFrame, cell: FramedCell, differences: Sequence[LinearForms], scratch: Scratch, k: int
    ) -> None:
        super().__init__(frame, cell, differences, scratch)
        self.k = k
        self.shape, self.work = (self.sizes[0],), WORK

    def _next(self, item: Item) -> list[Item]:
        """Return what is left of the parts of a cell, and the next of them, which comes first."""
        walk = self._begun(item.cell, len(item.chosen)) if item.walk is None else item.walk
        found = self._next_part(walk)
        left = [item._replace(walk=walk)] if walk.waiting else []
        return left if found is None else [*left, Item((*item.chosen, found[0]), found[1])]

    def _begun(self, cell: FramedCell, group: int) -> _Walk:
        """Return a walk that begins at the witness, or near it where members tie there."""
        forms, walk = self.differences[group], _Walk(cell, group)
        for _ in range(MOVES):
            z = self._image(cell.witness)
            values = forms.coefficients @ z
            tied = np.flatnonzero(~forms.is_constant & (np.abs(values) <= 2 * forms.noise))
            moves = (self._moved(cell, forms, int(pair), z) for pair in tied)
            moved = next((one for one in moves if one is not None), None)
            if moved is None:
                break
            cell = cell._replace(witness=moved)
        walk.meet(self._inside(cell.witness, group), cell.witness)
        return walk

    def _next_part(self, walk: _Walk) -> tuple[np.ndarray, FramedCell] | None:
        """Return the next part, after a look through all its sides; None if rounding leaves nothing of it."""
        inside, witness = walk.waiting.pop()
        forms, size = self.differences[walk.group], self.sizes[walk.group]
        pairs = (np.flatnonzero(inside)[:, None] * size + np.flatnonzero(~inside)).ravel()
        self.counters[UNDECIDED_FORMS] += int(forms.is_doubtful[pairs].sum())
        pairs = pairs[~forms.is_constant[pairs]]
        pairs = pairs[~self._are_positive_everywhere(forms.select(pairs))]
        rows = forms.select(pairs)
        around = walk.cell._replace(witness=witness)
        z = self._image(witness)
        if not (rows.coefficients @ z > 2 * rows.noise).all():
            part: FramedCell | None = around
            for pair in pairs.tolist():
                part = None if part is None else self._above(part, walk.group, *divmod(pair, size))
            if part is None:
                self.counters[UNDECIDED_FORMS] += 1
                return None if walk.waiting or len(walk.seen) > 1 else (inside.astype(np.int64), walk.cell)
            witness, z = part.witness, self._image(part.witness)
        units = rows.coefficients / np.abs(rows.coefficients).max(axis=1, initial=0.0, keepdims=True)
        for place, pair in enumerate(pairs.tolist()):
            one, other = divmod(pair, size)
            beyond = inside.copy()
            beyond[[one, other]] = False, True
            is_same = (np.abs(units - units[place]) <= SAME).all(axis=1)
            if beyond.tobytes() in walk.seen and is_same.sum() == 1:
                continue
            alone = np.zeros(len(pairs), dtype=bool)
            alone[place] = True
            # First through this side by itself, then through all that may lie on one hyperplane.
            for gone in (alone, is_same) if is_same.sum() > 1 else (alone,):
                kept = rows.select(~gone)
                wider = around.cut(kept.coefficients, kept.noise, kept.slack, witness)
                point = self._moved(wider, forms, other * size + one, z)
                if point is not None:
                    walk.meet(self._inside(point, walk.group), point)
                    break
        return inside.astype(np.int64), around.cut(rows.coefficients, rows.noise, rows.slack, witness)

    def _inside(self, witness: np.ndarray, group: int) -> np.ndarray:
        """Return which members are among the largest at a point, the lower ones of those that are the same."""
        forms, size = self.differences[group], self.sizes[group]
        values = forms.coefficients @ self._image(witness)
        values[forms.is_constant & (np.abs(values) <= forms.noise)] = 0.0
        table = values.reshape(size, size)  # entry (a, b) is a minus b
        above = ((table < 0) | ((table == 0) & np.tri(size, k=-1, dtype=bool))).sum(axis=1)
        # Rounding may let three members be above each other in turn.
        inside = np.zeros(size, dtype=bool)
        inside[np.argsort(above, kind="stable")[: self.k]] = True
        return inside

    def _are_positive_everywhere(self, forms: LinearForms) -> np.ndarray:
        """Return which forms are positive in the whole box."""
        entries = forms.coefficients
        if len(self.frame.generators):
            entries = entries @ self.frame.generators
        least = np.minimum(entries * self.frame.lower, entries * self.frame.upper).sum(axis=1)
        return least > 2 * forms.noise
