"""Volumes of regions: exact from their corners in few dimensions, else as shares of uniform samples with intervals.

Of N points drawn uniformly and independently from a box around the domain, k fall into a region of volume v with the
binomial distribution of share v / (volume of the box); Clopper and Pearson's interval for that share covers it at least
as often as it says, for every N and however small the region.
"""

import numpy as np
from scipy.special import betaincinv

from reluscope.arguments import Count, Seed, Share, read_arguments
from reluscope.errors import InputError
from reluscope.findings import Column, Findings, declare
from reluscope.geometry.polyhedra.domains import Box, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.partitions.left_open import left_open
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.region_numbers import volume_ends
from reluscope.progress import Progress, share_done

# Hulls of corners take a tenth of a millisecond up to here, and ten times more with every dimension beyond.
MAX_EXACT_DIMENSIONS = 5
BATCH_NUMBERS = 2**22


VOLUME = declare("region_volume", "volume of the region, in coordinates of the domain")


@read_arguments
def region_volumes(
    part: Partition,
    *,
    method: str = "auto",
    num_samples: Count = 100_000,
    confidence: Share = 0.95,
    progress: Progress = False,
    seed: Seed = 0,
) -> Findings:
    """Return the volume of every region, exactly or as an estimate with an interval.

    Parameters
    ----------
    part : Partition
    method : {"auto", "exact", "sampling"}
        "exact" computes hulls of corners; "sampling" counts the sample points in each region. "auto" is exact where
        the partition keeps corners, in up to five dimensions.
    num_samples : int
        Points to draw, including points outside a domain that is not a box.
    confidence : float
        Least probability that the interval of one region contains its volume, between 0 and 1. For all r regions at
        once take 1 - (1 - confidence) / r (Bonferroni).
    progress : bool or callable
        Show progress; a function receives the share done, from 0 to 1.
    seed : int
        Seed of the points.

    Returns
    -------
    Findings
        ``region_volume`` of each ``region`` that the partition holds. Volumes from corners are exact up to float64
        rounding, which is in the tolerance and is the larger part of a sliver; they are estimates where signs are
        undecided. Sampled volumes are estimates: each interval by itself, not all at once, contains the volume with
        the given confidence.

    Raises
    ------
    InputError
        If a number is out of range, the domain is unbounded, or the method does not apply to the partition.

    Notes
    -----
    Sampling costs a forward pass over all points. Points of a domain that is not a box are drawn from its bounding
    box, and points outside the domain belong to no region. (Points of a Markov chain are not independent; intervals
    would be too short.) For shares below about 1 / ``num_samples`` sampling gives little more than an upper end.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(12)[:2], np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> found = rs.region_volumes(rs.partition(net, rs.Box(0, 1, 12)))
    >>> print(found.finding("region_volume"))
    1 (ESTIMATE, in [0.999963, 1])
    """
    if method not in ("auto", "exact", "sampling"):
        raise InputError(f"method must be auto, exact or sampling, got {method!r}: leave it out to have it chosen")
    if num_samples < 1:
        raise InputError(f"num_samples must be at least 1, got {num_samples}: 100,000 give two or three digits")
    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie between 0 and 1, got {confidence:g}: take 0.95")
    few = part.has_vertices and part.dim <= MAX_EXACT_DIMENSIONS
    if method == "exact" or (method == "auto" and few):
        volumes, how = part.volumes(), "from the corners of regions"
        if not left_open(part).is_listed_sure:  # floats do not know where some regions end
            return _table(part, Column.estimate(VOLUME, volumes, method=f"{how}, some signs of which are undecided"))
        ends = volume_ends(part, slice(0, len(part)), volumes)
        return _table(part, Column.of(VOLUME, volumes, *ends, scale=float(volumes.sum()), method=how))
    around, inside = _enclosing_box(part)
    with share_done("volumes", progress) as tell:
        hits = np.zeros(len(part), dtype=np.int64)
        numbers = {row.tobytes(): index for index, row in enumerate(np.ascontiguousarray(part.codes.words))}
        generator = np.random.default_rng(seed)
        left = num_samples
        while left:
            size = min(left, max(1, BATCH_NUMBERS // (part.dim + part.network_on_domain.num_units)))
            points = generator.uniform(around.lo, around.hi, (size, part.dim))
            if inside is not None:
                points = points[inside.contains(points)]
            hits += _hits(part, numbers, points)
            left -= size
            tell(1 - left / num_samples)
    low, high = _shares(hits, num_samples, confidence)
    ends = (share * around.volume() for share in (hits / num_samples, low, high))
    drawn = f"share of {num_samples:,} uniform samples, with Clopper and Pearson's interval"
    return _table(part, Column.of(VOLUME, *ends, method=drawn, confidence=confidence))


def _table(part: Partition, column: Column) -> Findings:
    keys = {"region": np.arange(len(part))}
    return Findings.of(column, keys=keys, domain=part.domain.describe(), stop=part.stop)


def _hits(part: Partition, numbers: dict[bytes, int], points: np.ndarray) -> np.ndarray:
    """Return how many of the points lie in each region."""
    hits = np.zeros(len(part), dtype=np.int64)
    if not len(points):
        return hits
    seen, inverse, counts = part.network_on_domain.codes(points).unique(return_inverse=True, return_counts=True)
    rows = np.array([numbers.get(row.tobytes(), -1) for row in np.ascontiguousarray(seen.words)])
    np.add.at(hits, rows[rows >= 0], counts[rows >= 0])
    # Rounding may give a point a code that no region has, where several units or candidates are one function.
    astray = part.locate(points[rows[inverse] < 0]) if (rows < 0).any() else np.zeros(0, dtype=np.int64)
    np.add.at(hits, astray[astray >= 0], 1)
    return hits


def _enclosing_box(part: Partition) -> tuple[Box, Polyhedron | None]:
    """Return a box around the domain, and the domain if it is not that box."""
    window = part.window
    if isinstance(window, Box):
        return window, None
    if isinstance(window, Space) or not window.is_bounded():
        raise InputError(f"volumes need a bounded domain, got {part.domain.describe()}: partition a Box or a Slice")
    axes = np.eye(part.dim)
    high = np.array([window.maximize(axis).value for axis in axes])
    low = np.array([-window.maximize(-axis).value for axis in axes])
    return Box(low, high), window


def _shares(hits: np.ndarray, number: int, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of Clopper and Pearson's intervals."""
    tail = (1 - confidence) / 2
    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1), number - hits + 1, tail), 0.0)
    high = np.where(hits < number, betaincinv(hits + 1, np.maximum(number - hits, 1), 1 - tail), 1.0)
    return low, high
