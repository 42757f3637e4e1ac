"""Exact regions by a tree of linear programs: any number of inputs, few units, bounded or unbounded domains.

Depth first, gate by gate: a region of the gates so far is a cell, each of whose units is affine there, and `SignTree`
finds the sign vectors of these affine functions inside it. Cells live in homogeneous coordinates, so that unbounded
ones are cones like all others; where a first layer is narrower than the input, in the coordinates of its units.
"""

import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Integer

from reluscope.budget import ENDS, INTERRUPTED, Budget, why_ended
from reluscope.codes.packing import pack_pieces
from reluscope.geometry.domains import Domain, Slice
from reluscope.interruption import deferred
from reluscope.networks.network import Network
from reluscope.partitions.parallel import Lost, Tell, hand_out, why_stopped
from reluscope.partitions.tree_coordinates import Coordinates
from reluscope.partitions.tree_items import Block
from reluscope.partitions.tree_search import Item, Tally, TreeSearch
from reluscope.tolerance import Tolerance


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
        Why work stopped early, empty if it did not.
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


def tree_regions(
    network: Network,
    domain: Domain,
    *,
    budget: Budget | None = None,
    tolerance: Tolerance | None = None,
    report: Report | None = None,
    executor: Executor | None = None,
    tell: Tell | None = None,
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
    tell : callable, optional
        Told how many of the executor's tasks are done, and how many there are.

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
    walk = TreeWalk(network, domain, budget=budget, tolerance=tolerance, executor=executor, tell=tell)
    batches = [TreeBatch(np.zeros((0, network.layout.num_words), dtype=np.uint64), np.zeros((0, domain.dim)))]
    steps = iter(walk)
    with deferred():
        try:
            for batch in steps:
                batches.append(batch)
                if report is not None:
                    report(batch)
        except ENDS as end:
            # The walk has one way to stop, wherever Ctrl-C is pressed; at its end there is nothing to stop.
            why_ended(end)
            with suppress(StopIteration, type(end)):
                steps.throw(end)
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
    network, domain, budget, tolerance, executor, tell
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
        tell: Tell | None = None,
    ) -> None:
        self._began = time.time()
        if isinstance(domain, Slice):
            network, domain = network.restrict(domain), domain.window
        self.coordinates = Coordinates.of(network, domain, Tolerance() if tolerance is None else tolerance)
        self.budget = Budget() if budget is None else budget
        self.executor = executor
        self.tell = tell
        self.tally = Tally()

    @property
    def num_regions(self) -> int:
        """Regions found so far."""
        return self.tally.num_regions

    @property
    def num_undecided(self) -> int:
        """Questions that rounding left open."""
        return self.tally.num_undecided

    @property
    def num_open(self) -> int:
        """Cells that were not finished when work stopped."""
        return self.tally.num_open

    @property
    def stopped(self) -> str:
        """Why work stopped early, empty if it did not."""
        return self.tally.stopped

    @property
    def work(self) -> dict[str, float]:
        """Linear programs, their pivots, nodes, decisions without a program, seconds."""
        return self.tally.work

    def __iter__(self) -> Generator[TreeBatch, None, None]:
        search = TreeSearch(self.coordinates, self.budget, self._began, Block.first(self.coordinates))
        self.tally = search.tally
        try:
            if self.executor is None:
                yield from map(self._batch, search.blocks())
            else:
                yield from self._in_parallel(search, self.executor)
            yield from map(self._batch, search.first())
        except ENDS as end:
            search.tally.stopped = why_ended(end)
        search.end()
        search.tally.work["seconds"] = time.time() - self._began

    def _in_parallel(self, search: TreeSearch, executor: Executor) -> Iterator[TreeBatch]:
        yield from map(self._batch, search.broken_up())
        if search.tally.stopped:
            return
        tasks, reasons = search.tasks(), []
        # Each may find all the regions that are left to find.
        left = self.budget.after(search.tally.num_regions)
        calls = [(self.coordinates, left, search.began, task) for task in tasks]
        for index, found in hand_out(_find, calls, executor, left, self.tell):
            reasons.append(found.stopped)
            if isinstance(found, Lost) or not found.batches:
                continue  # what it was to do is still to be done
            found.limit(self.budget.room(search.tally.num_regions))
            search.items.remove(tasks[index])
            search.tally.include(found)
            yield from found.batches
        if search.items or search.tally.num_open:
            search.tally.stopped = why_stopped(reasons, self.budget, search.tally.num_regions, search.began)

    def _batch(self, block: Block) -> TreeBatch:
        return _batch(self.coordinates, block)


def _batch(coordinates: Coordinates, block: Block) -> TreeBatch:
    words = pack_pieces(block.pieces, coordinates.network.layout, num_codes=len(block.cells))
    return TreeBatch(words, coordinates.points(np.stack([cell.witness for cell in block.cells])))


@dataclass
class _Found(Tally):
    """What one task has found."""

    batches: list[TreeBatch] = field(default_factory=list)

    def limit(self, num_regions: float) -> None:
        """Leave out batches at the end that go beyond a number of regions: they count as open."""
        while self.batches and self.num_regions - len(self.batches[-1]) >= num_regions:
            batch = self.batches.pop()
            self.num_regions -= len(batch)
            self.num_open += len(batch)


def _find(coordinates: Coordinates, budget: Budget, began: float, item: Item) -> _Found:
    search = TreeSearch(coordinates, budget, began, item)
    batches = []
    with deferred():
        try:
            batches.extend(_batch(coordinates, block) for block in search.blocks())
        except KeyboardInterrupt:
            search.tally.stopped = INTERRUPTED
    return _Found(**vars(search.end()), batches=batches)
