"""Exact partition in several dimensions, cell by cell: every cell keeps its own vertices and facets.

For 4 to 8 inputs, and for unbounded domains in any small number of dimensions: vertices are homogeneous, so directions
are vertices like any other, and a region is unbounded iff it has one. Cells go through the gates in batches, depth
first.
"""

import itertools
import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import torch

from reluscope.budget import ENDS, INTERRUPTED, OUT_OF_MEMORY, Budget, why_ended
from reluscope.codes.distinct import group_equal_rows
from reluscope.codes.layout import CodeLayout
from reluscope.codes.packing import pack_pieces
from reluscope.errors import DegenerateGeometryError, InputError
from reluscope.geometry.domains import Box, Domain, Space
from reluscope.geometry.double_description import BORDER, INNER, Cells, cut_cells
from reluscope.geometry.polyhedron import Polyhedron
from reluscope.geometry.rational_polytopes import Row, between, half_spaces, integer_row
from reluscope.geometry.row_scales import scaled_rows
from reluscope.geometry.window_shapes import window_shape
from reluscope.interruption import deferred, safe_point
from reluscope.networks.affine_values import AffineValues, advance_affinely, affine_input, close_affinely
from reluscope.networks.graph import Pointwise
from reluscope.networks.network import Network
from reluscope.partitions.parallel import Lost, Tell, hand_out, why_stopped
from reluscope.partitions.solid_regions import SolidRegions
from reluscope.tolerance import Tolerance

# What one step takes on, so that it is short whatever the dimension: cells and their vertices, units of a gate.
BATCH, MOST_VERTICES, UNITS = 512, 2**14, 4
# Work is handed out in so many tasks, once there are so many cells for each.
TASKS, CELLS_PER_TASK = 64, 16
EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class CellPatch:
    """Finished cells of one batch.

    Parameters
    ----------
    words : (r, w) uint64
        Packed codes.
    vertex_offsets : (r + 1,) int64; vertices : (v, d + 1) float64
        Homogeneous vertices of every cell.
    facet_cells : (f,) int64; facet_keys : (f, 2) uint64
        The inner facets of every cell, with keys that both sides share.
    """

    words: np.ndarray
    vertex_offsets: np.ndarray
    vertices: np.ndarray
    facet_cells: np.ndarray
    facet_keys: np.ndarray

    def __len__(self) -> int:
        return len(self.words)


Report = Callable[[CellPatch], None]


@dataclass
class CellRun:
    """What a walk over all cells has found so far.

    Parameters
    ----------
    patches : list of CellPatch
    num_undecided : int
    num_open : int
        Cells that were not finished when work stopped.
    stopped : str
        Why work stopped early, empty if it did not.
    work : dict
    """

    patches: list[CellPatch] = field(default_factory=list)
    num_undecided: int = 0
    num_open: int = 0
    stopped: str = ""
    work: dict[str, float] = field(default_factory=lambda: {"batches": 0, "evaluated_cells": 0})

    @property
    def num_regions(self) -> int:
        """Cells finished so far."""
        return sum(map(len, self.patches))

    def limit(self, num_regions: float) -> None:
        """Leave out patches at the end that go beyond a number of regions: their cells count as open."""
        number = self.num_regions
        while self.patches and number - len(self.patches[-1]) >= num_regions:
            patch = self.patches.pop()
            self.num_open += len(patch)
            number -= len(patch)

    def include(self, other: "CellRun") -> None:
        """Add what another walk found."""
        self.patches += other.patches
        self.num_undecided += other.num_undecided
        self.num_open += other.num_open
        for name, amount in other.work.items():
            self.work[name] = self.work.get(name, 0) + amount


@dataclass(frozen=True)
class _Batch:
    stage: int
    cells: Cells
    values: AffineValues
    words: tuple[np.ndarray, ...]
    hashes: np.ndarray
    opened: "_OpenGate | None" = None

    @property
    def most(self) -> int:
        """How many of its cells one step may take on."""
        return max(1, min(BATCH, MOST_VERTICES * len(self.cells) // max(1, len(self.cells.vertices))))


class _OpenGate(NamedTuple):
    """A gate whose units are cutting cells: what it sees on each, and the pieces of the units so far."""

    maps: np.ndarray
    errors: np.ndarray
    pieces: np.ndarray

    def take(self, rows: "np.ndarray | slice") -> "_OpenGate":
        """Return the same of some cells."""
        return _OpenGate(*(table[rows] for table in self))


def supports(network: Network) -> str | None:
    """Return why the cells of a network cannot be found this way, or None if they can."""
    if all(isinstance(stage.gate, Pointwise) for stage in network.stages):
        return None
    return "max gates"


def gather(run: CellRun, dim: int, num_words: int) -> SolidRegions:
    """Join the cells of a walk: equal codes are one region, equal keys the two sides of a facet.

    Parameters
    ----------
    run : CellRun
    dim, num_words : int
        Of the domain, and of a code.

    Returns
    -------
    SolidRegions
        Regions in the order in which they were found.
    """
    patches = run.patches
    sizes = [len(patch) for patch in patches]
    words = np.concatenate([np.zeros((0, num_words), dtype=np.uint64), *(patch.words for patch in patches)])
    counts = np.concatenate([np.zeros(0, dtype=np.int64), *(np.diff(patch.vertex_offsets) for patch in patches)])
    vertices = np.concatenate([np.zeros((0, dim + 1)), *(patch.vertices for patch in patches)])
    starts = np.cumsum([0, *sizes])[:-1]
    cells = np.concatenate(
        [np.zeros(0, dtype=np.int64), *(patch.facet_cells + at for patch, at in zip(patches, starts, strict=True))]
    )
    keys = np.concatenate([np.zeros((0, 2), dtype=np.uint64), *(patch.facet_keys for patch in patches)])
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    first, region, _ = group_equal_rows(words)
    if len(words):
        means = np.add.reduceat(vertices, offsets[:-1], axis=0) / counts[:, None]
        ideal = np.add.reduceat(vertices[:, dim] == 0, offsets[:-1]) > 0
    else:
        means, ideal = np.zeros((0, dim + 1)), np.zeros(0, dtype=bool)
    is_bounded = np.bincount(region, weights=ideal, minlength=len(first)) == 0
    left, right, num_unmatched = _paired(keys, region[cells])
    return SolidRegions(
        words=words[first],
        witnesses=means[first, :dim] / means[first, dim:],
        is_bounded=is_bounded,
        left=left,
        right=right,
        regions=region,
        cell_offsets=offsets,
        cell_vertices=vertices,
        num_unmatched=num_unmatched,
    )


def _paired(keys: np.ndarray, regions: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the pairs of different regions with facets of equal keys, and how many facets have no other side."""
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    keys, regions = keys[order], regions[order]
    begins = np.ones(len(keys), dtype=bool)
    begins[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    group = np.cumsum(begins) - 1
    alone = np.bincount(group, minlength=1) == 1
    # On a facet there are two regions, each perhaps in several cells: the smallest and the largest are both.
    starts = np.flatnonzero(begins)
    if not len(starts):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), 0
    low, high = np.minimum.reduceat(regions, starts), np.maximum.reduceat(regions, starts)
    pairs = np.unique(np.stack([low, high], axis=1)[low < high], axis=0)
    return pairs[:, 0], pairs[:, 1], int(alone.sum())


def walk_cells(
    network: Network,
    domain: Domain,
    tolerance: Tolerance,
    *,
    budget: Budget,
    executor: Executor | None = None,
    report: Report | None = None,
    tell: Tell | None = None,
) -> CellRun:
    """Take the cells of a domain through all gates of a network whose gates are pointwise.

    Parameters
    ----------
    network : Network
        Of as many inputs as the domain has dimensions.
    domain : Box, Space or Polyhedron
    tolerance : Tolerance
    budget : Budget
    executor : concurrent.futures.Executor, optional
        Runs independent cells.
    report : callable, optional
        Told of every finished patch.
    tell : callable, optional
        Told how many of the executor's tasks are done, and how many there are.

    Returns
    -------
    CellRun
        Incomplete if the budget ran out or the user interrupted. On an unbounded domain one code may come in several
        cells, one per orthant, to be merged.
    """
    began = time.time()
    begin = first_cells(network, domain, tolerance)
    way = _Way(network, _Keys(network), tolerance.rounding * EPSILON, begin, budget, began)
    number = len(begin.cells)
    values = affine_input(network, number, begin.scale)
    first = _Batch(0, begin.cells, values, (), np.zeros((number, 2), dtype=np.uint64))
    start = _Todo((first,), (), 0, 0)
    with torch.no_grad(), deferred():
        alone = executor is None
        work = CellRun().work
        run = _here(way, start, work, report) if alone else _in_parallel(way, start, executor, report, tell)
    run.work["seconds"] = time.time() - began
    return run


class Start(NamedTuple):
    """What a walk begins with.

    Parameters
    ----------
    cells : Cells
        One for a bounded domain; one per orthant that it meets for another.
    scale : float
        Coordinates of the cells times this are those of the domain: about the size of a bounded domain, else the
        distance at which the first units typically bend, because homogeneous coordinates resolve best what is about a
        unit away.
    resolution : (d + 1,) float64; relative : float
        For `cut_cells`.
    """

    cells: Cells
    scale: float
    resolution: np.ndarray
    relative: float


def first_cells(network: Network, domain: Domain, tolerance: Tolerance) -> Start:
    """Return the cells that a walk begins with, and how finely they are resolved.

    Notes
    -----
    On an unbounded domain a unit ``g`` counts as zero at a vertex ``(x, w)`` where it is at most the resolution times
    ``sum |a_i x_i| + |q w|``. That loses no region with a ball of radius ``r > 2 resolution |c|`` around a point c:
    c is a mean of vertices whose coordinates have the same signs, those of the orthant, so that these sums have the
    mean ``sum |a_i c_i| + |q|``, at most ``2 |a| |c| + g(c)``; and somewhere in the ball g is ``r |a|`` at least.
    """
    dim = domain.dim
    if isinstance(domain, Box) or (isinstance(domain, Polyhedron) and domain.is_bounded()):
        shape = window_shape(domain)
        points, errors = shape.corners.points, shape.corners.errors
        scale = float(2.0 ** np.round(np.log2(np.abs(points).max())))
        vertices = np.hstack([points / scale, np.ones((len(points), 1))])
        blurs = np.hstack([np.repeat(errors[:, None] / scale, dim, axis=1), np.zeros((len(points), 1))])
        size = float(np.linalg.norm(np.ptp(points, axis=0))) / scale
        # The height of a unit of unit slope at the distance of the resolution, to within sqrt(d).
        resolution = np.append(np.full(dim, tolerance.resolution * size / np.sqrt(dim)), 0.0)
        kinds = np.full(shape.incidence.shape[1], BORDER)
        return Start(_cells([vertices], [blurs], [shape.incidence], [kinds], None), scale, resolution, 0.0)
    if not isinstance(domain, Space | Polyhedron):
        raise InputError(f"expected a Space, Box or Polyhedron, got {type(domain).__name__}: give one of these")
    rows = np.zeros((0, dim + 1))
    if isinstance(domain, Polyhedron):
        normals, offsets = scaled_rows(domain.A, domain.b)
        rows = np.column_stack([normals, -offsets])
    scale = _typical_distance(network, rows)
    cells = _orthants(domain, scale)
    if cells is None:
        raise DegenerateGeometryError(
            f"the domain must have an interior, but {domain.describe()} is empty or flat: give another, or a Slice"
        )
    return Start(cells, scale, np.zeros(dim + 1), tolerance.resolution / 2)


def _typical_distance(network: Network, rows: np.ndarray) -> float:
    """Return the median distance from the origin of hyperplanes that miss it, as a power of two."""
    if network.stages and isinstance(network.stages[0].gate, Pointwise):
        gate = network.stages[0].gate
        maps, _, _ = advance_affinely(network.stages[0], affine_input(network, 1), 0.0)
        for level in gate.breakpoints.cpu().numpy():
            shifted = maps[0].copy()
            shifted[:, -1] -= level
            rows = np.concatenate([rows, shifted])
    slopes = np.linalg.norm(rows[:, :-1], axis=1)
    known = (slopes > 0) & (rows[:, -1] != 0)
    if not known.any():
        return 1.0
    return float(2.0 ** np.round(np.median(np.log2(np.abs(rows[known, -1]) / slopes[known]))))


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
class _Way:
    """How cells are taken through the gates, and since when."""

    network: Network
    keys: _Keys
    gamma: float
    start: Start
    budget: Budget
    began: float


class _Todo(NamedTuple):
    """What is left to do and what is done: batches, the last on top, and patches, each with those before it."""

    stack: tuple[_Batch, ...]
    finished: tuple[Any, ...]
    num_regions: int
    num_undecided: int

    @property
    def num_open(self) -> int:
        """Cells that are not finished."""
        return sum(len(batch.cells) for batch in self.stack)

    def run(self, work: dict[str, float], stopped: str) -> CellRun:
        """Return what was found."""
        patches, finished = [], self.finished
        while finished:
            patch, finished = finished
            patches.append(patch)
        return CellRun(patches[::-1], self.num_undecided, self.num_open, stopped, work)


def _here(way: _Way, todo: _Todo, work: dict[str, float], report: Report | None, stopped: str = "") -> CellRun:
    """Do in this process what is left, or only as much as there has to be of work that was stopped."""
    if not stopped:
        todo, stopped = _depth_first(way, todo, work, report)
    if way.budget.first_is_due(todo.num_regions, stopped):
        todo, again = _depth_first(replace(way, budget=Budget(regions=1)), todo, work, report)
        stopped = INTERRUPTED if again == INTERRUPTED else stopped
    return todo.run(work, stopped)


def _depth_first(way: _Way, todo: _Todo, work: dict[str, float], report: Report | None) -> tuple[_Todo, str]:
    """Work on the last batch until there is none; return what is left, and why."""
    try:
        while todo.stack:
            safe_point()
            if stopped := way.budget.spent(todo.num_regions, way.began):
                return todo, stopped
            *rest, batch = todo.stack
            # One assignment: wherever Ctrl-C falls, a batch is either still open or finished, and never both.
            todo, made = _advance(way, todo, batch, rest, work)
            if report is not None and made is not None:
                report(made)
    except ENDS as end:
        return todo, why_ended(end)
    return todo, ""


def _in_parallel(way: _Way, todo: _Todo, executor: Executor, report: Report | None, tell: Tell | None) -> CellRun:
    """Take the cells of one gate after the other here until there are enough of them, then hand them out."""
    work, stopped = CellRun().work, ""
    shares: dict[int, CellRun] = {}
    reasons, found = [], 0
    last = len(way.network.stages)
    try:
        while todo.stack and (todo.stack[0].stage == last or todo.num_open < TASKS * CELLS_PER_TASK):
            safe_point()
            if stopped := way.budget.spent(todo.num_regions, way.began):
                break
            batch, *rest = todo.stack
            todo, made = _advance(way, todo, batch, rest, work)
            if report is not None and made is not None:
                report(made)
        size = -(-todo.num_open // TASKS)
        todo = todo._replace(stack=tuple(part for batch in todo.stack for part in _spread(batch, size)))
        # Each may find all the regions that are left to find.
        left = replace(way, budget=way.budget.after(todo.num_regions))
        tasks = [(left, _Todo((batch,), (), 0, 0)) for batch in todo.stack]
        for index, share in hand_out(_task, [] if stopped else tasks, executor, left.budget, tell):
            reasons.append(share.stopped)
            if isinstance(share, Lost) or not share.patches:
                continue  # what it was to do is still to be done
            share.limit(left.budget.room(found))
            shares[index] = share
            found += share.num_regions
            if report is not None:
                for patch in share.patches:
                    report(patch)
    except ENDS as end:
        stopped = why_ended(end)
    todo = todo._replace(stack=tuple(batch for index, batch in enumerate(todo.stack) if index not in shares))
    if todo.stack or any(share.num_open for share in shares.values()):
        stopped = stopped or why_stopped(reasons, way.budget, todo.num_regions + found, way.began)
    run = todo.run(work, stopped) if shares else _here(way, todo, work, report, stopped)
    for _, share in sorted(shares.items()):
        run.include(share)
    return run


def _task(way: _Way, todo: _Todo) -> CellRun:
    with torch.no_grad(), deferred():
        work = CellRun().work
        todo, stopped = _depth_first(way, todo, work, None)
        if stopped == OUT_OF_MEMORY:
            raise MemoryError  # to be tried once more, where there may be more of it
        return todo.run(work, stopped)


def _advance(
    way: _Way, todo: _Todo, batch: _Batch, rest: list[_Batch], work: dict[str, float]
) -> tuple[_Todo, CellPatch | None]:
    """Take a batch through some units, or finish it; return what is left to do beside the rest, and the patch made."""
    most = int(min(batch.most, max(1, way.budget.room(todo.num_regions))))
    if len(batch.cells) > most:
        return todo._replace(stack=(*rest, *_spread(batch, most))), None
    if batch.stage == len(way.network.stages):
        patch = _finished(batch, way.start.scale)
        number, undecided = todo.num_regions + len(patch), todo.num_undecided + len(batch.cells) - len(patch)
        return _Todo(tuple(rest), (patch, todo.finished), number, undecided), patch
    following, undecided = _step(way, batch)
    work["batches"] += 1
    work["evaluated_cells"] += len(batch.cells)
    return _Todo(
        (*rest, *_spread(following, most)), todo.finished, todo.num_regions, todo.num_undecided + undecided
    ), None


def _step(way: _Way, batch: _Batch) -> tuple[_Batch, int]:
    """Take a batch through some units of a gate, and through the gate with the last of them."""
    network, keys, gamma = way.network, way.keys, way.gamma
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
        resolution=way.start.resolution,
        relative=way.start.relative,
    )
    rows = torch.from_numpy(cut.parents).to(network.device)
    values = {position: value.take(rows) for position, value in values.items()}
    shown = keys.pieces[batch.stage][units][np.arange(cut.pieces.shape[1]), cut.pieces]
    hashes = batch.hashes[cut.parents] ^ np.bitwise_xor.reduce(shown, axis=1)
    before = tuple(word[cut.parents] for word in batch.words)
    pieces = np.concatenate([opened.pieces[cut.parents], cut.pieces], axis=1)
    if pieces.shape[1] < stage.gate.num_units:
        opened = opened.take(cut.parents)._replace(pieces=pieces)
        return _Batch(batch.stage, cut.cells, values, before, hashes, opened), cut.num_undecided
    words = pack_pieces([pieces], CodeLayout((network.layout.gates[batch.stage],)))
    is_last = batch.stage == len(network.stages) - 1
    closed = {} if is_last else close_affinely(stage, values, pieces, gamma)
    return _Batch(batch.stage + 1, cut.cells, closed, (*before, words), hashes), cut.num_undecided


def _spread(batch: _Batch, size: int) -> list[_Batch]:
    """Return a batch in parts of bounded size, the first on top."""
    parts = []
    for first in range(0, len(batch.cells), size):
        last = min(first + size, len(batch.cells))
        rows = torch.arange(first, last)
        values = {position: value.take(rows.to(value.coefficients.device)) for position, value in batch.values.items()}
        words = tuple(word[first:last] for word in batch.words)
        opened = None if batch.opened is None else batch.opened.take(slice(first, last))
        hashes = batch.hashes[first:last]
        parts.append(_Batch(batch.stage, batch.cells.take(first, last), values, words, hashes, opened))
    return parts[::-1]


def _finished(batch: _Batch, scale: float) -> CellPatch:
    """Return the cells that have a point at all: of others rounding has left nothing but directions."""
    finite = np.flatnonzero(np.logical_or.reduceat(batch.cells.vertices[:, -1] > 0, batch.cells.vertex_offsets[:-1]))
    cells = batch.cells.select(finite)
    words = np.concatenate(
        [*(word[finite] for word in batch.words), np.zeros((len(cells), 0), dtype=np.uint64)], axis=1
    )
    owner = np.repeat(np.arange(len(cells)), np.diff(cells.facet_offsets))
    shown = cells.kinds == INNER
    keys = cells.keys[shown] ^ batch.hashes[finite[owner[shown]]]
    vertices = cells.vertices * np.append(np.full(cells.vertices.shape[1] - 1, scale), 1.0)
    return CellPatch(words, cells.vertex_offsets, vertices, owner[shown], keys)


def _orthants(domain: Space | Polyhedron, scale: float) -> Cells | None:
    """Return the parts of a domain in all orthants, exact but for their vertices' last digits; None if it is flat."""
    dim = domain.dim
    if isinstance(domain, Polyhedron) and len(domain.C):
        return None
    sides = [] if isinstance(domain, Space) else [integer_row(side) for side in half_spaces(domain)]
    draw = np.random.default_rng(20_18).integers
    walls = draw(2**64, size=(dim, 2), dtype=np.uint64)
    vertices, errors, incidences, kinds, keys = [], [], [], [], []
    for signs in itertools.product((1, -1), repeat=dim):
        wall_rows = [tuple(sign * (axis == other) for other in range(dim + 1)) for axis, sign in enumerate(signs)]
        _, part = between(dim, [*wall_rows, *sides])
        if part is None:
            continue
        facets = part.facets()
        corners = np.array([_surface_point(vertex, scale) for vertex in part.vertices])
        incidence = np.zeros((len(corners), len(facets)), dtype=bool)
        for side, members in enumerate(facets.values()):
            incidence[list(members), side] = True
        # A wall between orthants that is a side of the domain, too, is nothing to be crossed.
        inner = [row in wall_rows and row not in sides for row in facets]
        vertices.append(corners)
        errors.append(EPSILON * np.abs(corners))
        incidences.append(incidence)
        kinds.append(np.where(inner, INNER, BORDER))
        nothing = np.zeros(2, dtype=np.uint64)
        keys.append(
            np.stack(
                [
                    walls[wall_rows.index(row)] if crossed else nothing
                    for row, crossed in zip(facets, inner, strict=True)
                ]
            )
        )
    return _cells(vertices, errors, incidences, kinds, keys) if vertices else None


def _surface_point(vertex: Row, scale: float) -> list[float]:
    """Return the homogeneous coordinates of a vertex, their magnitudes adding up to 1."""
    entries = [*(Fraction(entry) / Fraction(scale) for entry in vertex[:-1]), Fraction(vertex[-1])]
    size = sum(map(abs, entries))
    return [float(entry / size) for entry in entries]


def _cells(
    vertices: list[np.ndarray],
    errors: list[np.ndarray],
    incidences: list[np.ndarray],
    kinds: list[np.ndarray],
    keys: list[np.ndarray] | None,
) -> Cells:
    """Return cells from vertices and incidences, facets in slots 0, 1, ... of each."""
    num_words = 1 + max(incidence.shape[1] for incidence in incidences) // 64
    tight = np.zeros((sum(map(len, vertices)), num_words), dtype=np.uint64)
    row = 0
    for incidence in incidences:
        for facet, column in enumerate(incidence.T):
            tight[row : row + len(incidence), facet // 64] |= column.astype(np.uint64) << np.uint64(facet % 64)
        row += len(incidence)
    num_facets = [incidence.shape[1] for incidence in incidences]
    total = sum(num_facets)
    return Cells(
        np.cumsum([0, *map(len, vertices)]),
        np.concatenate(vertices),
        np.concatenate(errors),
        tight,
        np.cumsum([0, *num_facets]),
        np.concatenate([np.arange(number) for number in num_facets]),
        np.concatenate(kinds).astype(np.uint8),
        np.zeros((total, 2), dtype=np.uint64) if keys is None else np.concatenate(keys),
        np.zeros((len(vertices), 2), dtype=np.uint64),
    )
