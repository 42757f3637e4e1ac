"""Cells that are taken through the gates together, and what is known of the values on them.

What was computed for some cells is shared by all their parts: each says in which of those it lies, and copies nothing.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from reluscope import _kernels
from reluscope.geometry.cutting.polytopes import Polytopes, ragged_rows
from reluscope.networks.evaluation.affine_values import AffineValues
from reluscope.partitions.cells.maps_at_gates import CarriedMaps, select

Rows = slice | np.ndarray


class BeforeGate(NamedTuple):
    """Values from which a gate is reached, of cells whose pieces of the last gate are known."""

    values: AffineValues  # of cells before the last gate; empty if no gate follows
    cell_of: np.ndarray  # (c,) which of those cells each cell lies in
    pieces: np.ndarray  # (c, u) pieces of the last gate's units

    def take(self, rows: Rows) -> "BeforeGate":
        """Return the same of some cells."""
        return self._replace(cell_of=self.cell_of[rows], pieces=self.pieces[rows])

    def alone(self) -> "BeforeGate":
        """Return the same without values of other cells."""
        return self._replace(values=select(self.values, self.cell_of), cell_of=np.arange(len(self.cell_of)))

    def open(self, carried: CarriedMaps, stage: int, owners: np.ndarray) -> "AtGate":
        """Return the same cells at the gate of a stage."""
        maps, errors, values = carried.at_gate(stage, self.values, self.cell_of, self.pieces, owners)
        is_last = stage == len(carried.network.stages) - 1
        number, num_units, _ = maps.shape
        return AtGate(
            np.ascontiguousarray(maps),
            np.ascontiguousarray(errors),
            {} if is_last else values,
            np.arange(number),
            np.zeros(number, dtype=np.int64),
            np.zeros((number, num_units), dtype=np.uint16),
        )


class AtGate(NamedTuple):
    """A gate whose units are cutting cells."""

    maps: np.ndarray  # (m, u, d + 1) gate's inputs on the cells that came to it
    errors: np.ndarray  # (m, u, d + 1) bounds on the errors of ``maps``
    values: AffineValues  # values of those cells that later gates need
    cell_of: np.ndarray  # (c,) which of those cells each cell lies in
    next_units: np.ndarray  # (c,) the unit that comes next on each cell
    pieces: np.ndarray  # (c, u) pieces of the units before ``next_units``

    def take(self, rows: Rows) -> "AtGate":
        """Return the same of some cells."""
        return self._replace(cell_of=self.cell_of[rows], next_units=self.next_units[rows], pieces=self.pieces[rows])

    def alone(self) -> "AtGate":
        """Return the same without values of other cells."""
        return self._replace(
            maps=self.maps[self.cell_of],
            errors=self.errors[self.cell_of],
            values=select(self.values, self.cell_of),
            cell_of=np.arange(len(self.cell_of)),
        )


class Finished(NamedTuple):
    """Cells behind the last gate.

    Where corners are kept, they are a table of homogeneous vertices in the domain's own coordinates that cells share,
    and for each cell its rows.
    """

    middles: np.ndarray  # (c, d + 1) mean of each cell's homogeneous vertices
    is_bounded: np.ndarray  # (c,) whether all vertices of the cell are points
    corner_offsets: np.ndarray  # (c + 1,) where each cell's ``corner_ids`` begin
    corner_ids: np.ndarray  # (v,) rows of ``corners``
    corners: np.ndarray  # (p, d + 1) vertices shared by the cells

    @classmethod
    def of(cls, cells: Polytopes, keeps_vertices: bool, scale: np.ndarray) -> "Finished":
        """Return what is known of cells by their vertices, of which coordinates are in units of a scale."""
        kept = cells if keeps_vertices else cells.without_vertices()
        found = _kernels.middles(cells.vertex_offsets, cells.vertices)
        ids = np.arange(len(kept.vertices), dtype=np.int32)
        return cls(*found, kept.vertex_offsets, ids, kept.vertices * scale)

    def take(self, rows: Rows) -> "Finished":
        """Return the same of some cells, in increasing order."""
        places = np.arange(len(self.middles))[rows]
        if len(places) == len(self.middles):
            return self
        offsets, entries = ragged_rows(self.corner_offsets, places)
        ids = self.corner_ids[entries]
        # Corners of other cells stay behind.
        is_taken = np.zeros(len(self.corners), dtype=bool)
        is_taken[ids] = True
        ids = (np.cumsum(is_taken, dtype=np.int32) - 1)[ids]
        return Finished(self.middles[rows], self.is_bounded[rows], offsets, ids, self.corners[is_taken])

    def alone(self) -> "Finished":
        """Return the same: nothing in it is of other cells."""
        return self


@dataclass(frozen=True)
class Batch:
    """Cells before a gate, or before some of its units."""

    stage: int  # the gate that comes next
    cells: Polytopes
    known: BeforeGate | AtGate | Finished  # the values on the cells
    words: tuple[np.ndarray, ...]  # (c, w) each, packed codes of the gates passed so far
    hashes: np.ndarray  # (c, 2) what pieces so far add to a cell's facet keys
    in_doubt: np.ndarray  # (c,) whether a sign stayed undecided on the way
    owners: np.ndarray  # (c,) of which of several networks each cell is
    is_all: bool = False  # whether there are no other cells
    is_finished: bool = False

    @property
    def level(self) -> int:
        """How far the cells have come."""
        return self.stage

    def __len__(self) -> int:
        return len(self.cells)

    def take(self, first: int, last: int) -> "Batch":
        """Return the cells of a range."""
        part = self.replaced(self.cells.take(first, last), slice(first, last))
        return replace(part, is_all=self.is_all and last - first == len(self))

    def replaced(self, cells: Polytopes, rows: Rows) -> "Batch":
        """Return parts of these cells in their place, given which cell each is a part of."""
        return replace(
            self,
            cells=cells,
            known=self.known.take(rows),
            words=tuple(word[rows] for word in self.words),
            hashes=self.hashes[rows],
            in_doubt=self.in_doubt[rows],
            owners=self.owners[rows],
        )

    def alone(self) -> "Batch":
        """Return the same cells with nothing that others need, to be sent away."""
        return replace(self, known=self.known.alone())

    def spread(self, size: int) -> list["Batch"]:
        """Return the cells in batches of bounded size, the first of them last."""
        return [self.take(first, min(first + size, len(self))) for first in reversed(range(0, len(self), size))]
