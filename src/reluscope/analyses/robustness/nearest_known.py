"""The nearest change of class that a search knows, and how far it has proved that there is none."""

import numpy as np

from reluscope.analyses.robustness.cells import RESOLUTION, StepRegion, Viewpoint
from reluscope.analyses.robustness.changes import Change, Undecided, confirm


class NearestKnown:
    """What searches for the nearest change of class share.

    Attributes
    ----------
    view : Viewpoint
    change : Change, optional
        The nearest one found.
    limit : float
        Within which radius is searched.
    passed : float
        The nearest change that may be in what was passed over.
    num_undecided : int
        Changes of class that the network itself did not confirm.
    """

    view: Viewpoint
    change: Change | None
    limit: float
    passed: float
    num_undecided: int

    def settle(self, found: Change | Undecided | None) -> None:
        """Take what the network says of a point where outputs tie."""
        if isinstance(found, Change):
            self.passed = min(self.passed, found.lower)
            if self.change is None or found.distance < self.change.distance:
                self.change, self.limit = found, min(self.limit, found.distance)
        elif found is not None:
            self.num_undecided += 1
            self.passed = min(self.passed, found.lower)

    def settle_cell(self, cell: StepRegion, key: float) -> None:
        """Find the nearest change of class in a region, whose changes are no nearer than a bound."""
        for rival in sorted(cell.rivals, key=lambda rival: rival.distance):
            if rival.distance >= self.limit:
                return
            found = cell.nearest_change(rival, self.limit)
            if not np.isfinite(found.distance) or found.distance >= self.limit - RESOLUTION * self.view.scale:
                # None, too far, or no nearer than what is known: as far as that is proved.
                self.passed = min(self.passed, max(key, found.lower))
            elif not cell.is_thin(found.point):
                self.settle(confirm(cell, rival, found))
