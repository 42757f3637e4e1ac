"""Best-first search (branch and bound): the part of a problem with the least bound is split first."""

import heapq
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count
from math import inf
from typing import Generic, TypeVar

from reluscope.budget import Budget

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
    began, order = time.time(), count()
    queue: list[tuple[float, int, Node]] = []
    fresh: list[tuple[float, Part]] = [(0.0, start)]
    num_parts, lower, stopped = 0, -inf, ""
    while True:
        for above, part in fresh:
            num_parts += 1
            if (kept := bound(above, part)) is not None:
                heapq.heappush(queue, (kept[0], next(order), kept[1]))
        if not queue or queue[0][0] >= goal():
            break
        lower = max(lower, queue[0][0])
        if stopped := budget.spent(num_parts, began):
            break
        key, _, node = heapq.heappop(queue)
        fresh = [(key, part) for part in split(node)]
    return Searched(lower, tuple(node for _, _, node in queue), num_parts, stopped)
