"""Counts of several networks as a table: of small ones of one shape together, of others one after the other."""

import time
from collections.abc import Callable, Sequence

import numpy as np

from reluscope.analyses.counting.by_partition import count_by_partition
from reluscope.analyses.counting.counted import Counted
from reluscope.budget import Budget, Remainder
from reluscope.effort import Effort
from reluscope.findings import Column, Finding, Findings, Kind, declare
from reluscope.geometry.polyhedra.domains import Box, Domain
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.models.stacked_networks import StackedNetworks
from reluscope.networks.network import Network
from reluscope.partitions.ask.engine_choice import are_cut_together
from reluscope.partitions.ask.region_search import check_question, in_place
from reluscope.partitions.cells.cell_count import count_stacked
from reluscope.stopping import Stop, is_interrupted

NUM_REGIONS = declare("num_regions", "linear regions of the network on the domain", kind=Kind.COUNT)
METHOD = "gate-by-gate subdivision, cells of all networks together"


def count_each(
    networks: StackedNetworks | Sequence[Network],
    domain: Domain,
    effort: Effort,
    count_one: Callable[[Network, Effort], Counted],
    *,
    together: bool,
    given: str,
) -> Findings:
    """Return how many regions each network has, ``together`` if the question allows for that."""
    began = time.time()
    stop: Stop | None = None
    if together and isinstance(networks, StackedNetworks) and are_cut_together(domain):
        column, stop = _together(networks, domain, effort, given)
        reached = len(networks)
    else:
        found: list[Finding | None] = []
        for index in range(len(networks)):
            one = count_one(networks[index], effort.within(_left(effort.budget, began)))
            found.append(one.finding)
            if is_interrupted(one.stop) or effort.budget.spent(0, began):
                stop = one.stop
                break
        reached = len(found)
        column = Column.of_findings(NUM_REGIONS, found + [None] * (len(networks) - reached), given=given)
    keys = {"network": np.arange(len(networks))}
    seconds = time.time() - began
    return Findings.of(column, keys=keys, reached=reached, domain=domain.describe(), stop=stop, seconds=seconds)


def _left(budget: Budget, began: float) -> Budget:
    return budget if budget.seconds is None else Remainder.of(budget, began + budget.seconds)


def _together(stack: StackedNetworks, domain: Domain, effort: Effort, given: str) -> tuple[Column, Stop | None]:
    """Return the numbers of regions of networks that are cut together."""
    assert isinstance(domain, Box | Polyhedron)
    check_question(stack.first, domain, "cellwise")
    with effort.counting("count") as counting:
        found = count_stacked(stack, domain, counting)
    value = found.sure.astype(np.float64)
    upper = np.where(found.has_doubts | ~found.is_whole, np.inf, value)
    lower = value.copy()
    for index in np.flatnonzero(found.is_torn).tolist():  # facets do not fit together: regions have to show themselves
        alone = count_by_partition(stack[index], domain, effort=Effort(tolerance=effort.tolerance)).finding
        value[index] = float(alone)
        lower[index], upper[index] = alone.interval or (float(alone), float(alone))
    return Column.of(
        NUM_REGIONS, value, lower, upper, method=METHOD + in_place(stack.first), given=given
    ), found.walked.stop
