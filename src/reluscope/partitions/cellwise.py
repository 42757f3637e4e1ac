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
from reluscope.networks.graph import Pointwise
from reluscope.networks.network import Network
from reluscope.partitions.first_cells import EPSILON, Start, first_cells
from reluscope.partitions.gathered_cells import CellPatch
from reluscope.partitions.walk import Step, Walked, walk
from reluscope.progress import RegionProgress
from reluscope.tolerance import Tolerance

# What one step takes on, so that it is short whatever the dimension: cells and their vertices, units of a gate.
BATCH, MAX_VERTICES, UNITS = 512, 2**14, 4
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


class _OpenGate(NamedTuple):
    """A gate whose units are cutting cells: what it sees on each, and the pieces of the units so far."""

    maps: np.ndarray
    errors: np.ndarray
    pieces: np.ndarray

    def take(self, rows: "np.ndarray | slice") -> "_OpenGate":
        """Return the same of some cells."""
        return _OpenGate(*(table[rows] for table in self))


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
        following, undecided = self._cut(batch)
        work = {"batches": 1, "evaluated_cells": len(batch)}
        return Step(_spread(following, most), num_undecided=undecided, work=work)

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

    def _cut(self, batch: Batch) -> tuple[Batch, int]:
        """Take a batch through some units of a gate, and through the gate with the last of them."""
        network, keys, gamma = self.network, self.keys, self.gamma
        stage, values, opened = network.stages[batch.stage], batch.values, batch.opened
        if opened is None:
            maps, errors, values = advance_affinely(stage, values, gamma)
            opened = _OpenGate(maps, errors, np.zeros((len(batch.cells), 0), dtype=np.uint8))
        num_done = opened.pieces.shape[1]
        units = slice(num_done, num_done + UNITS)
        cut = cut_cells(
            batch.cells,
            np.ascontiguousarray(opened.maps[:, units]),
            np.ascontiguousarray(opened.errors[:, units]),
            np.ascontiguousarray(keys.levels[batch.stage][:, units]),
            keys.pieces[batch.stage][units],
            keys.zeros[batch.stage][units],
            rounding=gamma,
            resolution=self.start.resolution,
            relative=self.start.relative,
        )
        rows = torch.from_numpy(cut.parents).to(network.device)
        values = {position: value.take(rows) for position, value in values.items()}
        shown = keys.pieces[batch.stage][units][np.arange(cut.pieces.shape[1]), cut.pieces]
        hashes = batch.hashes[cut.parents] ^ np.bitwise_xor.reduce(shown, axis=1)
        before = tuple(word[cut.parents] for word in batch.words)
        pieces = np.concatenate([opened.pieces[cut.parents], cut.pieces], axis=1)
        if pieces.shape[1] < stage.gate.num_units:
            opened = opened.take(cut.parents)._replace(pieces=pieces)
            return Batch(batch.stage, cut.cells, values, before, hashes, opened), cut.num_undecided
        words = pack_pieces([pieces], CodeLayout((network.layout.gates[batch.stage],)))
        is_last = batch.stage == len(network.stages) - 1
        closed = {} if is_last else close_affinely(stage, values, pieces, gamma)
        return Batch(batch.stage + 1, cut.cells, closed, (*before, words), hashes), cut.num_undecided


def _split(batches: Sequence[Batch]) -> list[Batch] | None:
    """Return the cells of batches as tasks, once there are enough."""
    number = sum(map(len, batches))
    if number < TASKS * CELLS_PER_TASK:
        return None
    return [part for batch in batches for part in _spread(batch, -(-number // TASKS))]


def _spread(batch: Batch, size: int) -> list[Batch]:
    """Return a batch in parts of bounded size, the first on top."""
    parts = []
    for first in range(0, len(batch.cells), size):
        last = min(first + size, len(batch.cells))
        rows = torch.arange(first, last)
        values = {position: value.take(rows.to(value.coefficients.device)) for position, value in batch.values.items()}
        words = tuple(word[first:last] for word in batch.words)
        opened = None if batch.opened is None else batch.opened.take(slice(first, last))
        hashes = batch.hashes[first:last]
        parts.append(Batch(batch.stage, batch.cells.take(first, last), values, words, hashes, opened))
    return parts[::-1]
