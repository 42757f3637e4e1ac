"""How long work goes on if nobody said how long: to its end, unless that is out of sight."""

import statistics
import time
import warnings
from dataclasses import dataclass, field

from reluscope.budget import Budget
from reluscope.geometry.domains import Domain
from reluscope.networks.network import Network
from reluscope.partitions.probes import probes

# Who counts so many regions, or keeps so many, should have asked for it.
MOST_COUNTED, MOST_KEPT = 10**9, 10**8
# Seconds of work before it is asked where it leads, and seconds that this may take.
UNASKED, ASKING = 10.0, 3.0
# Ways that are enough to go on.
FEW = 5


def patient(budget: Budget, network: Network, domain: Domain, most: int = MOST_COUNTED) -> Budget:
    """Return the budget, or, if it has no limit, one that ends work on far more regions than ``most``.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(3), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))])
    >>> patient(Budget(regions=5), net, rs.Space(3)), patient(Budget(), net, rs.Space(3)).foresee()
    (Budget(regions=5), '')
    """
    has_limit = budget.regions is not None or budget.seconds is not None
    return budget if has_limit or type(budget) is not Budget else Patience(network=network, domain=domain, most=most)


@dataclass(frozen=True, kw_only=True)
class Patience(Budget):
    """A budget without limit, for work that has an end.

    Parameters
    ----------
    network, domain
        What the work is on.
    most : int
        More regions than this are too many: so many have typical random ways down the tree (see `probes`), which tell
        too little rather than too much.
    """

    network: Network
    domain: Domain
    most: int
    _answers: list[str] = field(default_factory=list, init=False, repr=False, compare=False)

    def spent(self, num_regions: int, began: float) -> str:
        """Return why the work will not end, once it has taken a while."""
        del num_regions
        return self.foresee() if time.time() - began >= UNASKED else ""

    def foresee(self) -> str:
        """Return why the work will not end, empty if it will."""
        if not self._answers:
            found: list[int] = []
            answer = ""
            for probe in probes(self.network, self.domain, seconds=ASKING):
                found.append(probe.product)
                # Whether there are far too many shows soon; how many, when there are more ways.
                if len(found) == FEW and statistics.median_low(found) <= self.most:
                    break
            if statistics.median_low(found) > self.most:
                # The logarithm of an integer of any size.
                size = len(str(sum(found) // len(found))) - 1
                ways = f"{len(found)} random way{'s' * (len(found) > 1)} down the tree"
                answer = f"hopeless: about 10^{size} regions, by {ways}"
                warnings.warn(
                    f"stopped early, and claims LOWER: there are about 10^{size} regions, by {ways}; give "
                    "budget=Budget(seconds=60) to have work go on for as long as that",
                    stacklevel=2,
                )
            self._answers.append(answer)
        return self._answers[0]
