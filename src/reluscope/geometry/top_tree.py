"""All ways in which groups of linear forms have their k largest members inside a cell.

A set is the k largest where each of its members is above each of the others. Members are taken in or left out one after
the other, those that are clearest at the witness of the cell first: each must be above what is left out, or below what
is in. No part is cut more than once, and a set of members is one convex part, whatever the order among them.
"""

from collections.abc import Sequence

import numpy as np

from reluscope.geometry.framed_cells import Frame, FramedCell, LinearForms
from reluscope.geometry.generation import Scratch
from reluscope.geometry.max_tree import MaxTree
from reluscope.geometry.sign_tree import UNDECIDED_FORMS

Chosen = tuple[bool, ...]


class TopTree(MaxTree):
    """The search for all choices of the k largest members inside one cell.

    Parameters
    ----------
    frame, cell, differences, scratch
        As `MaxTree`; all groups have as many members. Members of batches are (r, u, n) integers, 1 for what is in.
    k : int
    """

    def __init__(
        self, frame: Frame, cell: FramedCell, differences: Sequence[LinearForms], scratch: Scratch, k: int
    ) -> None:
        super().__init__(frame, cell, differences, scratch)
        self.k = k

    @property
    def _shape(self) -> tuple[int, ...]:
        return (len(self.differences), self.sizes[0])

    def _parts(self, cell: FramedCell, group: int) -> list[tuple[Chosen, FramedCell]]:
        undecided, size = self.counters[UNDECIDED_FORMS], self.sizes[group]
        above = self._ranks(cell, group)
        # Those far from the limit are decided first: they tell whether there is room for the others.
        order = np.argsort(-np.abs(above - (self.k - 0.5)), kind="stable").tolist()
        found: list[tuple[Chosen, FramedCell]] = []
        stack: list[tuple[FramedCell, tuple[int, ...], tuple[int, ...]]] = [(cell, (), ())]
        while stack:
            part, inside, outside = stack.pop()
            if len(inside) + len(outside) == size:
                found.append((tuple(member in inside for member in range(size)), part))
                continue
            member = order[len(inside) + len(outside)]
            if len(outside) < size - self.k and (rest := self._among(part, group, inside, (member,))) is not None:
                stack.append((rest, inside, (*outside, member)))
            if len(inside) < self.k and (rest := self._among(part, group, (member,), outside)) is not None:
                stack.append((rest, (*inside, member), outside))
        if not found:
            # Rounding hides every part, although the cell has an interior.
            self.counters[UNDECIDED_FORMS] = undecided + 1
            found = [(tuple((above < self.k).tolist()), cell)]
        return sorted(found, key=lambda one: one[0], reverse=True)

    def _among(
        self, cell: FramedCell, group: int, inside: tuple[int, ...], outside: tuple[int, ...]
    ) -> FramedCell | None:
        """Return the part of a cell where some members are above others, or None if it has no interior."""
        part: FramedCell | None = cell
        for one in inside:
            for other in outside:
                part = None if part is None else self._above(part, group, one, other)
        return part

    def _ranks(self, cell: FramedCell, group: int) -> np.ndarray:
        """Return how many members are above each at the witness."""
        size = self.sizes[group]
        values = (self.differences[group].coefficients @ self._image(cell.witness)).reshape(size, size)
        is_lower = np.tri(size, k=-1, dtype=bool)
        # Entry (a, b) is a minus b, and of equal members the lower one is above.
        return ((values < 0) | ((values == 0) & is_lower)).sum(axis=1)
