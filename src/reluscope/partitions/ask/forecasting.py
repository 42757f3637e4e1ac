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
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from statistics import fmean

import numpy as np
from scipy.special import gammaincinv, stdtrit

from reluscope.arguments import Positive, Seed, read_arguments
from reluscope.budget import Budget
from reluscope.effort import Effort
from reluscope.findings import Column, Findings, Kind, declare
from reluscope.findings.derived import lowest_mean
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.networks.evaluation.choices import read_domain
from reluscope.networks.evaluation.measured_rounding import MeasuredRounding
from reluscope.networks.evaluation.pass_time import pass_seconds
from reluscope.networks.network import Network
from reluscope.partitions.ask.dispatch import RegionSearch, cells_found, partition
from reluscope.partitions.ask.engine_choice import MAX_VERTICES
from reluscope.partitions.ask.region_density import RegionDensity, region_density
from reluscope.partitions.ask.sub_domains import SubDomains
from reluscope.partitions.complexes import bends
from reluscope.partitions.doubts.walk_rounding import Rounding, rounding_of
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.tree.probes import probes
from reluscope.stopping import is_interrupted
from reluscope.tolerance import Tolerance

# Relative to the extent of a window: corners this near to a side are on it.
AT_SIDE = 1e-9
REGIONS = declare(
    "forecast_regions", "proper activation regions (full-dimensional) that a partition would have", kind=Kind.COUNT
)
SECONDS = declare("forecast_seconds", "time that a partition would take on this machine", unit="s")

# How often an interval is to hold the truth, were windows' numbers normal, and how often it was found to.
LEVEL, CONFIDENCE = 0.95, 0.9
# Windows, and regions of each, of the first and of the last rounds; and by how many times more a round may have.
FIRST_WINDOWS, MAX_WINDOWS, FIRST_SIZE, MAX_SIZE = 32, 256, 4.0, 64.0
MAX_GROWTH, MIN_GROWTH = 4.0, 1.5
# Windows that are begun whatever the time, and the multiple of the regions expected of one at which it is left.
MIN_WINDOWS, MAX_CROWD = 4, 100
# What is left of the time is not all planned for: windows differ.
PLANNED = 0.6
# Of the time that is left, for a look at codes, and whether the domain itself can be partitioned.
LOOKED, TRIED = 0.25, 0.2
# Work without a limit on seconds, and what a point takes beside its pass, in the seconds of `pass_seconds`.
EFFORT, BESIDE = 2.0, 2.5e-6
PASSES_OF_A_BOX, PASSES_OF_A_CELL = 40, 4
MIN_BOXES, MAX_BOXES, MIN_CELLS, GUARD = 32, 2048, 200, 600.0
# Where windows do not serve, and without a limit on seconds: regions that a partition may have, and ways down the tree.
FEW_REGIONS, NUM_PROBES = 1000, 64
# Of all that windows count, what one of them may have: an upper end means little beyond it.
MAX_SHARE = 0.25
# Power of the number of regions that the time of large networks grows with.
# A pass for each unit that bends is one for the root of the regions, and each of them takes something beside.
ROWS = 0.75


@dataclass(frozen=True)
class Round:
    """What windows of about one number of regions have given."""

    counts: np.ndarray  # (k,) cells of each window that stand for a region
    weights: np.ndarray  # (k,) number of such windows each one stands for
    num_cells: int  # all cells of the windows
    seconds: float  # time the windows have taken
    num_undecided: int = 0  # signs that rounding hid

    @property
    def rate(self) -> float:
        """Seconds of a cell."""
        return self.seconds / self.num_cells

    def rate_beyond(self, first: "Round") -> float:
        """Return the seconds of a cell without those of a window, as windows of fewer cells tell them."""
        number, before = len(self.counts), len(first.counts)
        cells = self.num_cells / number - first.num_cells / before
        if cells <= 0:
            return self.rate
        return float(np.clip((self.seconds / number - first.seconds / before) / cells, 0.2 * self.rate, self.rate))

    def seconds_of(self, regions: float, first: "Round", power: float | None) -> float:
        """Return the time of so many regions: as long a one as in the windows, or as a power of their number says."""
        if power is None:
            return self.rate_beyond(first) * regions
        number = len(self.counts)
        return self.seconds / number * max(1.0, regions * number / self.num_cells) ** power

    @property
    def regions(self) -> float:
        """The estimate of the number of regions; there is always one.

        Where no window has one, the number under which that is as likely as not: that of small windows is no zero.
        """
        found = float((self.counts * self.weights).mean())
        return max(1.0, found or float(gammaincinv(1, 0.5)) * self._each)

    @property
    def _each(self) -> float:
        """For how many regions one that was found stands."""
        total = int(self.counts.sum())
        return (
            float((self.counts * self.weights).mean()) / total
            if total
            else float(self.weights.mean()) / len(self.counts)
        )

    @property
    def interval(self) -> tuple[float, float]:
        """Ends between which the number lies; the upper one is infinite where a few windows outweigh all others.

        The lower end rests on nothing but the mean of numbers that are not negative. The upper one takes windows to be
        about normal, but for their skewness, and is at least that of rare events.
        """
        number, total = len(self.counts), int(self.counts.sum())
        given = self.counts * self.weights
        low = lowest_mean(given, (1 - LEVEL) / 2)
        if given.max() > MAX_SHARE * given.sum():
            return min(self.regions, max(1.0, low)), np.inf
        middle, spread = float(given.mean()), float(given.std(ddof=1))
        quantile = float(stdtrit(number - 1, (1 + LEVEL) / 2))
        skewness = float(((given - middle) ** 3).mean()) / spread**3 if spread else 0.0
        quantile += max(0.0, skewness) * (1 + 2 * quantile**2) / (6 * number**0.5)  # Johnson 1978
        # Half the quantile of chi-squared with 2 total + 2 degrees of freedom.
        rare = float(gammaincinv(total + 1, (1 + LEVEL) / 2)) * self._each
        return min(self.regions, max(1.0, low)), max(self.regions, middle + quantile * spread / number**0.5, rare)


@dataclass(frozen=True)
class ForecastEffort:
    """How much a forecast may take."""

    boxes: int  # number in which the density of regions is estimated
    cells: float  # of all windows together
    until: float  # monotonic seconds after which no window is begun

    @property
    def seconds(self) -> float:
        """Seconds to plan with: without end where cells are limited, which alone decide then."""
        return self.until - time.monotonic() if np.isinf(self.cells) else np.inf

    def after(self, done: Round) -> "ForecastEffort":
        """Return what is left after a round of windows."""
        return replace(self, cells=self.cells - done.num_cells)

    def part(self, share: float) -> Budget:
        """Return the budget of a partition that may take a share of what is left."""
        regions = None if np.isinf(self.cells) else max(1, int(share * self.cells))
        return Budget(regions=regions, seconds=max(0.0, share * (self.until - time.monotonic())))

    @classmethod
    def of(cls, network: Network, seconds: float | None) -> "ForecastEffort":
        """Return the effort that takes so many seconds, or as many passes as `EFFORT` says without them."""
        if seconds is not None:
            return cls(MAX_BOXES, np.inf, time.monotonic() + seconds)
        passes = EFFORT / (pass_seconds(network) + BESIDE)
        boxes = int(np.clip(passes / PASSES_OF_A_BOX, MIN_BOXES, MAX_BOXES))
        return cls(boxes, max(MIN_CELLS, passes / PASSES_OF_A_CELL), time.monotonic() + GUARD)


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


def rounds(
    network: Network, domain: Domain, effort: "ForecastEffort", seed: int, rounding: Rounding = "proved"
) -> Iterator[Round]:
    """Yield rounds of windows, larger ones and then more of them, until the effort does not suffice for the next."""
    where, draw, size = SubDomains.of(domain), np.random.default_rng(seed), FIRST_SIZE
    looked = time.monotonic() + LOOKED * effort.seconds
    density = region_density(network, domain, where, effort.boxes, looked, draw)
    number = FIRST_WINDOWS
    while True:
        found = _round(network, where, density, number, size, draw, until=effort.until, rounding=rounding)
        yield found
        effort = effort.after(found)
        room = min(effort.cells / found.num_cells, effort.seconds / found.seconds)
        growth = min(MAX_GROWTH, PLANNED * room)
        if growth < MIN_GROWTH or number >= MAX_WINDOWS:
            return
        number, size = (number, size * growth) if size < MAX_SIZE else (int(number * growth), size)


def _round(
    network: Network,
    where: SubDomains,
    density: RegionDensity,
    number: int,
    size: float,
    draw: np.random.Generator,
    *,
    until: float,
    rounding: Rounding,
) -> Round:
    """Partition windows of about so many regions, as many as are asked for or time suffices for."""
    began = time.monotonic()
    dim = len(where.low)
    # Parallel to no edge, but for an accident.
    direction = draw.standard_normal(dim) / (where.high - where.low)
    # One place in each of as many equal shares of all chances.
    chances = density.chances
    places = (draw.permutation(number) + draw.random(number)) / number
    cells = np.minimum(np.searchsorted(np.cumsum(chances), places), len(chances) - 1)
    counts, weights, num_cells, num_undecided = [], [], 0, 0
    for cell in cells.tolist():
        # Whether a window is begun does not hang on what is in it.
        if len(counts) >= MIN_WINDOWS and time.monotonic() > until:
            break
        halvings = density.halvings(cell, size)
        sides = density.sides[cell] / 2.0**halvings
        low = density.low[cell] + draw.integers(2**halvings, size=dim) * sides
        weights.append(2.0 ** (dim * halvings) / chances[cell])
        inside = where.inside(low, low + sides)
        counts.append(0)
        if inside is not None:
            part = cells_found(
                network, inside, Effort(Budget(regions=int(MAX_CROWD * size))), RegionSearch(rounding=rounding)
            )
            _stop_if_interrupted(part)
            counts[-1] = _count_lowest(part, direction, low, low + sides, where)
            num_cells += len(part)
            num_undecided += part.num_undecided
    took = time.monotonic() - began
    return Round(np.array(counts), np.array(weights), max(1, num_cells), took, num_undecided)


def _count_lowest(part: Partition, direction: np.ndarray, low: np.ndarray, high: np.ndarray, where: SubDomains) -> int:
    """Return how many cells have their lowest corner off the sides of the window that are none of the domain's."""
    offsets, ids = part.region_vertices
    corners = part.vertices[ids]
    heights = corners @ direction
    lowest = np.minimum.reduceat(heights, offsets[:-1])
    rows = np.repeat(np.arange(len(part)), np.diff(offsets))
    first = np.flatnonzero(heights == lowest[rows])
    first = first[np.unique(rows[first], return_index=True)[1]]
    near = AT_SIDE * (high - low)  # the corners of cells on a window's side are rounded
    at_low = (np.abs(corners[first] - low) <= near) & (low > where.low)
    at_high = (np.abs(corners[first] - high) <= near) & (high < where.high)
    return int(np.count_nonzero(~(at_low | at_high).any(axis=1)))


def _stop_if_interrupted(part: Partition) -> None:
    if is_interrupted(part.stop):
        raise KeyboardInterrupt


def _whole(network: Network, domain: Domain, budget: Budget) -> Findings | None:
    began = time.monotonic()
    part = partition(network, domain, budget=budget)
    _stop_if_interrupted(part)
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
    _stop_if_interrupted(part)
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
