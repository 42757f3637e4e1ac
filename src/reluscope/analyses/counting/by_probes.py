"""Estimates of counts from random ways down the tree of linear programs: in seconds, however many regions there are."""

import time
from math import inf

from reluscope.analyses.counting.counted import Counted
from reluscope.analyses.counting.definitions import DEFINITIONS
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.findings import Finding
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.networks.evaluation.pass_time import program_seconds
from reluscope.networks.network import Network
from reluscope.partitions.tree.probes import probes

# Seconds of programs where no limit is given, but some programs in any case.
SECONDS, FEWEST_PROGRAMS = 10.0, 1_000


def count_by_probes(network: Network, domain: Domain, effort: Effort) -> Counted:
    """Estimate the number of full-dimensional activation regions of a network on a domain.

    Mean over random ways down the tree of the product of the numbers of parts at each unit (``knuth1975``). ESTIMATE
    without an interval; most estimates are below the truth. A linear program per unit and way.
    """
    began = time.perf_counter()
    budget = effort.budget
    if budget.regions is not None:
        raise InputError(
            f"probes visit no regions to stop after, got a budget of {budget.regions:,}: give seconds, as in "
            "budget=Budget(seconds=10)"
        )
    programs = max(FEWEST_PROGRAMS, SECONDS / program_seconds(network)) if budget.seconds is None else inf
    found = probes(network, domain, programs=programs, seconds=budget.seconds_allowed, tolerance=effort.tolerance)
    products = [float(probe.product) for probe in found if probe.is_whole]
    if not products:
        limit = f"{programs:,.0f} programs" if budget.seconds is None else f"{budget.seconds:g} s"
        raise InputError(
            f"not one way down the tree came to its end within {limit}: give more, as in "
            f"budget=Budget(seconds={10 * (budget.seconds or SECONDS):g})"
        )
    finding = Finding.estimate(
        sum(products) / len(products),
        name="regions",
        definition=DEFINITIONS["proper_activation"].regions,
        domain=domain.describe(),
        method=f"{len(products):,} random ways down the tree of linear programs",
        source="knuth1975",
        work={
            "probes": len(products),
            "smallest_product": min(products),
            "largest_product": max(products),
            "seconds": time.perf_counter() - began,
        },
    )
    return Counted(finding, None)
