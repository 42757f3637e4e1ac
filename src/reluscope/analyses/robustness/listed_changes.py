"""The nearest change of class of one point, in regions of which it is known that none that is nearer has one."""

from dataclasses import dataclass

import numpy as np

from reluscope.analyses.robustness.cells import Pieces, Viewpoint
from reluscope.analyses.robustness.nearest_known import NearestKnown
from reluscope.partitions.best_first import BestFirst, Branch


@dataclass(frozen=True, eq=False)
class NearRegions:
    """Regions in which the nearest change of class of a point is, if it is nearer than what is beyond.

    Parameters
    ----------
    keys : list of float
        No change in a region is nearer.
    codes : list of tuples of arrays
    beyond : float
        No change in another region is nearer.
    """

    keys: list[float]
    codes: list[Pieces]
    beyond: float


class ListedChanges(NearestKnown, BestFirst):
    """The search for one point, in regions that are listed."""

    def __init__(self, view: Viewpoint, regions: NearRegions) -> None:
        BestFirst.__init__(self)
        self.view, self.change, self.num_undecided = view, None, 0
        self.limit, self.passed = np.inf, regions.beyond
        self._beyond = regions.beyond
        self._regions = list(zip(regions.keys, regions.codes, strict=True))

    @property
    def is_known(self) -> bool:
        """Whether the nearest change is known: one no farther than what lies in no region listed, or none anywhere."""
        if self.num_undecided or self.change is None:
            return not self.num_undecided and self.passed == np.inf
        return self.change.distance <= self._beyond

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
        self.settle_cell(self.view.cell(branch.what), branch.key)
