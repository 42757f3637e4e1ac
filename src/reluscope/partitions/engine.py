"""Exact partition of a bounded domain: gate by gate, depth first over chunks of cells.

A network is affine between two gates, so the zero set of a unit cuts each cell of the previous gates in a straight
piece. Cells are taken through the gates in chunks of a few hundred: values live as long as their chunk, memory does not
grow with depth, and whatever interrupts the work, the regions finished so far are whole.
"""

import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import torch

from reluscope.budget import ENDS, INTERRUPTED, OUT_OF_MEMORY, Budget, why_ended
from reluscope.geometry.complexes import Complex
from reluscope.geometry.window_shapes import Corners
from reluscope.interruption import deferred, safe_point
from reluscope.networks.network import Network
from reluscope.partitions.certification import Certifier, Judge
from reluscope.partitions.chunks import Chunk, Resolution, cut, open_stage, spread
from reluscope.partitions.parallel import Lost, Tell, hand_out, why_stopped

CHUNK_CELLS, LEAST_CELLS = 768, 4
CHUNK_BYTES = 64 * 2**20
# Chunks to find before work is handed out.
TASKS = 64


@dataclass
class Run:
    """What a walk over all chunks has found so far.

    Parameters
    ----------
    patches : list
        What ``finish`` made of finished chunks; each has ``roots``.
    num_undecided : int
        Signs that were neither clear nor within rounding.
    open_roots : list of int64 arrays
        For every cell that was not finished when work stopped, the domain that it lies in; empty if work went to the
        end.
    stopped : str
        Why work stopped early, empty if it did not.
    work : dict
        Vertices evaluated, chunks, seconds.
    """

    patches: list[Any] = field(default_factory=list)
    num_undecided: int = 0
    open_roots: list[np.ndarray] = field(default_factory=list)
    stopped: str = ""
    work: dict[str, float] = field(default_factory=lambda: {"evaluated_vertices": 0, "chunks": 0})

    @property
    def num_regions(self) -> int:
        """Regions finished so far."""
        return sum(len(patch.roots) for patch in self.patches)

    def num_open(self, num_domains: int) -> np.ndarray:
        """Return how many cells of each domain were not finished."""
        roots = np.concatenate([*self.open_roots, np.zeros(0, dtype=np.int64)])
        return np.bincount(roots, minlength=num_domains)

    @property
    def is_whole(self) -> bool:
        """Whether no cell was left open."""
        return not self.open_roots

    def limit(self, num_regions: float) -> None:
        """Leave out patches at the end that go beyond a number of regions: their cells count as open."""
        number = self.num_regions
        while self.patches and number - len(self.patches[-1].roots) >= num_regions:
            patch = self.patches.pop()
            self.open_roots.append(patch.roots)
            number -= len(patch.roots)

    def include(self, other: "Run") -> None:
        """Add what another walk found."""
        self.patches.extend(other.patches)
        self.num_undecided += other.num_undecided
        self.open_roots += other.open_roots
        for key, amount in other.work.items():
            self.work[key] = self.work.get(key, 0) + amount


Report = Callable[[Any], None]
Finish = Callable[[Chunk], Any]


def walk(
    network: Network,
    cells: Complex,
    corners: Corners,
    inputs: torch.Tensor,
    resolution: Resolution,
    *,
    finish: Finish,
    budget: Budget,
    executor: Executor | None = None,
    report: Report | None = None,
    tell: Tell | None = None,
    certifier: Certifier | None = None,
    judge: Judge | None = None,
) -> Run:
    """Take cells through all gates of a network.

    Parameters
    ----------
    network : Network
    cells : Complex
        On each of which the network's input is affine.
    corners : Corners
        Vertices in domain coordinates.
    inputs : (v, *input_shape) tensor
        The same vertices, as floats give them, in input space.
    resolution : Resolution
    finish : callable
        Makes of a finished chunk what is kept of it: `Patch.of`, or another.
    budget : Budget
    executor : Executor, optional
        Runs independent chunks.
    report : callable, optional
        Told of every finished patch.
    tell : callable, optional
        Told how many of the executor's tasks are done, and how many there are.
    certifier : Certifier, optional
        Decides doubtful signs exactly; all cells then stay together, and no executor is used.
    judge : Judge, optional
        Decides what floats call zero on a whole cell.

    Returns
    -------
    Run
        Incomplete if the budget ran out or the user interrupted.
    """
    chunk = Chunk.start(network, cells, corners, inputs, certifier=certifier, judge=judge)
    way = _Way(network, resolution, budget, time.time(), finish, certifier)
    start = _Todo((chunk,), (), 0, 0, 0)
    with torch.no_grad(), deferred():
        if executor is None or certifier is not None:
            return _here(way, start, Run().work, report)
        return _in_parallel(way, start, executor, report, tell)


@dataclass(frozen=True)
class _Way:
    """How chunks are taken through the gates, and since when."""

    network: Network
    resolution: Resolution
    budget: Budget
    began: float
    finish: Finish
    certifier: Certifier | None


class _Todo(NamedTuple):
    """What is left to do and what is done: chunks, the last on top, and patches, each with those before it."""

    stack: tuple[Chunk, ...]
    finished: tuple[Any, ...]
    num_regions: int
    num_undecided: int
    next_seam: int

    def run(self, work: dict[str, float]) -> Run:
        """Return what was found."""
        patches, finished = [], self.finished
        while finished:
            patch, finished = finished
            patches.append(patch)
        return Run(patches[::-1], self.num_undecided, [chunk.roots for chunk in self.stack], "", work)


def _here(way: _Way, todo: _Todo, work: dict[str, float], report: Report | None, stopped: str = "") -> Run:
    """Do in this process what is left, or only as much as there has to be of work that was stopped."""
    if not stopped:
        todo, stopped = _depth_first(way, todo, work, report)
    if way.budget.first_is_due(todo.num_regions, stopped):
        todo, again = _depth_first(replace(way, budget=Budget(regions=1)), todo, work, report)
        stopped = INTERRUPTED if again == INTERRUPTED else stopped
    run = todo.run(work)
    run.stopped = stopped
    return run


def _depth_first(way: _Way, todo: _Todo, work: dict[str, float], report: Report | None) -> tuple[_Todo, str]:
    """Work on the last chunk until there is none; return what is left, and why."""
    try:
        while todo.stack:
            safe_point()
            if stopped := way.budget.spent(todo.num_regions, way.began):
                return todo, stopped
            *rest, chunk = todo.stack
            # One assignment: wherever Ctrl-C falls, a chunk is either still open or finished, and never both.
            todo, made = _advance(way, todo, chunk, rest, work)
            if report is not None:
                for patch in made:
                    report(patch)
    except ENDS as end:
        return todo, why_ended(end)
    return todo, ""


def _in_parallel(way: _Way, todo: _Todo, executor: Executor, report: Report | None, tell: Tell | None) -> Run:
    """Break the work into independent chunks here, then hand them out."""
    work, stopped = Run().work, ""
    shares: dict[int, Run] = {}
    reasons, found = [], 0
    try:
        while todo.stack and len(todo.stack) < TASKS and not stopped:
            safe_point()
            if stopped := way.budget.spent(todo.num_regions, way.began):
                break
            chunk, *rest = todo.stack
            todo, made = _advance(way, todo, chunk, rest, work)
            if report is not None:
                for patch in made:
                    report(patch)
        # Each may find all the regions that are left to find. Seams made by different tasks must not share numbers.
        left = replace(way, budget=way.budget.after(todo.num_regions))
        tasks = [(left, _Todo((chunk,), (), 0, 0, (index + 1) << 40)) for index, chunk in enumerate(todo.stack)]
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
    todo = todo._replace(stack=tuple(chunk for index, chunk in enumerate(todo.stack) if index not in shares))
    if todo.stack or not all(share.is_whole for share in shares.values()):
        stopped = stopped or why_stopped(reasons, way.budget, todo.num_regions + found, way.began)
    run = _here(way, todo, work, report, stopped) if not shares else todo.run(work)
    for _, share in sorted(shares.items()):
        run.include(share)
    run.stopped = run.stopped or stopped
    return run


def _task(way: _Way, todo: _Todo) -> Run:
    with torch.no_grad(), deferred():
        work = Run().work
        todo, stopped = _depth_first(way, todo, work, None)
        if stopped == OUT_OF_MEMORY:
            raise MemoryError  # to be tried once more, where there may be more of it
        run = todo.run(work)
    run.stopped = stopped
    return run


def _advance(way: _Way, todo: _Todo, chunk: Chunk, rest: list[Chunk], work: dict[str, float]) -> tuple[_Todo, list]:
    """Take a chunk one step further; return what is left to do beside the rest, and the patches made."""
    room = way.budget.room(todo.num_regions)
    following, undecided, next_seam = _step(
        way.network, chunk, way.resolution, todo.next_seam, work, way.certifier, room
    )
    last = len(way.network.stages)
    made = [way.finish(part) for part in reversed(following) if part.stage == last]
    unfinished = [part for part in reversed(following) if part.stage < last]
    finished = todo.finished
    for patch in made:
        finished = (patch, finished)
    number = todo.num_regions + sum(len(patch.roots) for patch in made)
    return _Todo((*rest, *unfinished), finished, number, todo.num_undecided + undecided, next_seam), made


def _step(
    network: Network,
    chunk: Chunk,
    resolution: Resolution,
    next_seam: int,
    work: dict[str, float],
    certifier: Certifier | None = None,
    room: float = float("inf"),
) -> tuple[list[Chunk], int, int]:
    """Take a chunk one gate further, or spread it if it is too large, also for the regions that are asked for."""
    if chunk.stage == len(network.stages):
        return [chunk], 0, next_seam
    most = chunk.cells.num_cells
    if certifier is None:
        # A gate is left open at twice as many cells.
        most = int(min(_chunk_cells(network, chunk), max(LEAST_CELLS, room // 4)))
    undecided = 0
    if chunk.cells.num_cells <= most:
        work["chunks"] += 1
        if chunk.opened is None:
            work["evaluated_vertices"] += len(chunk.points)
            chunk = open_stage(chunk, network.stages[chunk.stage], resolution)
        chunk, undecided = cut(chunk, network, resolution, 2 * most, certifier)
        if chunk.stage == len(network.stages):
            return [chunk], undecided, next_seam
    if certifier is None and chunk.cells.num_cells > most:
        parts, next_seam = spread(chunk, most, next_seam)
        return parts, undecided, next_seam
    return [chunk], undecided, next_seam


def _chunk_cells(network: Network, chunk: Chunk) -> int:
    """Cells that a chunk may have: bounded by the memory of its values."""
    num_vertices = max(1, len(chunk.points))
    per_cell = network.bytes_per_point * max(1.0, num_vertices / chunk.cells.num_cells)
    return int(np.clip(CHUNK_BYTES / per_cell, 16, CHUNK_CELLS))
