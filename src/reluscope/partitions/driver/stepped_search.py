"""Searches that go on step by step within a budget, and end with what they have found so far."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable

from reluscope.budget import Budget
from reluscope.effort import Effort
from reluscope.partitions.driver.walk import Step, walk
from reluscope.stopping import Stop

# How far a search is is told at most so often, in seconds: to know it takes a look at all that is left.
INTERVAL = 0.2


class SteppedSearch(ABC):
    """A search that takes steps; subclasses say what a step is.

    ``num_branches``, those bounded so far, count as a budget's regions.
    """

    is_finished = False
    kind = "branches"

    def __init__(self) -> None:
        self.num_branches = 0

    def __len__(self) -> int:
        return 1

    @abstractmethod
    def step(self) -> Step:
        """Go on a little; the step has no cells if that was the last one."""

    @property
    def work(self) -> dict[str, int]:
        """How much was bounded, by its kind."""
        return {self.kind: self.num_branches}

    @property
    def share_left(self) -> float:
        """Share of the work that is left, if both parts of a branch are as much work; all of it, where nobody knows."""
        return 1.0

    def run(self, budget: Budget, tell: Callable[[float], None] | None = None) -> Stop | None:
        """Search within a budget; return why it stopped early, if it did.

        Ctrl-C and lack of memory end it like a budget. What is told is how much is done, from 0 to 1: of the search, or
        of its budget.
        """
        began = told = time.time()

        def advanced(search: "SteppedSearch", room: float) -> Step:
            nonlocal told
            made = search.step()
            if tell is not None and time.time() - told >= INTERVAL:
                tell(max(1 - search.share_left, budget.share_spent(search.num_branches, began)))
                told = time.time()
            return made

        stopped = walk([self], advanced, effort=Effort(budget, began=began)).stop
        if tell is not None:
            tell(1.0)
        return stopped
