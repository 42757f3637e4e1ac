"""Best-first search (branch and bound): the part of a problem with the least bound is split first."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf
from typing import Any, Generic, TypeVar

from reluscope.budget import Budget
from reluscope.partitions.driver.best_first import BestFirst, Branch
from reluscope.stopping import Stop, is_interrupted

Part = TypeVar("Part")
Node = TypeVar("Node")


@dataclass(frozen=True)
class Searched(Generic[Node]):
    """What a search left.

    ``lower`` is the least bound of the part that would have been next, or of the last one that was split.
    """

    lower: float
    left: tuple[Node, ...]  # parts that were not settled
    num_parts: int  # parts whose bounds were computed
    stop: Stop | None  # why it ended early, if it did


def best_first(
    start: Part,
    bound: Callable[[float, Part], tuple[float, Node] | None],
    split: Callable[[Node], Iterable[Part]],
    *,
    goal: Callable[[], float],
    budget: Budget,
    tell: Callable[[float], None] | None = None,
) -> Searched[Node]:
    """Split parts of a problem until no bound is below the goal.

    ``bound`` takes the parent's bound and the part; it returns the part's bound and what to keep, or None if it is
    settled. The goal may fall meanwhile. Ctrl-C ends the search like a budget, between two splits.
    """
    search = _Parts(start, bound, split, goal)
    stopped = search.run(budget, tell)
    if search.is_broken:
        raise KeyboardInterrupt if is_interrupted(stopped) else MemoryError
    if not search.num_branches:  # a budget of nothing: what is left has to be known all the same
        search.begin()
    lower = max(search.frontier, search.queue[0].key) if stopped and search.queue else search.frontier
    return Searched(lower, tuple(branch.what for branch in search.queue), search.num_branches, stopped)


class _Parts(BestFirst):
    def __init__(
        self,
        start: Any,
        bound: Callable[[float, Any], tuple[float, Any] | None],
        split: Callable[[Any], Iterable[Any]],
        goal: Callable[[], float],
    ) -> None:
        super().__init__()
        self.frontier = -inf
        self._start, self._bound_of, self._parts_of, self._goal = start, bound, split, goal

    def is_settled(self, key: float) -> bool:
        return key >= self._goal()

    def begin(self) -> bool:
        if self.num_branches:
            return False
        self._take(0.0, self._start)
        return True

    def split(self, branch: Branch) -> None:
        for part in self._parts_of(branch.what):
            self._take(branch.key, part)

    def _take(self, above: float, part: Any) -> None:
        self.num_branches += 1
        if (kept := self._bound_of(above, part)) is not None:
            self.push(*kept)
