"""All sign vectors that some linear forms take inside a cell, depth first, by few linear programs.

At every node of the search a form takes both signs inside the cell, or only one. Points of the cell that earlier
programs found often show both. A proof that there is only one uses a few rows; it is kept, and holds wherever the same
rows come up again (learned clauses, as in solvers for satisfiability). What neither decides costs one program.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

import numpy as np

from reluscope import _kernels
from reluscope.geometry.cutting.framed_cells import CellFrame, FramedCell, LinearForms
from reluscope.geometry.cutting.generation import Scratch

# Numbers touched by one call of `take`, about: a search of many forms may take long to find its first sign vector.
WORK = 200_000_000

PROGRAMS, PIVOTS, CORNERS, NODES, BY_POINT, BY_CLAUSE, UNDECIDED_FORMS = range(7)
NUM_COUNTERS = 7


class SignBatch(NamedTuple):
    """Some of the sign vectors found.

    Signs of forms that did not cut are implied by those that did, and by the cell.
    """

    signs: np.ndarray  # (r, p) whether each form is positive
    is_cut: np.ndarray  # (r, p) whether the form cut a cell on the way
    witnesses: np.ndarray  # (r, n) strictly interior points


class SignTree:
    """Searches for all sign vectors of forms inside one cell, in pieces between which it can be stopped.

    A form that is constantly zero counts as not positive. The scratch is of the same frame. Memory: O(p n) floats,
    whatever the number of sign vectors.
    """

    def __init__(self, frame: CellFrame, cell: FramedCell, forms: LinearForms, scratch: Scratch) -> None:
        self.frame, self.cell, self.forms = frame, cell, forms
        self._scratch = scratch
        self._tree = _kernels.SignTree(scratch.room, *cell, *forms)

    @property
    def is_done(self) -> bool:
        """Whether all sign vectors have been returned."""
        return self._tree.is_done

    @property
    def num_open(self) -> int:
        """Nodes left to visit, each of which has at least one sign vector below it."""
        return self._tree.num_open

    @property
    def counters(self) -> np.ndarray:
        """Programs, pivots, corners, nodes, decisions by points and by clauses, undecided forms so far."""
        return self._tree.counters

    def take(self, most: int) -> SignBatch:
        """Return the next sign vectors, at most this many, in the order of the search; maybe none (see ``WORK``)."""
        numbers = len(self.frame.lower) * (len(self.cell.rows) + len(self.forms.noise))
        return SignBatch(*self._tree.take(self._scratch.room, most, WORK // max(1, numbers)))

    def cells(self, batch: SignBatch) -> "CutCells":
        """Return the cells of sign vectors."""
        return CutCells(self.cell, self.forms, batch)


@dataclass(frozen=True, eq=False)
class CutCells(Sequence[FramedCell]):
    """The cells of sign vectors, each made when it is asked for, as many are only counted."""

    cell: FramedCell  # that was searched
    forms: LinearForms
    batch: SignBatch

    def __len__(self) -> int:
        return len(self.batch.signs)

    @overload
    def __getitem__(self, index: int) -> FramedCell: ...

    @overload
    def __getitem__(self, index: slice) -> "CutCells": ...

    def __getitem__(self, index: int | slice) -> "FramedCell | CutCells":
        """Return a cell, or some of them."""
        signs, is_cut, witness = (column[index] for column in self.batch)
        if isinstance(index, slice):
            return CutCells(self.cell, self.forms, SignBatch(signs, is_cut, witness))
        which = np.flatnonzero(is_cut)
        side = np.where(signs[which], 1.0, -1.0)
        rows = side[:, None] * self.forms.coefficients[which]
        return self.cell.cut(rows, self.forms.noise[which], self.forms.slack[which], witness)

    @property
    def witnesses(self) -> np.ndarray:
        """A point (r, n) strictly inside each."""
        return self.batch.witnesses
