"""The largest window about the middle of a domain whose exact partition comes to its end within a budget.

Where a budget limits regions, they alone decide what is done, and seconds only end it; else seconds decide.
"""

import time
from dataclasses import dataclass, replace
from math import inf, isfinite

from reluscope.arguments import read_arguments
from reluscope.budget import LEAST_SECONDS, Budget, RegionBudget
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.findings import Column, Findings
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.networks.evaluation.choices import read_domain
from reluscope.networks.evaluation.pass_time import pass_seconds, region_seconds
from reluscope.networks.network import Network
from reluscope.partitions.ask.coarse_partitions import coarse_partition
from reluscope.partitions.ask.forecasting import forecast
from reluscope.partitions.ask.region_search import RegionSearch, cells_found, partitioned, walking
from reluscope.partitions.ask.sub_domains import SubDomains
from reluscope.partitions.doubts.shown_regions import shown
from reluscope.partitions.doubts.walk_rounding import rounding_of
from reluscope.partitions.partition_in_memory import Partition
from reluscope.progress import Progress, share_done
from reluscope.stopping import INTERRUPTED, is_by_budget, is_interrupted
from reluscope.tolerance import Tolerance

# A partition is hopeless that is forecast to take longer than this, and to have or take so many times what is allowed.
MIN_SECONDS, MIN_TIMES = 10.0, 10.0
# An estimate without bias is so many times too large in one of so many cases, at most.
UNLIKELY = 10.0
# Of the seconds allowed, if any are: for the forecast (and no more than three), and for the coarse partition.
FORECAST, MAX_FORECAST, COARSE = 0.1, 3.0, 0.2
# Seconds for the partition before anything is forecast, where a point takes less than the second number; and the share
# of a limit on seconds after which this ends where regions are limited, too.
TRIED, PROMPT, TRIED_SHARE = 1.0, 0.005, 0.25
# Sides of the first window, of the domain's, and how many times larger the next may be.
FIRST_SCALE, MAX_GROWTH = 2.0**-14, 8.0
# No window is tried that is larger by less than this; the next is to take this part of what is left.
MIN_GROWTH, PLANNED = 1.1, 0.5
# Of a limit on regions, what the next window is to have.
AIMED = 0.9


@dataclass(frozen=True)
class Affordable:
    """What a budget suffices for."""

    part: Partition  # of the domain, or of a window about its middle
    expected: Findings | None = None  # the forecast, where ``part`` is of a window
    coarse: Partition | None = None  # all of the domain by the first gates, if ``part`` is not


def affordable(network: Network, domain: Domain, effort: Effort) -> Affordable:
    """Return the partition of a bounded domain, or what a budget suffices for where that is hopeless.

    With a budget the number of regions and the time are forecast first. Where less than a tenth would be done, a window
    about the middle that finishes says more than some regions at an edge.
    """
    budget = effort.budget
    expected = tried = None
    try:
        if (budget.regions is not None or budget.seconds is not None) and network.gates and budget.seconds_allowed > 0:
            # What is plainly small is there before anything could be said of it.
            if pass_seconds(network) < PROMPT and budget.seconds_allowed > 2 * TRIED:
                tried = partitioned(network, domain, effort.within(_first(network, budget)))
                if not tried.num_open or is_interrupted(tried.stop):
                    return Affordable(tried)
            expected = _forecast_if_hopeless(network, domain, budget)
        found = _afforded(network, domain, effort, expected)
    except KeyboardInterrupt:
        if tried is None:
            raise
        return Affordable(replace(tried, stop=INTERRUPTED))
    if tried is not None and is_interrupted(found.part.stop) and expected is None and len(tried) > len(found.part):
        return Affordable(replace(tried, stop=INTERRUPTED))
    return found


def _first(network: Network, budget: Budget) -> Budget:
    """Return what is tried before anything is forecast: about a second of work."""
    if budget.regions is None:
        return Budget(seconds=TRIED)
    regions = int(TRIED / region_seconds(network))
    seconds = None if budget.seconds is None else TRIED_SHARE * budget.seconds
    return Budget(regions=min(budget.regions, regions), seconds=seconds)


def _forecast_if_hopeless(network: Network, domain: Domain, budget: Budget) -> Findings | None:
    """Return what a partition would take, where that is many times what is allowed."""
    seconds = FORECAST * budget.seconds_allowed
    ahead = forecast(network, domain, seconds=None if seconds >= MAX_FORECAST else seconds)
    expected, seconds = (float(ahead[name].value[0]) for name in ("forecast_regions", "forecast_seconds"))
    regions = _at_least(ahead["forecast_regions"])
    times = max(regions / max(1.0, budget.room(0)), seconds * regions / expected / budget.seconds_allowed)
    takes = expected * region_seconds(network)
    return ahead if times > MIN_TIMES and takes > MIN_SECONDS else None


def _afforded(network: Network, domain: Domain, effort: Effort, expected: Findings | None) -> Affordable:
    """Return the partition, or that of a window where the whole is forecast to be hopeless, and the first gates."""
    budget = effort.budget
    seconds = None if budget.seconds is None else (1 - COARSE) * budget.seconds
    if expected is not None:
        part = window_within(network, domain, replace(budget, seconds=seconds), progress=effort.progress)
    else:
        part = partitioned(network, domain, effort)
    if is_interrupted(part.stop) or (expected is None and not is_by_budget(part.stop)):
        return Affordable(part, expected)
    rest = Budget(regions=budget.regions, seconds=None if budget.seconds is None else COARSE * budget.seconds)
    coarse = coarse_partition(network, domain, rest)
    if is_interrupted(coarse.stop):
        part = replace(part, stop=INTERRUPTED)
    return Affordable(part, expected, None if coarse.num_open else coarse)


def _at_least(column: Column) -> float:
    """Return what a forecast number hardly is below: of few windows the lower end says too little.

    What has no ends, from random ways down the tree, says nothing.
    """
    value, lower = column.value[0], column.lower[0]
    return max(lower, value / UNLIKELY) if isfinite(lower) else 0.0


@read_arguments
def window_within(network: Network, domain: Domain, budget: RegionBudget, *, progress: Progress = False) -> Partition:
    """Partition the largest window about the middle of a domain that a budget allows.

    Windows ``center + s (domain - center)`` grow from a small one. Sizes are predicted from the regions and
    runtimes of earlier windows. Growth ends if the next window would be hardly larger or is not finished.

    Parameters
    ----------
    network : Network
    domain : Slice, Box or bounded Polyhedron
    budget : Budget
        Regions of the window, seconds for all windows together, or both. The first window is always finished. For
        networks too deep for proofs, a fifth of the seconds confirms regions.
    progress : bool or callable
        Show progress; a function receives the share done, from 0 to 1.

    Returns
    -------
    Partition
        A finished partition, with its usual claim, in the coordinates of the domain; its `domain` is the window. If
        the budget suffices, the window is the domain itself. Ctrl-C returns the largest finished window, with
        ``note="interrupted"``.

    Raises
    ------
    InputError
        If the budget has no limit.
    DegenerateGeometryError
        If the domain is unbounded, empty or flat.
    ShapeError
        If the domain's dimension is not the network's number of inputs.

    Notes
    -----
    A smaller window seldom has more regions. The largest window for a number of regions is therefore well defined,
    up to the tenth by which windows are distinguished. The windows before the last take about a third of the time.

    Examples
    --------
    >>> import reluscope as rs
    >>> from reluscope.testing import default_network
    >>> net = rs.load(default_network([2, 64, 64, 64, 1]))
    >>> part = rs.window_within(net, rs.Box(-1, 1, 2), rs.Budget(regions=500))
    >>> 300 < len(part) <= 500, part.claim, 0 < part.domain.volume() < 4
    (True, <Claim.EXACT: 'EXACT'>, True)
    """
    read_domain(domain, network.num_inputs)
    if budget.regions is None and budget.seconds is None:
        raise InputError("budget must have a limit, got none: give rs.Budget(regions=1000), or seconds")
    began, where = time.time(), SubDomains.of(domain)
    scale, failed = FIRST_SCALE, inf
    until, growing = began + budget.seconds_allowed, walking(budget, network)
    with share_done("windows", progress) as tell:
        how = RegionSearch(rounding=rounding_of(network, domain, Tolerance()) or "proved")
        best = cells_found(network, where.about_center(scale), asked=how)
        while scale < 1 and not is_interrupted(best.stop):
            left = growing.seconds_allowed - (time.time() - began)
            larger = min(1.0, scale * min(_growth_of(best, budget, left), (failed / scale) ** 0.5))
            if left <= 0 or (larger < MIN_GROWTH * scale and larger < 1):
                break
            most = None if budget.regions is None else budget.regions + 1
            limit = replace(budget, regions=most, seconds=left)
            tried = cells_found(network, where.about_center(larger), Effort(limit), how)
            if is_interrupted(tried.stop):
                best = replace(best, stop=INTERRUPTED)
                break
            if tried.num_open or len(tried) > budget.room(0):
                failed = larger
            else:
                best, scale = tried, larger
            tell(min(1.0, max(len(best) / max(1, budget.room(0)), 1 - left / growing.seconds_allowed)))
    return shown(best, None if budget.seconds is None else until, only_share=budget.regions is not None)


def _growth_of(best: Partition, budget: Budget, left: float) -> float:
    """Return by what the sides of the next window may be longer, as the number of cells goes with the volume."""
    if len(best) == 1:  # not cut at all: that says nothing of larger windows
        return MAX_GROWTH
    most = min(AIMED * budget.room(0) / len(best), MAX_GROWTH**best.dim)
    each = max(best.work["seconds"], LEAST_SECONDS)
    if budget.regions is None or most * each > left:
        most = min(most, PLANNED * max(0.0, left) / each)
    return most ** (1 / best.dim)
