"""Counts cell by cell: bounded domains of some dimensions, and memory that does not grow with the number of regions."""

import os
import time
from math import inf

from reluscope.analyses.counting.by_partition import count_by_partition
from reluscope.analyses.counting.counted import Counted
from reluscope.budget import Remainder
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.findings import Finding
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.networks.network import Network
from reluscope.partitions.ask.engine_choice import choose_engine
from reluscope.partitions.ask.patience import patient
from reluscope.partitions.ask.region_search import check_question, in_place
from reluscope.partitions.cells.cell_count import count_cells

# As many regions are kept, a kB or two each, where facets do not fit together: regions then have to show themselves.
MOST_KEPT = 10**6


def count_by_cells(
    network: Network,
    domain: Domain,
    effort: Effort | None = None,
    *,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Counted:
    """Return the number of full-dimensional activation regions of a network with pointwise gates on a bounded domain.

    EXACT; LOWER without upper end if work stopped early, or rounding left a sign open: cells in doubt then count where
    the network has their code. A checkpoint folder is continued. Where facets do not fit together although no sign is
    open, a partition tells more, or of too many regions the number is an ESTIMATE.
    """
    check_question(network, domain, "cellwise")
    choose_engine(network, domain, "cellwise", keep="codes")
    if not domain.is_bounded():
        raise InputError(
            f'method="cells" counts on bounded domains, got {domain.describe()}: leave method out, or give a Box'
        )
    began, effort = time.time(), effort or Effort()
    budget = effort.budget
    limit = budget if checkpoint is not None else patient(budget, network, domain)
    with effort.counting("count") as counting:
        walked, sure, is_closed = count_cells(network, domain, counting.within(limit), checkpoint=checkpoint)
    is_whole = not walked.left
    is_torn = is_whole and not is_closed and not walked.num_undecided
    if is_torn and sure <= MOST_KEPT:
        left = budget if budget.seconds is None else Remainder.of(budget, began + budget.seconds)
        return count_by_partition(network, domain, effort=effort.within(left))
    finding = Finding.of(
        sure,
        lower=0 if is_torn else sure,
        upper=inf if is_torn or walked.num_undecided or not is_whole else sure,
        resolution=effort.tolerance.resolution,
        name="regions",
        definition="proper activation regions (full-dimensional)",
        domain=domain.describe(),
        method=f"gate-by-gate subdivision, cell by cell, for {domain.dim} dimensions; cells are counted and dropped"
        + in_place(network),
        num_undecided=walked.num_undecided,
        work=dict(walked.work) | {"seconds": time.time() - began},
    )
    return Counted(finding, walked.stop)
