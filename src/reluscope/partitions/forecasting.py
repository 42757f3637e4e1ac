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
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from scipy.special import gammaincinv, stdtrit

from reluscope.arguments import Positive, Seed, read_arguments
from reluscope.budget import INTERRUPTED, Budget
from reluscope.findings import Column, Findings, Kind, declare
from reluscope.geometry.domains import Domain
from reluscope.networks.choices import read_domain
from reluscope.networks.measured_rounding import MeasuredRounding
from reluscope.networks.network import Network
from reluscope.partitions import bends
from reluscope.partitions.crowding import Crowding, crowding
from reluscope.partitions.dispatch import cells_found, partition
from reluscope.partitions.engine_choice import MAX_VERTICES
from reluscope.partitions.probes import probes
from reluscope.partitions.sub_domains import SubDomains
from reluscope.partitions.table import Partition
from reluscope.partitions.walk_rounding import Rounding, rounding_of
from reluscope.tolerance import Tolerance

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
LOOKED, TRIED = 0.15, 0.2
# How far the time of a region in a partition may be from that in windows.
RATE_FACTOR = 2.0
# Powers of the number of regions that the time of large networks grows with: as is expected, at least, and at most.
# A pass for each unit that bends is one for the root of the regions, and each of them takes something beside.
ROWS = (0.75, 0.5, 1.0)
ONE_BY_ONE = (None, None, None)


@dataclass(frozen=True)
class Round:
    """What windows of about one number of regions have given.

    Parameters
    ----------
    counts : (k,) int64
        Cells of each window that stand for a region of the domain.
    weights : (k,) float64
        For how many such windows each one stands.
    num_cells : int
        All cells of the windows.
    seconds : float
        What they have taken.
    num_undecided : int
        Signs that rounding hid.
    """

    counts: np.ndarray
    weights: np.ndarray
    num_cells: int
    seconds: float
    num_undecided: int = 0

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
        """Between which ends the number lies: as counts vary, and at least as those of rare events do."""
        number, total = len(self.counts), int(self.counts.sum())
        given = self.counts * self.weights
        spread = float(stdtrit(number - 1, (1 + LEVEL) / 2)) * float(given.std(ddof=1)) / number**0.5
        tail, middle = (1 - LEVEL) / 2, float(given.mean())
        # Halves of quantiles of chi-squared with 2 total, and 2 total + 2, degrees of freedom.
        rare = float(gammaincinv(total, tail)) if total else 0.0, float(gammaincinv(total + 1, 1 - tail))
        low, high = min(middle - spread, rare[0] * self._each), max(middle + spread, rare[1] * self._each)
        return min(self.regions, max(1.0, low)), max(self.regions, high)


@read_arguments
def forecast(network: Network, domain: Domain, *, seconds: Positive = 3.0, seed: Seed = 0) -> Findings:
    """Forecast how many regions a partition of a domain would have, and how long it would take.

    Windows fall on the domain at random, most where regions crowd, and are partitioned exactly. A region is counted by
    the window that holds its lowest corner. Windows grow until the time is over, or until the domain itself can be
    partitioned in time; then there is nothing left to forecast.

    Parameters
    ----------
    network : Network
    domain : Slice, Box, Space or Polyhedron
    seconds : float
        About how long to try. Of networks that take longer than that for a few points, the first windows take as long
        as they take.
    seed : int
        Decides where windows fall.

    Returns
    -------
    Findings
        ``forecast_regions``: EXACT if the whole domain was partitioned in time, else an ESTIMATE with an interval that
        holds the truth in about nine of ten forecasts, where regions do not crowd in a part of the domain that no
        window has met; a note says where rounding hid signs, so that there may be more. ``forecast_seconds``: an
        ESTIMATE, of one process of this machine. On unbounded domains, and in more than eight dimensions, windows do
        not serve: there the number is that of random ways down the tree of linear programs (Knuth), a size without an
        interval, most often too small.

    Raises
    ------
    DegenerateGeometryError
        If the domain is empty or flat.
    ShapeError
        If the domain's dimension is not the network's number of inputs.
    KeyboardInterrupt
        At Ctrl-C: windows that were left early say nothing of the domain.

    Notes
    -----
    Cost: the time given; a network is evaluated once for each corner of each window, and for each vertex in it.

    Examples
    --------
    >>> import reluscope as rs
    >>> from reluscope.testing import default_network
    >>> net = rs.load(default_network([2, 16, 16, 1]))
    >>> expected = rs.forecast(net, rs.Box(-1, 1, 2), seconds=60)
    >>> expected.finding("forecast_regions").value == len(rs.partition(net, rs.Box(-1, 1, 2)))
    True
    """
    read_domain(domain, network.num_inputs)
    until = time.monotonic() + seconds
    if not domain.is_bounded() or domain.dim > MAX_VERTICES:
        return _by_probes(network, domain, until, seed)
    rounding = rounding_of(network, domain, Tolerance())
    powers = ROWS if domain.dim == 2 and bends.pay(network) else ONE_BY_ONE
    first, last, tried = None, None, False
    for last in rounds(network, domain, until, seed, rounding or "proved"):
        left = until - time.monotonic()
        first = first or last
        fits = last.seconds_of(last.interval[1], first, powers[0]) < left
        # Where windows take next to no time, a fifth of it tells whether the domain is a small one.
        if fits or (not tried and last.seconds < TRIED * left):
            tried = True
            if (found := _whole(network, domain, left if fits else TRIED * left)) is not None:
                return found
    assert first is not None
    assert last is not None
    return _table(domain, last, _time(last, first, powers), rounding)


def rounds(network: Network, domain: Domain, until: float, seed: int, rounding: Rounding = "proved") -> Iterator[Round]:
    """Yield rounds of windows, larger ones and then more of them, until there is no time for the next."""
    where, draw, size = SubDomains.of(domain), np.random.default_rng(seed), FIRST_SIZE
    crowded = crowding(network, domain, where, LOOKED * (until - time.monotonic()), draw)
    number, size = FIRST_WINDOWS, FIRST_SIZE
    while True:
        found = _round(network, where, crowded, number, size, draw, until, rounding)
        yield found
        growth = min(MAX_GROWTH, PLANNED * (until - time.monotonic()) / found.seconds)
        if growth < MIN_GROWTH or number >= MAX_WINDOWS:
            return
        number, size = (number, size * growth) if size < MAX_SIZE else (int(number * growth), size)


def _round(
    network: Network,
    where: SubDomains,
    crowded: Crowding,
    number: int,
    size: float,
    draw: np.random.Generator,
    until: float,
    rounding: Rounding,
) -> Round:
    """Partition windows of about so many regions, as many as are asked for or time suffices for."""
    began = time.monotonic()
    dim = len(where.low)
    # Parallel to no edge, but for an accident.
    direction = draw.standard_normal(dim) / (where.high - where.low)
    # One place in each of as many equal shares of all chances.
    chances = crowded.chances
    places = (draw.permutation(number) + draw.random(number)) / number
    cells = np.minimum(np.searchsorted(np.cumsum(chances), places), len(chances) - 1)
    counts, weights, num_cells, num_undecided = [], [], 0, 0
    for cell in cells.tolist():
        # Whether a window is begun does not hang on what is in it.
        if len(counts) >= MIN_WINDOWS and time.monotonic() > until:
            break
        halvings = crowded.halvings(cell, size)
        sides = crowded.sides[cell] / 2.0**halvings
        low = crowded.low[cell] + draw.integers(2**halvings, size=dim) * sides
        weights.append(2.0 ** (dim * halvings) / chances[cell])
        inside = where.inside(low, low + sides)
        counts.append(0)
        if inside is not None:
            part = cells_found(network, inside, budget=Budget(regions=int(MAX_CROWD * size)), rounding=rounding)
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
    near = 1e-9 * (high - low)  # the corners of cells on a window's side are rounded
    at_low = (np.abs(corners[first] - low) <= near) & (low > where.low)
    at_high = (np.abs(corners[first] - high) <= near) & (high < where.high)
    return int(np.count_nonzero(~(at_low | at_high).any(axis=1)))


def _stop_if_interrupted(part: Partition) -> None:
    if part.note == INTERRUPTED:
        raise KeyboardInterrupt


def _whole(network: Network, domain: Domain, seconds: float) -> Findings | None:
    began = time.monotonic()
    part = partition(network, domain, budget=Budget(seconds=seconds))
    _stop_if_interrupted(part)
    if part.num_open:
        return None
    return _known(part, time.monotonic() - began)


def _known(part: Partition, took: float) -> Findings:
    """Return what is left to say of a partition that was finished."""
    regions = Column.of_findings(REGIONS, [part.finding()], method="the partition itself")
    return Findings.of(regions, _seconds(took, took, took, "as the partition took"), domain=part.domain.describe())


def _time(last: Round, first: Round, powers: tuple[float | None, ...]) -> Column:
    """Return the time of all regions, which grows with powers of their number: the expected, least and largest."""
    numbers = zip((last.regions, *last.interval), powers, strict=True)
    value, low, high = (last.seconds_of(number, first, power) for number, power in numbers)
    if powers == ONE_BY_ONE:
        return _seconds(value, low, high, "as long a region as in the windows")
    return _seconds(value, low, high, f"regions to the power of {powers[0]}, from what windows took")


def _table(domain: Domain, last: Round, seconds: Column, rounding: MeasuredRounding | None = None) -> Findings:
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
    return Findings.of(regions, seconds, domain=domain.describe(), seconds=last.seconds, notes=notes)


def _seconds(value: float, low: float, high: float, method: str) -> Column:
    low, high = _two_digits(low / RATE_FACTOR, -1), _two_digits(high * RATE_FACTOR, 1)
    return Column.of(SECONDS, [_two_digits(value)], [low], [high], method=method, confidence=CONFIDENCE)


def _two_digits(value: float, direction: int = 0) -> float:
    """Return a positive number with two digits: the nearest, or the next below or above."""
    step = 10.0 ** (np.floor(np.log10(value)) - 1)
    rounding = {-1: np.floor, 0: np.round, 1: np.ceil}[direction]
    return float(rounding(value / step)) * step


def _by_probes(network: Network, domain: Domain, until: float, seed: int) -> Findings:
    """Forecast from a partition that may not come to its end, and from random ways down the tree."""
    began = time.monotonic()
    part = partition(network, domain, keep="codes", budget=Budget(seconds=max(0.0, (until - began) / 2)))
    took = time.monotonic() - began
    _stop_if_interrupted(part)
    if not part.num_open:
        return _known(part, took)
    left = max(0.1, until - time.monotonic())
    products = [_float(probe.product) for probe in probes(network, domain, seconds=left, seed=seed)]
    number = max(fmean(products), len(part))
    regions = Column.estimate(REGIONS, [number], method=f"{len(products):,} random ways down the tree of programs")
    seconds = Column.estimate(SECONDS, [number * took / max(1, len(part))], method="as long a region as the first ones")
    return Findings.of(regions, seconds, domain=domain.describe())


def _float(whole: int) -> float:
    try:
        return float(whole)
    except OverflowError:
        return float("inf")
