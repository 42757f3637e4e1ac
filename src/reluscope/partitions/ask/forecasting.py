"""How many regions a partition would have, and how long it would take, before it is begun.

A region of a partition has one lowest corner in a direction that is parallel to none of its edges. It lies in a window,
away from the window's own sides, if and only if the part of the region in the window has the same lowest corner, since
regions are convex. So the number of such cells of a window, times the number of windows of its size that fill the
domain, is an estimate of the number of regions without bias, and so is its quotient by the chance to look at this
window, whatever chances are given to windows. Small windows, and good chances, go where codes say that regions crowd.
(Crossings of random chords do with fewer evaluations, but tell the number only of regions that lie as those of random
lines do.)
"""

import time
from itertools import islice
from statistics import fmean

import numpy as np

from reluscope.arguments import Positive, Seed, read_arguments
from reluscope.budget import Budget
from reluscope.findings import Column, Findings, Kind, declare
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.networks.evaluation.choices import read_domain
from reluscope.networks.evaluation.measured_rounding import MeasuredRounding
from reluscope.networks.network import Network
from reluscope.partitions.ask.dispatch import partition
from reluscope.partitions.ask.engine_choice import MAX_VERTICES
from reluscope.partitions.ask.forecast_rounds import (
    CONFIDENCE,
    GUARD,
    TRIED,
    ForecastEffort,
    Round,
    rounds,
    stop_if_interrupted,
)
from reluscope.partitions.complexes import bends
from reluscope.partitions.doubts.walk_rounding import rounding_of
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.tree.probes import probes
from reluscope.tolerance import Tolerance

REGIONS = declare(
    "forecast_regions", "proper activation regions (full-dimensional) that a partition would have", kind=Kind.COUNT
)
SECONDS = declare("forecast_seconds", "time that a partition would take on this machine", unit="s")

# Where windows do not serve, and without a limit on seconds: regions that a partition may have, and ways down the tree.
FEW_REGIONS, NUM_PROBES = 1000, 64
# Power of the number of regions that the time of large networks grows with.
# A pass for each unit that bends is one for the root of the regions, and each of them takes something beside.
ROWS = 0.75


@read_arguments
def forecast(network: Network, domain: Domain, *, seconds: Positive | None = None, seed: Seed = 0) -> Findings:
    """Forecast the number of regions of a partition of a domain, and its runtime.

    Random windows of the domain, most of them where regions are dense, are partitioned exactly. Each region is
    counted by the window that holds its lowest corner. Windows grow until the effort is spent, or until it suffices
    for the whole domain and no forecast is needed.

    Parameters
    ----------
    network : Network
    domain : Slice, Box, Space or Polyhedron
    seconds : float, optional
        Approximate runtime; results then depend on the machine. Without it the effort is a number of forward
        passes, a second or two for most networks, and results depend on the seed alone unless ten minutes end it.
        The first windows are finished whatever their runtime.
    seed : int
        Determines the positions of windows.

    Returns
    -------
    Findings
        ``forecast_regions``: EXACT if the whole domain was partitioned, else an ESTIMATE with an interval that
        contains the true number in nine of ten forecasts. Its upper end is infinite if a few windows outweigh all
        others. A note reports where rounding hid signs: there may be more regions. ``forecast_seconds``: an
        ESTIMATE without an interval, for one process of this machine. On unbounded domains, and in more than eight
        dimensions, the number comes from random paths down the tree of linear programs (Knuth) instead of windows:
        a size without an interval, most often too small.

    Raises
    ------
    DegenerateGeometryError
        If the domain is empty or flat.
    ShapeError
        If the domain's dimension is not the network's number of inputs.
    KeyboardInterrupt
        At Ctrl-C: unfinished windows give no information on the domain.

    Notes
    -----
    Cost: the network is evaluated once for each corner of each window, and for each vertex in it.

    The lower end relies only on the mean of nonnegative numbers (bets at fair odds), the upper end on a Student's
    interval corrected for skewness. Tests measure how often both hold, on networks whose kinks are spread over the
    domain and on some whose kinks crowd in a millionth of its width.

    Examples
    --------
    >>> import reluscope as rs
    >>> from reluscope.testing import default_network
    >>> net = rs.load(default_network([2, 16, 16, 1]))
    >>> expected = rs.forecast(net, rs.Box(-1, 1, 2))
    >>> expected.finding("forecast_regions").value == len(rs.partition(net, rs.Box(-1, 1, 2)))
    True
    """
    read_domain(domain, network.num_inputs)
    effort = ForecastEffort.of(network, seconds)
    if not domain.is_bounded() or domain.dim > MAX_VERTICES:
        return _by_probes(network, domain, seconds, seed)
    rounding = rounding_of(network, domain, Tolerance())
    power = ROWS if domain.dim == 2 and bends.pay(network) else None
    first, last, tried = None, None, False
    for last in rounds(network, domain, effort, seed, rounding or "proved"):
        effort = effort.after(last)
        first = first or last
        most = last.interval[1]
        fits = most < effort.cells and last.seconds_of(most, first, power) < effort.seconds
        # Where windows take next to nothing, a fifth of the effort tells whether the domain is a small one.
        if fits or (not tried and last.num_cells < TRIED * effort.cells and last.seconds < TRIED * effort.seconds):
            tried = True
            if (found := _whole(network, domain, effort.part(1.0 if fits else TRIED))) is not None:
                return found
    assert first is not None
    assert last is not None
    return _table(domain, last, last.seconds_of(last.regions, first, power), power, rounding)


def _whole(network: Network, domain: Domain, budget: Budget) -> Findings | None:
    began = time.monotonic()
    part = partition(network, domain, budget=budget)
    stop_if_interrupted(part)
    if part.num_open:
        return None
    return _known(part, time.monotonic() - began)


def _known(part: Partition, took: float) -> Findings:
    """Return what is left to say of a partition that was finished."""
    regions = Column.of_findings(REGIONS, [part.finding()], method="the partition itself")
    return Findings.of(regions, _seconds(took, "as the partition took"), domain=part.domain.describe())


def _table(
    domain: Domain, last: Round, seconds: float, power: float | None, rounding: MeasuredRounding | None = None
) -> Findings:
    low, high = last.interval
    method = f"{len(last.counts)} random windows with {last.num_cells:,} cells in all, partitioned exactly"
    regions = Column.of(
        REGIONS,
        [_two_digits(last.regions)],
        [_two_digits(low, -1)],
        [_two_digits(high, 1)],
        method=method,
        confidence=CONFIDENCE,
    )
    hidden = f"Rounding hid {last.num_undecided:,} signs in the windows, so that there may be more regions."
    if rounding is not None:
        hidden = (
            f"No proof decides {last.num_undecided:,} signs in the windows, and measured rounding does: {rounding}."
        )
    notes = (hidden,) if last.num_undecided else ()
    how = "as long a region" if power is None else f"regions to the power of {power}, each as long"
    how += " as in the windows, on this machine"
    return Findings.of(regions, _seconds(seconds, how), domain=domain.describe(), seconds=last.seconds, notes=notes)


def _seconds(value: float, method: str) -> Column:
    return Column.estimate(SECONDS, [_two_digits(value)], method=method)


def _two_digits(value: float, direction: int = 0) -> float:
    """Return a positive number with two digits: the nearest, or the next below or above; infinity stays."""
    if np.isinf(value):
        return value
    step = 10.0 ** (np.floor(np.log10(value)) - 1)
    rounding = {-1: np.floor, 0: np.round, 1: np.ceil}[direction]
    return float(rounding(value / step)) * step


def _by_probes(network: Network, domain: Domain, seconds: float | None, seed: int) -> Findings:
    """Forecast from a partition that may not come to its end, and from random ways down the tree."""
    began = time.monotonic()
    few = Budget(regions=FEW_REGIONS, seconds=GUARD) if seconds is None else Budget(seconds=seconds / 2)
    part = partition(network, domain, keep="codes", budget=few)
    took = time.monotonic() - began
    stop_if_interrupted(part)
    if not part.num_open:
        return _known(part, took)
    left = GUARD if seconds is None else max(0.1, began + seconds - time.monotonic())
    found = islice(probes(network, domain, seconds=left, seed=seed), NUM_PROBES if seconds is None else None)
    products = [_float(probe.product) for probe in found]
    number = max(fmean(products), len(part))
    regions = Column.estimate(REGIONS, [number], method=f"{len(products):,} random ways down the tree of programs")
    seconds_each = _seconds(number * took / max(1, len(part)), "as long a region as the first ones")
    return Findings.of(regions, seconds_each, domain=domain.describe())


def _float(whole: int) -> float:
    try:
        return float(whole)
    except OverflowError:
        return float("inf")
