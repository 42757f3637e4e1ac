"""Exact partition in several dimensions, cell by cell: every cell keeps its own vertices and facets.

For 4 to 8 inputs, and for unbounded domains in any small number of dimensions: vertices are homogeneous, so directions
are vertices like any other, and a region is unbounded iff it has one. Cells go through the gates in batches, depth
first.
"""

import time
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch

from reluscope import _kernels
from reluscope.budget import Budget
from reluscope.codes.layout import CodeLayout
from reluscope.codes.packing import pack_pieces
from reluscope.geometry.domains import Domain
from reluscope.geometry.double_description import cut_cells
from reluscope.geometry.polytopes import BORDER, WALL, Polytopes
from reluscope.networks.affine_values import AffineValues, advance_affinely, affine_input, close_affinely
from reluscope.networks.carriers.maps import AffineValue
from reluscope.networks.graph import Pointwise
from reluscope.networks.network import Network
from reluscope.partitions.first_cells import EPSILON, Start, first_cells
from reluscope.partitions.gathered_cells import CellPatch
from reluscope.partitions.walk import Step, Walked, walk
from reluscope.progress import RegionProgress
from reluscope.tolerance import Tolerance

# What one step takes on and what it makes, so that it is short whatever the dimension: cells, and their vertices.
BATCH, MAX_VERTICES, MAX_MADE = 512, 2**14, 2**17
# And pieces of units, of which every cell has its own.
MAX_PIECES = 2**22
# Work is handed out in so many tasks, once there are so many cells for each.
TASKS, CELLS_PER_TASK = 64, 16


def supports(network: Network) -> str | None:
    """Return why the cells of a network cannot be found this way, or None if they can."""
    if all(isinstance(stage.gate, Pointwise) for stage in network.stages):
        return None
    return "max gates"


def walk_cells(
    network: Network,
    domain: Domain,
    tolerance: Tolerance,
    *,
    budget: Budget,
    executor: Executor | None = None,
    progress: RegionProgress | None = None,
) -> Walked:
    """Take the cells of a domain through all gates of a network whose gates are pointwise.

    Parameters
    ----------
    network : Network
        Of as many inputs as the domain has dimensions.
    domain : Box, Space or Polyhedron
    tolerance : Tolerance
    budget, executor, progress
        As `walk`.

    Returns
    -------
    Walked
        Its parts are `CellPatch`. On an unbounded domain one code may come in several cells, one per orthant, to be
        merged.
    """
    began = time.time()
    start = first_cells(network, domain, tolerance)
    number = len(start.cells)
    hashes = np.zeros((number, 2), dtype=np.uint64)
    values = affine_input(network, number, start.scale)
    cutting = _Cutting(network, _Keys(network), tolerance.rounding * EPSILON, start)
    return walk(
        [Batch(0, start.cells, values, (), hashes)],
        cutting.step,
        split=_split,
        finish=cutting.finish,
        budget=budget,
        began=began,
        executor=executor,
        progress=progress,
    )


@dataclass(frozen=True)
class Batch:
    """Cells before a gate, or before some of its units."""

    stage: int
    cells: Polytopes
    values: AffineValues
    words: tuple[np.ndarray, ...]
    hashes: np.ndarray
    opened: "_OpenGate | None" = None
    is_finished: bool = False

    @property
    def level(self) -> int:
        """How far the cells have come."""
        return self.stage

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def most(self) -> int:
        """How many of its cells one step may take on."""
        return max(1, min(BATCH, MAX_VERTICES * len(self.cells) // max(1, len(self.cells.vertices))))

    def take(self, first: int, last: int) -> "Batch":
        """Return the cells of a range."""
        return self.with_cells(self.cells.take(first, last), slice(first, last))

    def with_cells(self, cells: Polytopes, rows: slice | np.ndarray) -> "Batch":
        """Return cells that lie in some of these, with what is known of those."""
        return replace(
            self,
            cells=cells,
            values={position: value.take(_index(value, rows)) for position, value in self.values.items()},
            words=tuple(word[rows] for word in self.words),
            hashes=self.hashes[rows],
            opened=None if self.opened is None else self.opened.take(rows),
        )


class _OpenGate(NamedTuple):
    """A gate whose units are cutting cells.

    Parameters
    ----------
    maps, errors : (m, u, d + 1) float64
        What it sees on the cells that came to it, which all their parts share.
    map_of_cell, next_units : (c,) int64
        Which of the maps is that on each cell, and the unit that is next there.
    pieces : (c, u) uint16
        The pieces of the units before it.
    """

    maps: np.ndarray
    errors: np.ndarray
    map_of_cell: np.ndarray
    next_units: np.ndarray
    pieces: np.ndarray

    @classmethod
    def of(cls, maps: np.ndarray, errors: np.ndarray) -> "_OpenGate":
        """Return a gate that no unit has cut yet."""
        number, num_units, _ = maps.shape
        nothing = np.zeros((number, num_units), dtype=np.uint16)
        maps, errors = np.ascontiguousarray(maps), np.ascontiguousarray(errors)
        return cls(maps, errors, np.arange(number), np.zeros(number, dtype=np.int64), nothing)

    def take(self, rows: "np.ndarray | slice") -> "_OpenGate":
        """Return the same of some cells."""
        return self._replace(
            map_of_cell=self.map_of_cell[rows], next_units=self.next_units[rows], pieces=self.pieces[rows]
        )


class _Keys:
    """Random words for the pieces and breakpoints of every unit, the same in every run."""

    def __init__(self, network: Network) -> None:
        draw = np.random.default_rng(20_17).integers
        self.pieces, self.zeros, self.levels = [], [], []
        for stage in network.stages:
            gate = stage.gate
            assert isinstance(gate, Pointwise)
            levels = gate.breakpoints.cpu().numpy()
            levels = np.ascontiguousarray(np.broadcast_to(levels, (len(levels), gate.num_units)))
            self.levels.append(levels)
            self.pieces.append(draw(2**64, size=(gate.num_units, len(levels) + 1, 2), dtype=np.uint64))
            self.zeros.append(draw(2**64, size=(gate.num_units, len(levels), 2), dtype=np.uint64))


@dataclass(frozen=True)
class _Cutting:
    """How cells are taken through the gates, and what is kept of them."""

    network: Network
    keys: _Keys
    gamma: float
    start: Start

    def step(self, batch: Batch, room: float) -> Step:
        """Take a batch through some units, or spread it if it is too large, also for the regions that are asked for."""
        most = int(min(batch.most, max(1, room)))
        if len(batch) > most:
            return Step(_spread(batch, most))
        if batch.stage == len(self.network.stages):
            return Step([replace(batch, is_finished=True)])
        following, undecided = self._cut(batch, room)
        work = {"batches": 1, "evaluated_cells": len(batch)}
        parts = [part for some in following for part in _spread(some, most)]
        return Step(parts, num_undecided=undecided, work=work)

    def finish(self, batch: Batch) -> CellPatch:
        """Return the cells that have a point at all: of others rounding has left nothing but directions."""
        cells, hashes = batch.cells, batch.hashes
        words = np.concatenate([*batch.words, np.zeros((len(cells), 0), dtype=np.uint64)], axis=1)
        middles, is_bounded = _kernels.middles(cells.vertex_offsets, cells.vertices)
        has_point = middles[:, -1] > 0
        if not has_point.all():
            finite = np.flatnonzero(has_point)
            cells, hashes, words = cells.select(finite), hashes[finite], words[finite]
            middles, is_bounded = middles[finite], is_bounded[finite]
        owner = np.repeat(np.arange(len(cells)), np.diff(cells.facet_offsets))
        shown = cells.kinds != BORDER
        scale = np.append(np.full(cells.vertices.shape[1] - 1, self.start.scale), 1.0)
        return CellPatch(
            words=words,
            vertex_offsets=cells.vertex_offsets,
            vertices=cells.vertices * scale,
            middles=middles * scale,
            is_bounded=is_bounded,
            facet_cells=owner[shown],
            facet_keys=cells.keys[shown] ^ hashes[owner[shown]],
            on_walls=cells.kinds[shown] == WALL,
        )

    def _cut(self, batch: Batch, room: float) -> tuple[list[Batch], int]:
        """Take a batch through units of a gate; what is through the gate comes last."""
        network, keys, gamma = self.network, self.keys, self.gamma
        stage, num_units = network.stages[batch.stage], network.stages[batch.stage].gate.num_units
        if batch.opened is None:
            maps, errors, values = advance_affinely(stage, batch.values, gamma)
            if batch.stage == len(network.stages) - 1:
                values = {}
            batch = replace(batch, values=values, opened=_OpenGate.of(maps, errors))
        opened = batch.opened
        assert opened is not None
        cut = cut_cells(
            batch.cells,
            opened.maps,
            opened.errors,
            keys.levels[batch.stage],
            keys.pieces[batch.stage],
            keys.zeros[batch.stage],
            rounding=gamma,
            resolution=self.start.resolution,
            relative=self.start.relative,
            map_of_cell=opened.map_of_cell,
            first_units=opened.next_units,
            max_parts=min(room, max(1, MAX_PIECES // num_units)),
            max_vertices=MAX_MADE,
        )
        following = []
        if cut.num_taken < len(batch):
            following.append(batch.take(cut.num_taken, len(batch)))
        is_through = cut.next_units == num_units
        if not is_through.all():
            rows = np.flatnonzero(~is_through)
            parents = cut.parents[rows]
            left = opened.take(parents)._replace(
                next_units=cut.next_units[rows], pieces=opened.pieces[parents] + cut.pieces[rows]
            )
            following.append(replace(batch.with_cells(cut.cells.select(rows), parents), opened=left))
        rows = np.flatnonzero(is_through)
        cells = cut.cells if len(rows) == len(cut.cells) else cut.cells.select(rows)
        parents = cut.parents[rows]
        following.append(self._close(batch, cells, parents, opened.pieces[parents] + cut.pieces[rows]))
        return following, cut.num_undecided

    def _close(self, batch: Batch, cells: Polytopes, parents: np.ndarray, pieces: np.ndarray) -> Batch:
        """Return cells behind a gate, given the cells before it that they lie in and the pieces of its units."""
        number, gamma = batch.stage, self.gamma
        stage, keys = self.network.stages[number], self.keys.pieces[number]
        hashes = batch.hashes[parents] ^ np.bitwise_xor.reduce(keys[np.arange(pieces.shape[1]), pieces], axis=1)
        words = pack_pieces([pieces], CodeLayout((self.network.layout.gates[number],)))
        values = {position: value.take(_index(value, parents)) for position, value in batch.values.items()}
        if values:
            values = close_affinely(stage, values, pieces, gamma)
        return Batch(number + 1, cells, values, (*(word[parents] for word in batch.words), words), hashes)


def _split(batches: Sequence[Batch]) -> list[Batch] | None:
    """Return the cells of batches as tasks, once there are enough."""
    number = sum(map(len, batches))
    if number < TASKS * CELLS_PER_TASK:
        return None
    return [part for batch in batches for part in _spread(batch, -(-number // TASKS))]


def _index(value: AffineValue, rows: slice | np.ndarray) -> slice | torch.Tensor:
    return rows if isinstance(rows, slice) else torch.from_numpy(rows).to(value.coefficients.device)


def _spread(batch: Batch, size: int) -> list[Batch]:
    """Return a batch in parts of bounded size, the first on top."""
    starts = range(0, len(batch), size)
    return [batch.take(first, min(first + size, len(batch))) for first in reversed(starts)]
