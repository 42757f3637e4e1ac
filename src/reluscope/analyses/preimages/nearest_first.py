"""Best-first search (branch and bound): the part of a problem with the least bound is split first."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf
from typing import Any, Generic, TypeVar

from reluscope.budget import INTERRUPTED, Budget
from reluscope.partitions.driver.best_first import BestFirst, Branch

Part = TypeVar("Part")
Node = TypeVar("Node")


@dataclass(frozen=True)
class Searched(Generic[Node]):
    """What a search left.

    Parameters
    ----------
    lower : float
        The least bound of the part that would have been next, or of the last one that was split.
    left : tuple of nodes
        Parts that were not settled.
    num_parts : int
        Parts whose bounds were computed.
    stopped : str
        Why it ended early; empty if it did not.
    """

    lower: float
    left: tuple[Node, ...]
    num_parts: int
    stopped: str


def best_first(
    start: Part,
    bound: Callable[[float, Part], tuple[float, Node] | None],
    split: Callable[[Node], Iterable[Part]],
    *,
    goal: Callable[[], float],
    budget: Budget,
) -> Searched[Node]:
    """Split parts of a problem until no bound is below the goal.

    Parameters
    ----------
    start : Part
        The whole problem.
    bound : callable
        Takes the bound of the part that this one comes from, and the part; returns its own bound, and what to keep of
        it, or None if it is settled.
    split : callable
        Returns the parts that a kept one consists of.
    goal : callable
        Bounds from this value on are settled; it may fall while the search goes on.
    budget : Budget
        Its ``regions`` are parts whose bounds are computed.

    Returns
    -------
    Searched

    Notes
    -----
    Ctrl-C ends it like a budget, between two splits.

    Examples
    --------
    >>> from reluscope.budget import Budget
    >>> def bound(key, ends):  # the least value of x^2 - x over an interval
    ...     low, high = ends
    ...     return (low * low - high, ends)
    >>> def halves(ends):
    ...     middle = sum(ends) / 2
    ...     return [(ends[0], middle), (middle, ends[1])]
    >>> found = best_first((0.0, 1.0), bound, halves, goal=lambda: -0.25, budget=Budget(regions=100))
    >>> found.lower <= -0.25, found.stopped
    (True, 'budget of 100 regions')
    """
    search = _Parts(start, bound, split, goal)
    stopped = search.run(budget)
    if search.is_broken:
        raise KeyboardInterrupt if stopped == INTERRUPTED else MemoryError
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
