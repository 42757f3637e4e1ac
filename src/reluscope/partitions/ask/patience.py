"""Budgets of work without limits: it goes on to its end, unless probes say that there are too many regions."""

import statistics
import time
import warnings
from dataclasses import dataclass, field
from functools import cached_property

from reluscope.budget import Budget
from reluscope.effort import Effort
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.networks.evaluation.pass_time import program_seconds, region_seconds
from reluscope.networks.network import Network
from reluscope.partitions.tree.probes import probes
from reluscope.stopping import Stop, StopReason

# Without limits, work stops where it would count, or keep, more regions than these.
MAX_COUNTED, MAX_KEPT = 10**9, 10**8
# Seconds of work before probes estimate how many regions there are, as regions of planes and of space take them and
# others; and seconds that these may take, but some programs in any case. After the last of them probes are asked
# however few regions there are.
BEFORE_PROBES, BEFORE_PROBES_IN_FEW, SECONDS_OF_PROBES, FEWEST_PROGRAMS, LONGEST = 10.0, 30.0, 3.0, 128, 600.0
FEW_DIMENSIONS = 3
# So many probes are enough to decide that work goes on.
NUM_PROBES = 5


def patient(budget: Budget, network: Network, domain: Domain, most: int = MAX_COUNTED) -> Budget:
    """Return the budget, or, if it has no limit, one that ends work on far more regions than ``most``."""
    has_limit = budget.regions is not None or budget.seconds is not None
    return budget if has_limit or type(budget) is not Budget else Patience(network=network, domain=domain, most=most)


def patient_effort(effort: Effort, network: Network, domain: Domain) -> Effort:
    """Return the same effort with a `patient` budget."""
    return effort.within(patient(effort.budget, network, domain))


@dataclass(frozen=True, kw_only=True)
class Patience(Budget):
    """A budget without limit, for work that has an end.

    More regions than ``most`` are too many: typical random ways down the tree have so many (see `probes`), which tell
    too little rather than too much.
    """

    network: Network
    domain: Domain
    most: int  # number of regions above which there are too many
    _answers: list[Stop | None] = field(default_factory=list, init=False, repr=False, compare=False)

    def spent(self, num_regions: int, began: float) -> Stop | None:
        """Return why the work will not end, after as many regions as it should have found in its first seconds."""
        is_due = num_regions >= self._regions_before or time.time() - began >= LONGEST
        return self.foresee() if is_due else None

    @cached_property
    def _regions_before(self) -> float:
        if self.domain.dim <= FEW_DIMENSIONS:
            return BEFORE_PROBES_IN_FEW / region_seconds(self.network)
        return BEFORE_PROBES / program_seconds(self.network)

    def foresee(self) -> Stop | None:
        """Return why the work will not end, None if it will."""
        if not self._answers:
            found: list[int] = []
            answer = None
            programs = max(FEWEST_PROGRAMS, SECONDS_OF_PROBES / program_seconds(self.network))
            for probe in probes(self.network, self.domain, programs=programs):
                found.append(probe.product)
                # Whether there are far too many shows soon; how many, when there are more ways.
                if len(found) == NUM_PROBES and statistics.median_low(found) <= self.most:
                    break
            if statistics.median_low(found) > self.most:
                # The logarithm of an integer of any size.
                size = len(str(sum(found) // len(found))) - 1
                ways = f"{len(found)} random way{'s' * (len(found) > 1)} down the tree"
                answer = Stop(StopReason.HOPELESS, details=f"about 10^{size} regions, by {ways}")
                warnings.warn(
                    f"stopped early, and claims LOWER: there are about 10^{size} regions, by {ways}; give "
                    "budget=Budget(seconds=60) to have work go on for as long as that",
                    stacklevel=2,
                )
            self._answers.append(answer)
        return self._answers[0]
