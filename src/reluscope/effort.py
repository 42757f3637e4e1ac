"""The effort that work may take, as one frozen value: made by whoever reads the arguments, and handed down whole."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from reluscope.budget import Budget
from reluscope.progress import Progress, RegionProgress, counting_regions
from reluscope.tolerance import Tolerance


@dataclass(frozen=True)
class Effort:
    """What work may take, who does it, who is told, and how finely it is done."""

    budget: Budget = field(default_factory=Budget)
    executor: Executor | None = None
    progress: Progress = False
    tolerance: Tolerance = field(default_factory=Tolerance)
    began: float | None = None  # since when the budget's seconds count, by `time.time`; None for when the walk begins
    count: RegionProgress | None = None  # told of regions found, while `counting`

    @classmethod
    def of(
        cls,
        budget: Budget | None = None,
        executor: Executor | None = None,
        progress: Progress = False,
        tolerance: Tolerance | None = None,
    ) -> "Effort":
        """Return the effort of the arguments of a public function, of which any may be missing."""
        return cls(budget or Budget(), executor, progress, tolerance or Tolerance())

    def within(self, budget: Budget) -> "Effort":
        """Return the same with another budget, as for a part of the work."""
        return replace(self, budget=budget)

    @contextmanager
    def counting(self, work: str) -> Iterator["Effort"]:
        """Yield the same with a count of regions, as `progress` asks for it; ``work`` begins the line."""
        with counting_regions(work, self.progress) as count:
            yield replace(self, count=count)
