"""Branch and bound: the branch of the least bound first, until no bound is below what is known."""

import heapq
import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from reluscope.budget import Budget
from reluscope.partitions.driver.stepped_search import SteppedSearch
from reluscope.partitions.driver.walk import Step
from reluscope.stopping import Stop, is_interrupted
from reluscope.time_limits import OutOfTime


class Branch(NamedTuple):
    """A branch in the queue."""

    key: float  # lower bound on everything in the branch
    order: int  # of branches with one bound the oldest comes first
    what: Any  # what the search has to know of the branch


class BestFirst(SteppedSearch):
    """A best-first search; subclasses say how it begins, and how a branch is split.

    ``queue`` is a heap; ``frontier`` is the largest bound of a split branch. A step that Ctrl-C or the clock ends is
    taken back; ``is_broken`` tells of another error in the middle of one.
    """

    is_begun = False
    method = "best first"

    def __init__(self) -> None:
        super().__init__()
        self.queue: list[Branch] = []
        self.frontier = 0.0
        self.is_broken = False
        self._order = 0
        self._taken: list[Branch] = []

    def __len__(self) -> int:
        return max(1, len(self.queue))

    @abstractmethod
    def is_settled(self, key: float) -> bool:
        """Whether branches with this bound need not be split."""

    @property
    def least_key(self) -> float:
        """Bound on everything that is left; -inf where nobody knows."""
        if self.is_broken or not self.is_begun:
            return -math.inf
        return self.queue[0].key if self.queue else math.inf

    @property
    def is_full(self) -> bool:
        """Whether the queue takes as much memory as it may."""
        return False

    def begin(self) -> bool:
        """`start` once; asked again when no branch is left, and False then ends the search."""
        is_first, self.is_begun = not self.is_begun, True
        if is_first:
            self.start()
        return is_first

    def start(self) -> None:
        """Put the first branches into the queue."""
        raise NotImplementedError

    @abstractmethod
    def split(self, branch: Branch) -> None:
        """Bound the parts of a branch, and `push` those that are to be split further."""

    def push(self, key: float, what: Any) -> None:
        """Put a branch into the queue."""
        heapq.heappush(self.queue, Branch(key, self._order, what))
        self._order += 1

    def with_next(self, branch: Branch, number: int, fits: Callable[[Any], bool] = lambda what: True) -> list[Any]:
        """Return what a branch is, and what those are that come next and fit: as many together as given, at most."""
        taken = [branch.what]
        while len(taken) < number and self._has_branches() and fits(self.queue[0].what):
            taken.append(self._pop().what)
        return taken

    def run_unbroken(self, budget: Budget, tell: Callable[[float], None] | None = None) -> Stop | None:
        """`run`, passing on a lack of memory in the middle of a step, and Ctrl-C before the first; begins always."""
        stopped = self.run(budget, tell)
        if self.is_broken:
            raise MemoryError
        if not self.is_begun:
            if is_interrupted(stopped):
                raise KeyboardInterrupt
            self.begin()
        return stopped

    @property
    def lower(self) -> float:
        """Bound on what is left: that of the next branch, or of the last one that was split."""
        return max(self.frontier, self.queue[0].key) if self.queue else self.frontier

    def step(self) -> Step:
        """Split the next branch, or begin; what Ctrl-C or the clock ends was not begun."""
        if self.is_broken or self.is_full:
            raise MemoryError
        before, order, self._taken = dict(vars(self)), self._order, []
        lengths = [(value, len(value)) for name, value in before.items() if type(value) is list and name != "queue"]
        self.is_broken = True
        try:
            # Bounds too large for float64 say nothing: no comparison with them is true.
            with np.errstate(over="ignore", invalid="ignore"):
                made = self._advance()
        except (KeyboardInterrupt, OutOfTime):
            queue, taken = before["queue"], self._taken
            vars(self).clear()  # what the step has added, that it was begun above all, was not there before
            vars(self).update(before)
            for entries, length in lengths:
                del entries[length:]
            queue[:] = [*(branch for branch in queue if branch.order < order), *taken]
            heapq.heapify(queue)
            raise
        self.is_broken = False
        return made

    def _pop(self) -> Branch:
        self._taken.append(heapq.heappop(self.queue))
        return self._taken[-1]

    def _advance(self) -> Step:
        before, is_over = self.num_branches, False
        if self._has_branches():
            # The frontier first: an interruption from here on still knows how far all is done.
            self.frontier = max(self.frontier, self.queue[0].key)
            self.split(self._pop())
        while not (is_over or self._has_branches()):
            is_over = not self.begin()
        return Step([] if is_over else [self], self.num_branches - before)

    def _has_branches(self) -> bool:
        return bool(self.queue) and not self.is_settled(self.queue[0].key)
