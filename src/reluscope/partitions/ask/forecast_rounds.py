"""Rounds of small windows, drawn from a domain, whose regions are counted for a forecast."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaincinv, stdtrit

from reluscope.budget import Budget
from reluscope.effort import Effort
from reluscope.findings.derived import lowest_mean
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.networks.evaluation.pass_time import pass_seconds
from reluscope.networks.network import Network
from reluscope.partitions.ask.region_density import RegionDensity, region_density
from reluscope.partitions.ask.region_search import RegionSearch, cells_found
from reluscope.partitions.ask.sub_domains import SubDomains
from reluscope.partitions.doubts.walk_rounding import Rounding
from reluscope.partitions.partition_in_memory import Partition
from reluscope.stopping import is_interrupted

# Relative to the extent of a window: corners this near to a side are on it.
AT_SIDE = 1e-9

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
# Of all that windows count, what one of them may have: an upper end means little beyond it.
MAX_SHARE = 0.25


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
            stop_if_interrupted(part)
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


def stop_if_interrupted(part: Partition) -> None:
    """Hand on the Ctrl-C that ended a partition."""
    if is_interrupted(part.stop):
        raise KeyboardInterrupt
