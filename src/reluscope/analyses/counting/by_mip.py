"""Counts by mixed-integer programs, one per code: the method of Serra, Tjandraatmadja and Ramalingam (2018)."""

import time
from collections.abc import Callable
from dataclasses import replace

from reluscope.analyses.counting.code_search import MIN_MARGIN, CodeSearch
from reluscope.analyses.counting.counted import Counted
from reluscope.analyses.counting.definitions import DEFINITIONS
from reluscope.effort import Effort
from reluscope.findings import Finding
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.networks.network import Network
from reluscope.partitions.ask.patience import patient_effort
from reluscope.partitions.driver.walk import Step, walk


def count_by_mip(network: Network, domain: Domain, effort: Effort | None = None) -> Counted:
    """Return the number of activation regions on a bounded domain, those without interior included.

    LOWER, as every region counted has a rational point, without an upper end; codes found without such a point are
    undecided. A program per region; `count_by_rational_tree` proves more in less time, on few inputs.
    """
    began = time.time()
    effort = patient_effort(effort or Effort(), network, domain)
    search = _CodeSearch(CodeSearch(network, domain), lambda: began + effort.budget.seconds_allowed - time.time())
    with effort.counting("count") as count:
        found = walk([search], _CodeSearch.step, effort=replace(count, began=began))
    finding = Finding.of(
        found.num_found,
        upper=float("inf"),
        resolution=MIN_MARGIN,
        name="regions",
        definition=DEFINITIONS["activation"].regions,
        domain=domain.describe(),
        method="mixed-integer program, one solution per code"
        + ("" if found.left else ", until the solver found no more"),
        source="serra2018",
        num_undecided=found.num_undecided,
        work={**search.codes.model.program.work, "seconds": time.time() - began},
    )
    return Counted(finding, found.stop)


class _CodeSearch:
    """A search for codes as `walk` takes it: each step is one mixed-integer program."""

    is_finished = False

    def __init__(self, codes: CodeSearch, seconds_left: Callable[[], float]) -> None:
        self.codes, self._seconds_left = codes, seconds_left

    def __len__(self) -> int:
        return 1

    def step(self, room: float) -> Step:
        """Look for one more code; the first one may take as long as it does."""
        del room
        found = self.codes.next_code(self._seconds_left() if self.codes.num_certain else float("inf"))
        following = [] if self.codes.is_closed else [self]
        if found is None:
            return Step(following)
        return Step(following, int(found.is_certain), int(not found.is_certain))
