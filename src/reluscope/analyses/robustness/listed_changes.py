"""The nearest change of class of one point, in regions of which it is known that none that is nearer has one."""

from dataclasses import dataclass

import numpy as np

from reluscope.analyses.robustness.cells_of_classes import RESOLUTION, StepRegion
from reluscope.analyses.robustness.nearest_known import NearestKnown
from reluscope.analyses.robustness.viewpoints import Pieces, Viewpoint
from reluscope.partitions.driver.best_first import Branch

# What is nearer than the change found by no more than this share is no nearer.
TIGHT = 5e-7


@dataclass(frozen=True, eq=False)
class NearRegions:
    """Regions with a point's nearest change of class, if it is nearer than ``beyond``."""

    keys: list[float]  # no change in a region is nearer
    codes: list[Pieces]
    beyond: float  # no change in another region is nearer


class ListedChanges(NearestKnown):
    """The search for one point, in regions that are listed."""

    def __init__(self, view: Viewpoint, regions: NearRegions) -> None:
        super().__init__()
        self.view, self.change, self.num_undecided, self.doubts = view, None, 0, []
        self.limit, self.passed = np.inf, regions.beyond
        self._regions = list(zip(regions.keys, regions.codes, strict=True))

    @property
    def is_known(self) -> bool:
        """Whether the nearest change is known: one no farther than what lies in no region listed, or none anywhere."""
        if self.change is None:
            return self.least_left == np.inf
        return self.least_left >= self.change.upper * (1 - TIGHT) - 0.1 * RESOLUTION * self.view.scale

    def is_settled(self, key: float) -> bool:
        """Whether regions are no nearer than the change that is known."""
        return key >= self.limit

    def begin(self) -> bool:
        """Put all regions into the queue."""
        if not self._regions:
            self.frontier = min(self.limit, self.passed)
            return False
        for key, code in self._regions:
            self.push(key, code)
        self._regions = []
        return True

    def split(self, branch: Branch) -> None:
        """Find the nearest change in a region."""
        self.num_branches += 1
        self.settle_cell(StepRegion.of(self.view, branch.what), branch.key, branch.what)
