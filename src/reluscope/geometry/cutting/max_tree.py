"""All ways in which groups of linear forms have their largest members inside a cell.

The part of a cell where one form of a group is the largest is cut out by its differences with the others, one after the
other: each holds at the witness, or a linear program moves the witness, or shows that nothing is left. No part is cut
more than once, so that parts need no merging.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from reluscope.geometry.cutting.crossing import NONE, SOME, find_positive, inner_point
from reluscope.geometry.cutting.framed_cells import CellFrame, FramedCell, LinearForms
from reluscope.geometry.cutting.generation import Scratch
from reluscope.geometry.cutting.sign_tree import NODES, NUM_COUNTERS, PIVOTS, PROGRAMS, UNDECIDED_FORMS, WORK


class MaxBatch(NamedTuple):
    """Some of the choices of largest members found."""

    members: np.ndarray  # (r, u) largest of each group, the lowest of equals
    cells: list[FramedCell]  # where they are the largest


class Item(NamedTuple):
    """A cell to visit, with the choices of the first groups that it has."""

    chosen: tuple[Any, ...]
    cell: FramedCell
    walk: Any = None  # through the parts of the next group, where one has begun


class MaxTree:
    """Searches for all choices of largest members inside one cell.

    For every group of k forms, entry ``a k + b`` of its differences is form a minus form b; a constant difference of
    zero says that the two are the same. The scratch is of the same frame.
    """

    def __init__(
        self, frame: CellFrame, cell: FramedCell, differences: Sequence[LinearForms], scratch: Scratch
    ) -> None:
        self.frame, self.differences = frame, differences
        self.sizes = [round(len(forms.noise) ** 0.5) for forms in differences]
        self._scratch = scratch
        self.shape: tuple[int, ...] = ()  # of the choice of one group
        rows = len(cell.rows) + sum(self.sizes)
        self.work = WORK // max(1, len(frame.lower) * rows)  # programs and pivots of one step
        self._stack = [Item((), cell)]
        self.counters = np.zeros(NUM_COUNTERS, dtype=np.int64)

    @property
    def is_done(self) -> bool:
        """Whether all choices have been returned."""
        return not self._stack

    @property
    def num_open(self) -> int:
        """Cells left to visit, each of which has at least one choice."""
        return len(self._stack)

    def take(self, most: int) -> MaxBatch:
        """Return the next choices, at most this many, in order; maybe none, where they take long."""
        members, cells = [], []
        last = self.counters[[PROGRAMS, PIVOTS]].sum() + self.work
        while self._stack and len(cells) < most and self.counters[[PROGRAMS, PIVOTS]].sum() <= last:
            item = self._stack.pop()
            if len(item.chosen) == len(self.differences):
                members.append(item.chosen)
                cells.append(item.cell)
                continue
            self.counters[NODES] += 1
            self._stack += self._next(item)
        shape = (len(cells), len(self.differences), *self.shape)
        return MaxBatch(np.array(members, dtype=np.int64).reshape(shape), cells)

    def _next(self, item: Item) -> list[Item]:
        """Return what a cell leaves to visit, in reverse."""
        parts = self._parts(item.cell, len(item.chosen))
        return [Item((*item.chosen, member), part) for member, part in reversed(parts)]

    def _parts(self, cell: FramedCell, group: int) -> list[tuple[int, FramedCell]]:
        undecided = self.counters[UNDECIDED_FORMS]
        found = [(member, self._part(cell, group, member)) for member in range(self.sizes[group])]
        parts = [(member, part) for member, part in found if part is not None]
        if not parts:
            # Rounding hides every part, although the cell has an interior.
            self.counters[UNDECIDED_FORMS] = undecided + 1
            z = self._image(cell.witness)
            size = self.sizes[group]
            values = (self.differences[group].coefficients @ z).reshape(size, size)
            parts = [(int(values.min(axis=1).argmax()), cell)]
        return parts

    def _part(self, cell: FramedCell, group: int, member: int) -> FramedCell | None:
        """Return the part of a cell where one member is the largest, or None if it has no interior."""
        part: FramedCell | None = cell
        for other in range(self.sizes[group]):
            if part is not None and other != member:
                part = self._above(part, group, member, other)
        return part

    def _above(self, cell: FramedCell, group: int, member: int, other: int) -> FramedCell | None:
        """Return the part of a cell where one member is above another, the lower one of equals; None if it is flat."""
        forms = self.differences[group]
        pair = member * self.sizes[group] + other
        form, noise = forms.coefficients[pair], float(forms.noise[pair])
        z = self._image(cell.witness)
        value = float(form @ z)
        if forms.is_constant[pair]:
            self.counters[UNDECIDED_FORMS] += int(forms.is_doubtful[pair])
            return None if value < -noise or (value <= noise and other < member) else cell
        if self._is_positive_everywhere(form, noise):
            return cell
        if not value > 2 * noise:
            moved = self._moved(cell, forms, pair, z)
            if moved is None:
                return None
            cell = cell._replace(witness=moved)
        return cell.cut(form[None], forms.noise[[pair]], forms.slack[[pair]], cell.witness)

    def _moved(self, cell: FramedCell, forms: LinearForms, index: int, z: np.ndarray) -> np.ndarray | None:
        """Return a witness at which a form is positive too, or None."""
        form, sides, scratch = forms.one(index), cell.sides, self._scratch
        start = float(form.coefficients @ z)
        answer, steps = find_positive(form, sides, scratch, cell.witness, z)
        self.counters[PROGRAMS] += 1
        self.counters[PIVOTS] += steps
        if answer == SOME:
            least = max(0.0, -start) / (max(0.0, -start) + float(form.coefficients @ scratch.out_z))
            inner = inner_point(form, sides, scratch, cell.witness, z, scratch.out_y, least)
            if inner is not None:
                return inner[0]
        if answer != NONE:
            self.counters[UNDECIDED_FORMS] += 1
        return None

    def _is_positive_everywhere(self, form: np.ndarray, noise: float) -> bool:
        return self._scratch.largest(-form) < -noise

    def _image(self, y: np.ndarray) -> np.ndarray:
        return self._scratch.image(y)
