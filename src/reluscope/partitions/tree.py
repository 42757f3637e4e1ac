"""Exact regions by a tree of linear programs: any number of inputs, few units, bounded or unbounded domains.

Depth first, gate by gate: a region of the gates so far is a cell, each of whose units is affine there, and `SignTree`
finds the sign vectors of these affine functions inside it. Cells live in homogeneous coordinates, so that unbounded
ones are cones like all others; where a first layer is narrower than the input, in the coordinates of its units.
"""

import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import BrokenExecutor, Executor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float, Integer

from reluscope.codes.packing import pack_pieces
from reluscope.geometry.domains import Domain, Slice
from reluscope.networks.network import Network
from reluscope.partitions.engine import Budget
from reluscope.partitions.tree_coordinates import Coordinates
from reluscope.partitions.tree_items import Block, GatePart, Search
from reluscope.tolerance import Tolerance

# Regions of one batch, and the memory that its cells may need.
BATCH, BATCH_BYTES = 1024, 2**26
# Cells to find before work is handed to an executor.
TASKS = 96

COUNTERS = ("programs", "pivots", "corners", "nodes", "by_point", "by_clause")


@dataclass(frozen=True, eq=False)
class TreeBatch:
    """Some regions.

    Parameters
    ----------
    words : (r, w) uint64
        Packed codes.
    witnesses : (r, n) float64
        Strictly interior points, in coordinates of the domain.
    """

    words: Integer[np.ndarray, "r w"]
    witnesses: Float[np.ndarray, "r n"]

    def __len__(self) -> int:
        return len(self.words)


@dataclass(frozen=True, eq=False)
class TreeRegions:
    """The regions that a search has found.

    Parameters
    ----------
    words : (r, w) uint64
        Packed codes in increasing order, no two equal.
    witnesses : (r, n) float64
        Strictly interior points, in coordinates of the domain.
    num_undecided : int
        Questions "does this unit cut this cell?" that rounding left open; they were taken as no.
    num_open : int
        Cells that are known not to be finished when work stopped; each holds at least one region more.
    stopped : str
        Why work stopped early, empty if it did not. Ctrl-C may lose track of some cells.
    work : dict
        Linear programs, their pivots, nodes, decisions without a program, seconds.
    """

    words: Integer[np.ndarray, "r w"]
    witnesses: Float[np.ndarray, "r n"]
    num_undecided: int
    num_open: int
    stopped: str
    work: dict[str, float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.words)


Report = Callable[[TreeBatch], None]
Items = list[Block | GatePart | Search]


def tree_regions(
    network: Network,
    domain: Domain,
    *,
    budget: Budget | None = None,
    tolerance: Tolerance | None = None,
    report: Report | None = None,
    executor: Executor | None = None,
) -> TreeRegions:
    """Find all full-dimensional activation regions by linear programs.

    Parameters
    ----------
    network : Network
        With any gates.
    domain : Box, Space, Polyhedron or Slice
        Full-dimensional, bounded or not, of any dimension; a slice in its own coordinates.
    budget : Budget, optional
        Where to stop early.
    tolerance : Tolerance, optional
    report : callable, optional
        Told of every batch found.
    executor : concurrent.futures.Executor, optional
        Runs independent parts of the tree.

    Returns
    -------
    TreeRegions
        Sorted by code, so that the order does not depend on the executor. A witness whose distance to all sides
        exceeds the rounding proves that a region exists; multipliers prove that there are no others, up to the
        resolution and to the questions counted as undecided.

    Raises
    ------
    ShapeError
        If the domain's dimension is not the network's number of inputs.
    DegenerateGeometryError
        If the domain has no interior.

    Notes
    -----
    Cost: about one linear program of a few pivots per region. Keeps a witness for every region; `TreeWalk` is for
    those who count only. Ctrl-C keeps what was found.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.eye(3), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))])
    >>> len(tree_regions(net, rs.Space(3)))
    8
    """
    walk = TreeWalk(network, domain, budget=budget, tolerance=tolerance, executor=executor)
    batches = [TreeBatch(np.zeros((0, network.layout.num_words), dtype=np.uint64), np.zeros((0, domain.dim)))]
    steps = iter(walk)
    try:
        for batch in steps:
            batches.append(batch)
            if report is not None:
                report(batch)
    except KeyboardInterrupt:
        # The walk has one way to stop, wherever Ctrl-C is pressed; at its end there is nothing to stop.
        with suppress(StopIteration, KeyboardInterrupt):
            steps.throw(KeyboardInterrupt)
    words = np.concatenate([batch.words for batch in batches])
    order = np.lexsort(words.T[::-1]) if words.shape[1] else np.arange(len(words))
    return TreeRegions(
        words[order],
        np.concatenate([batch.witnesses for batch in batches])[order],
        walk.num_undecided,
        walk.num_open,
        walk.stopped,
        dict(walk.work),
    )


class TreeWalk:
    """An iterator over the regions of a network on a domain, batch by batch, that forgets what it has yielded.

    Parameters
    ----------
    network, domain, budget, tolerance, executor
        See `tree_regions`.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.eye(3), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))])
    >>> walk = TreeWalk(net, rs.Box(-1, 1, 3))
    >>> sum(len(batch) for batch in walk), walk.num_undecided
    (8, 0)
    """

    def __init__(
        self,
        network: Network,
        domain: Domain,
        *,
        budget: Budget | None = None,
        tolerance: Tolerance | None = None,
        executor: Executor | None = None,
    ) -> None:
        self._began = time.perf_counter()
        if isinstance(domain, Slice):
            network, domain = network.restrict(domain), domain.window
        self.coordinates = Coordinates.of(network, domain, Tolerance() if tolerance is None else tolerance)
        self.budget = Budget() if budget is None else budget
        self.executor = executor
        self.num_regions = 0
        self.num_undecided = 0
        self.num_open = 0
        self.stopped = ""
        self.work: dict[str, float] = dict.fromkeys((*COUNTERS, "seconds"), 0)
        self._items: Items = [Block.first(self.coordinates)]

    def __iter__(self) -> Generator[TreeBatch, None, None]:
        try:
            with torch.no_grad():
                yield from self._depth_first() if self.executor is None else self._in_parallel(self.executor)
        except KeyboardInterrupt:
            self.stopped = "interrupted"
        self.num_open += sum(item.num_open for item in self._items)
        if not self.num_open and self.stopped != "interrupted":
            self.stopped = ""  # the last region was found just in time
        self.work["seconds"] = time.perf_counter() - self._began

    def _depth_first(self) -> Iterator[TreeBatch]:
        while self._items and not self._is_exhausted():
            yield from self._step(self._items)

    def _in_parallel(self, executor: Executor) -> Iterator[TreeBatch]:
        """Search level by level until there are enough cells, then hand them out."""
        items = self._items
        while items and sum(item.num_open for item in items) < TASKS:
            level, deeper = items[0].position, []
            while items and items[0].position == level:
                if self._is_exhausted():
                    items += deeper
                    return
                if items[-1].position == level:
                    yield from self._step(items)
                else:
                    deeper.append(items.pop())
            items += deeper
        whole = [item for item in items if not isinstance(item, Search)]
        tasks = [part for item in whole for part in item.parts(-(-item.num_open * len(whole) // TASKS))]
        items[:] = tasks
        # All share one end: tasks wait for workers, and may be on another machine.
        began = time.time() - (time.perf_counter() - self._began)
        futures = {executor.submit(_run_task, self.coordinates, self.budget, began, task): task for task in tasks}
        try:
            for future in as_completed(futures):
                try:
                    share = future.result()
                except BrokenExecutor:  # a worker died: its cells are not lost
                    share = _run_task(self.coordinates, self.budget, began, futures[future])
                items.remove(futures[future])
                yield from self._include(share)
                if self._is_exhausted():
                    return
        finally:
            for future in futures:
                future.cancel()

    def _step(self, items: Items) -> Iterator[TreeBatch]:
        """Take the last item one step further; regions that are finished are yielded."""
        top = items.pop()
        if isinstance(top, Search):
            room = int(np.clip(BATCH_BYTES // top.cell_bytes, 1, BATCH))
            if self.budget.regions is not None:
                room = int(np.clip(self.budget.regions - self.num_regions, 1, room))
            before = top.tree.counters.copy()
            found = top.take(room)
            *amounts, undecided = (top.tree.counters - before).tolist()
            self.num_undecided += undecided
            for name, amount in zip(COUNTERS, amounts, strict=True):
                self.work[name] += amount
            if not top.tree.is_done:
                items.append(top)
            if found is not None:
                items.append(found)
        elif top.is_finished:
            assert isinstance(top, Block)
            self.num_regions += len(top.cells)
            yield self._batch(top)
        else:
            items += top.opened()

    def _batch(self, block: Block) -> TreeBatch:
        layout = self.coordinates.network.layout
        words = pack_pieces(block.pieces, layout, num_codes=len(block.cells))
        return TreeBatch(words, self.coordinates.points(np.stack([cell.witness for cell in block.cells])))

    def _include(self, share: "_Share") -> list[TreeBatch]:
        self.num_regions += sum(map(len, share.batches))
        self.num_undecided += share.num_undecided
        self.num_open += share.num_open
        self.stopped = self.stopped or share.stopped
        for name in COUNTERS:
            self.work[name] += share.work[name]
        return share.batches

    def _is_exhausted(self) -> bool:
        if self.budget.regions is not None and self.num_regions >= self.budget.regions:
            self.stopped = f"budget of {self.budget.regions:,} regions"
        elif self.budget.seconds is not None and time.perf_counter() - self._began >= self.budget.seconds:
            self.stopped = f"budget of {self.budget.seconds:g} s"
        return bool(self.stopped)


@dataclass(frozen=True)
class _Share:
    """What one task has found."""

    batches: list[TreeBatch]
    num_undecided: int
    num_open: int
    stopped: str
    work: dict[str, float]


def _run_task(coordinates: Coordinates, budget: Budget, began: float, item: Block | GatePart) -> _Share:
    walk = TreeWalk.__new__(TreeWalk)
    walk._began = time.perf_counter() - (time.time() - began)
    walk.coordinates, walk.budget, walk.executor = coordinates, budget, None
    walk.num_regions = walk.num_undecided = walk.num_open = 0
    walk.stopped = ""
    walk.work = dict.fromkeys((*COUNTERS, "seconds"), 0)
    walk._items = [item]
    batches = list(walk)
    return _Share(batches, walk.num_undecided, walk.num_open, walk.stopped, walk.work)
