"""Exact partition of a bounded domain: gate by gate, depth first over chunks of cells.

A network is affine between two gates, so the zero set of a unit cuts each cell of the previous gates in a straight
piece. Cells are taken through the gates in chunks of a few hundred: values live as long as their chunk, memory does not
grow with depth, and whatever interrupts the work, the regions finished so far are whole.
"""

import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, as_completed
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch

from reluscope.geometry.complexes import Complex
from reluscope.networks.network import Network
from reluscope.partitions.certification import Certifier, Judge
from reluscope.partitions.chunks import Chunk, Resolution, cut, open_stage, spread

CHUNK_CELLS = 768
CHUNK_BYTES = 64 * 2**20
TASKS = 64


@dataclass(frozen=True)
class Budget:
    """Where work on a partition stops.

    Parameters
    ----------
    regions : int, optional
        Stop after this many regions (a few more may be finished).
    seconds : float, optional
        Stop after this time.
    """

    regions: int | None = None
    seconds: float | None = None


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

    def include(self, other: "Run") -> None:
        """Add what another walk found."""
        self.patches.extend(other.patches)
        self.num_undecided += other.num_undecided
        for key, amount in other.work.items():
            self.work[key] = self.work.get(key, 0) + amount


Report = Callable[[Any], None]
Finish = Callable[[Chunk], Any]


def walk(
    network: Network,
    cells: Complex,
    points: np.ndarray,
    inputs: torch.Tensor,
    resolution: Resolution,
    *,
    finish: Finish,
    budget: Budget,
    executor: Executor | None = None,
    report: Report | None = None,
    certifier: Certifier | None = None,
    judge: Judge | None = None,
) -> Run:
    """Take cells through all gates of a network.

    Parameters
    ----------
    network : Network
    cells : Complex
        On each of which the network's input is affine.
    points : (v, d) float64
        Vertices in domain coordinates.
    inputs : (v, *input_shape) tensor
        The same vertices in input space.
    resolution : Resolution
    finish : callable
        Makes of a finished chunk what is kept of it: `Patch.of`, or another.
    budget : Budget
    executor : Executor, optional
        Runs independent chunks.
    report : callable, optional
        Told of every finished patch.
    certifier : Certifier, optional
        Decides doubtful signs exactly; all cells then stay together, and no executor is used.
    judge : Judge, optional
        Decides what floats call zero on a whole cell.

    Returns
    -------
    Run
        Incomplete if the budget ran out or the user interrupted.
    """
    start = Chunk.start(network, cells, points, inputs, certifier=certifier, judge=judge)
    with torch.no_grad():
        if executor is None or certifier is not None:
            return _depth_first(network, [start], resolution, budget, 0, finish, report, certifier)
        return _in_parallel(network, start, resolution, budget, executor, finish, report)


def _depth_first(
    network: Network,
    stack: list[Chunk],
    resolution: Resolution,
    budget: Budget,
    next_seam: int,
    finish: Finish,
    report: Report | None = None,
    certifier: Certifier | None = None,
) -> Run:
    run = Run()
    began = time.perf_counter()
    todo = _Todo(tuple(stack), (), 0, 0, next_seam)
    try:
        while todo.stack:
            run.stopped = _exhausted(budget, todo.num_regions, began)
            if run.stopped:
                break
            *rest, chunk = todo.stack
            following, undecided, next_seam = _step(network, chunk, resolution, todo.next_seam, run.work, certifier)
            last = len(network.stages)
            made = [finish(part) for part in reversed(following) if part.stage == last]
            rest += [part for part in reversed(following) if part.stage < last]
            finished = todo.finished
            for patch in made:
                finished = (patch, finished)
            number = todo.num_regions + sum(len(patch.roots) for patch in made)
            # One assignment: wherever Ctrl-C falls, a chunk is either still open or finished, and never both.
            todo = _Todo(tuple(rest), finished, number, todo.num_undecided + undecided, next_seam)
            if report is not None:
                for patch in made:
                    report(patch)
    except KeyboardInterrupt:
        run.stopped = "interrupted"
    finished = todo.finished
    while finished:
        patch, finished = finished
        run.patches.append(patch)
    run.patches.reverse()
    run.num_undecided = todo.num_undecided
    run.open_roots = [chunk.roots for chunk in todo.stack]
    return run


class _Todo(NamedTuple):
    """What is left to do and what is done: chunks, the last on top, and patches, each with those before it."""

    stack: tuple[Chunk, ...]
    finished: tuple[Any, ...]
    num_regions: int
    num_undecided: int
    next_seam: int


def _step(
    network: Network,
    chunk: Chunk,
    resolution: Resolution,
    next_seam: int,
    work: dict[str, float],
    certifier: Certifier | None = None,
) -> tuple[list[Chunk], int, int]:
    """Take a chunk one gate further, or spread it if it is too large."""
    if chunk.stage == len(network.stages):
        return [chunk], 0, next_seam
    most = _chunk_cells(network, chunk) if certifier is None else chunk.cells.num_cells
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


def _exhausted(budget: Budget, num_regions: int, began: float) -> str:
    if budget.regions is not None and num_regions >= budget.regions:
        return f"budget of {budget.regions:,} regions"
    if budget.seconds is not None and time.perf_counter() - began >= budget.seconds:
        return f"budget of {budget.seconds:g} s"
    return ""


def _in_parallel(
    network: Network,
    start: Chunk,
    resolution: Resolution,
    budget: Budget,
    executor: Executor,
    finish: Finish,
    report: Report | None,
) -> Run:
    """Break the work into independent chunks here, then hand them out."""
    began = time.perf_counter()
    run = Run()
    waiting, next_seam = [start], 0
    finished: list[Chunk] = []
    while waiting and len(waiting) < TASKS:
        chunk = waiting.pop(0)
        parts, undecided, next_seam = _step(network, chunk, resolution, next_seam, run.work)
        run.num_undecided += undecided
        for part in parts:
            (finished if part.stage == len(network.stages) else waiting).append(part)
    run.patches = [finish(part) for part in finished]
    # Seams made by different tasks must not share numbers.
    futures = {
        executor.submit(_task, network, chunk, resolution, budget, (index + 1) << 40, finish): index
        for index, chunk in enumerate(waiting)
    }
    results: dict[int, Run] = {}
    try:
        for future in as_completed(futures):
            try:
                part = future.result()
            except BrokenExecutor:
                # A worker was lost, and what it and those after it would have done is done here.
                part = _task(network, waiting[futures[future]], resolution, budget, (futures[future] + 1) << 40, finish)
            results[futures[future]] = part
            for patch in part.patches:
                if report is not None:
                    report(patch)
            run.stopped = _exhausted(budget, sum(one.num_regions for one in results.values()), began)
            if run.stopped:
                break
    except KeyboardInterrupt:
        run.stopped = "interrupted"
    for future in futures:
        future.cancel()
    for index in sorted(results):
        run.include(results[index])
        run.open_roots += results[index].open_roots
        run.stopped = run.stopped or results[index].stopped
    run.open_roots += [chunk.roots for i, chunk in enumerate(waiting) if i not in results]
    return run


def _task(
    network: Network, chunk: Chunk, resolution: Resolution, budget: Budget, next_seam: int, finish: Finish
) -> Run:
    with torch.no_grad():
        return _depth_first(network, [chunk], resolution, budget, next_seam, finish)
