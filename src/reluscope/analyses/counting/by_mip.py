"""Counts by mixed-integer programs, one per code: the method of Serra, Tjandraatmadja and Ramalingam (2018)."""

import time
from collections.abc import Callable

from reluscope.analyses.counting.code_search import MIN_MARGIN, CodeSearch
from reluscope.analyses.counting.counted import Counted
from reluscope.analyses.counting.definitions import DEFINITIONS
from reluscope.budget import Budget
from reluscope.findings import Finding
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.networks.network import Network
from reluscope.partitions.ask.patience import patient
from reluscope.partitions.driver.walk import Step, walk
from reluscope.progress import Progress, counting_regions


def count_by_mip(
    network: Network, domain: Domain, *, budget: Budget | None = None, progress: Progress = False
) -> Counted:
    """Return the number of activation regions of a network on a bounded domain, those without interior included.

    Parameters
    ----------
    network : Network
        Any gates.
    domain : Box, bounded Polyhedron, or Slice
        Regions that meet it only in its boundary count.
    budget : Budget, optional
        Where to stop early.
    progress : bool or callable
        Show how many regions there are so far; what share of all they are is not known.

    Returns
    -------
    finding : Finding
        LOWER: every region counted has a point in rational arithmetic. Codes that the solver found, and no such point,
        are its `num_undecided`. That there is no further code, where the solver says so, holds for codes with a point
        where all active units are above 0 by `tolerance` times the sum of the magnitudes of what they sum, and within
        the solver's own tolerance: the interval has no upper end.
    stopped : str
        The budget that ended the work, or "interrupted".

    Raises
    ------
    InputError, ShapeError, DegenerateGeometryError
        If the domain is not bounded, has another dimension than the input, or has no interior.
    SolverError
        If the solver gives no answer.

    Notes
    -----
    One program per region and one more to see that there is no other, each with one row more: some 10 ms each for a few
    units, 60 ms for 16 units and 150 regions: `count_by_rational_tree` proves more in less time, on few inputs. Where a
    unit has several breakpoints, or takes a largest candidate, "above 0" means above the breakpoints, and
    the earlier candidates, that its piece is above. Ctrl-C takes effect when the program under way has ended.

    References
    ----------
    Key ``serra2018``.

    Examples
    --------
    The absolute value: its two units are active on either side, and neither is at 0.

    >>> import reluscope as rs
    >>> net = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> print(count_by_mip(net, rs.Box(-1, 1, 1)).finding)
    3 (LOWER)
    """
    began = time.time()
    budget = patient(Budget() if budget is None else budget, network, domain)
    search = _CodeSearch(CodeSearch(network, domain), lambda: began + budget.seconds_allowed - time.time())
    with counting_regions("count", progress) as count:
        found = walk([search], _CodeSearch.step, budget=budget, began=began, progress=count)
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
    return Counted(finding, found.stopped)


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
