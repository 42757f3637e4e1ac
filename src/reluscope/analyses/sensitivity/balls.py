"""How many linear regions there are close to a point: in a ball of the Euclidean or of the maximum norm around it.

A ball of the maximum norm is a box, whose regions are counted. Of a Euclidean ball the regions of the box around it are
found, and each is asked whether it is nearer than the radius. Where there are too many regions or inputs for that, the
codes of points drawn from the ball are a lower bound.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from reluscope.analyses.codespace.sampled import sample_codes
from reluscope.analyses.counting.count import count
from reluscope.analyses.medians import median_finding
from reluscope.arguments import Count, Positive, Seed, read_arguments
from reluscope.budget import Budget
from reluscope.errors import InputError
from reluscope.findings import Claim, Finding
from reluscope.geometry.domains import Box
from reluscope.geometry.nearest_point import nearest_point
from reluscope.networks.network import Network
from reluscope.networks.points import Points
from reluscope.partitions.dispatch import partition
from reluscope.partitions.table import Partition
from reluscope.tolerance import Tolerance

BallNorm = Literal["l2", "linf"]
SECONDS = 10.0
SAMPLES = 4096
# Distances this close to the radius, relative to it, are not told from it.
MARGIN = 1e-9
# Balls that are smaller than this, relative to their centre, hold too few float64 numbers to draw from.
LEAST_RADIUS = 1e-9
DEFINITION = "proper activation regions (full-dimensional) that meet the open ball"


@dataclass(frozen=True, eq=False)
class LocalComplexity:
    """Numbers of regions close to points.

    Parameters
    ----------
    counts : (s,) int64
    is_exact : (s,) bool
        Whether a count is exact; else it is a lower bound.
    findings : tuple of Finding
        One per point.
    radius : float
    norm : {"l2", "linf"}
    """

    counts: Int[np.ndarray, " s"]
    is_exact: Bool[np.ndarray, " s"]
    findings: tuple[Finding, ...]
    radius: float
    norm: BallNorm

    def __len__(self) -> int:
        return len(self.counts)

    def median(self) -> Finding:
        """Return the median count over the points: EXACT if all counts are, else LOWER."""
        found = median_finding(
            self.counts.astype(np.float64),
            len(self),
            what=f"the number of {DEFINITION} of radius {self.radius:g} in {self.norm}",
            tolerance=0.0,
            name="median local complexity",
            method="; ".join(dict.fromkeys(finding.method for finding in self.findings)),
        )
        if self.is_exact.all():
            return found
        return Finding(
            found.value,
            Claim.LOWER,
            name=found.name,
            definition=found.definition,
            domain=found.domain,
            method=found.method,
        )


@read_arguments
def local_complexity(
    network: Network,
    x: Points,
    radius: Positive,
    *,
    norm: BallNorm = "linf",
    budget: Budget | int | None = None,
    num_samples: Count = SAMPLES,
    seed: Seed = 0,
    tolerance: Tolerance | None = None,
) -> LocalComplexity:
    """Count the linear regions within a radius of points.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
    radius : float
        In the units of the input, above 0.
    norm : {"linf", "l2"}
        Of the maximum of all coordinates' changes, or Euclidean.
    budget : Budget or int, optional
        For the exact count at each point, 10 seconds by default.
    num_samples : int
        Points drawn from a ball whose exact count did not end.
    seed : int
        Of these.
    tolerance : Tolerance, optional

    Returns
    -------
    LocalComplexity
        A finding per point: EXACT, or LOWER with an interval. A sample's region counts if rounding could not change its
        code; that a sample lies on a boundary has probability 0.

    Raises
    ------
    InputError
        If the radius is not positive, or too small for float64 at a point; or the norm is unknown.

    Notes
    -----
    In few dimensions about one forward pass per vertex; a Euclidean ball takes a small quadratic program for each
    region of its box besides. In many dimensions a linear program per region, which ends within the budget only where
    few units change their piece. Regions that a ball touches from outside are no part of it; where that is not clear
    in float64, the count is LOWER with an interval.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])  # four quadrants
    >>> print(*rs.sensitivity.local_complexity(net, [[0.8, 0.8]], 1.0).findings)
    4 (EXACT)
    >>> print(*rs.sensitivity.local_complexity(net, [[0.8, 0.8]], 1.0, norm="l2").findings)
    3 (EXACT)
    """
    if not (np.isfinite(radius) and radius > 0):
        raise InputError(f"radius must be a positive number, got {radius}")
    if num_samples < 1:
        raise InputError(f"expected at least one sample of a ball, got {num_samples}")
    if norm not in ("l2", "linf"):
        raise InputError(f'norm must be "linf" or "l2", got {norm!r}')
    points = network.points(x)
    limit = Budget(seconds=SECONDS) if budget is None else budget if isinstance(budget, Budget) else Budget(budget)
    findings = []
    for row, center in enumerate(points.reshape(len(points), -1).cpu().numpy()):
        if radius < LEAST_RADIUS * float(np.abs(center).max(initial=0.0)):
            raise InputError(
                f"expected a radius that float64 resolves at point {row}, of entries up to "
                f"{np.abs(center).max():g}, got {radius:g}: give a larger one, or shift the inputs"
            )
        found = _exact(network, center, radius, norm, limit, tolerance)
        if found.claim is not Claim.EXACT:
            found = _larger(found, _sampled(network, center, radius, norm, num_samples, seed + row, tolerance))
        findings.append(found)
    return LocalComplexity(
        np.array([int(finding) for finding in findings], dtype=np.int64),
        np.array([finding.claim is Claim.EXACT for finding in findings], dtype=bool),
        tuple(findings),
        radius,
        norm,
    )


def _exact(
    network: Network, center: np.ndarray, radius: float, norm: BallNorm, budget: Budget, tolerance: Tolerance | None
) -> Finding:
    box = Box(center - radius, center + radius)
    if norm == "linf":
        return _described(count(network, box, budget=budget, tolerance=tolerance), center, radius, norm)
    part = partition(network, box, budget=budget, tolerance=tolerance)
    certain, unclear = _meeting(part, center, radius)
    whole = part.finding()
    high = np.inf if whole.claim is not Claim.EXACT else certain + unclear
    found = Finding(
        certain,
        Claim.EXACT if high == certain else Claim.LOWER,
        name=whole.name,
        interval=(certain, high),
        method=f"{whole.method}, of the box around the ball; nearest points of regions",
        tolerance=whole.tolerance,
        num_undecided=whole.num_undecided + unclear,
        work=whole.work,
    )
    return _described(found, center, radius, norm)


def _meeting(part: Partition, center: np.ndarray, radius: float) -> tuple[int, int]:
    """Return how many regions are nearer than the radius, and how many may be or not."""
    certain = unclear = 0
    # In units of the radius, about the centre: what rounding of the points changes there counts too.
    size = float(np.linalg.norm(center)) + radius
    margin = max(MARGIN, 64 * np.finfo(np.float64).eps * size * len(center) ** 0.5 / radius)
    origin = np.zeros(len(center))
    for region in part:
        if np.linalg.norm(region.witness - center) < radius * (1 - margin):
            certain += 1
            continue
        inside = region.polyhedron
        lengths = np.linalg.norm(inside.A, axis=1)
        bounds = (inside.b - inside.A @ center) / radius
        nearest = nearest_point(inside.A / lengths[:, None], bounds / lengths, origin, bound=1 + margin)
        if nearest.distance < 1 - margin:
            certain += 1
        elif nearest.lower < 1 + margin:
            unclear += 1
    return certain, unclear


def _sampled(
    network: Network,
    center: np.ndarray,
    radius: float,
    norm: BallNorm,
    number: int,
    seed: int,
    tolerance: Tolerance | None,
) -> Finding:
    sampled = sample_codes(network, _drawn(center, radius, norm, number, seed), tolerance=tolerance)
    clear = np.flatnonzero(~sampled.in_doubt)
    distinct = len(sampled.codes[clear].unique()) if len(clear) else 0
    found = Finding(
        distinct,
        Claim.LOWER,
        name="regions",
        interval=(distinct, np.inf),
        method=f"different codes of {number:,} points drawn from the ball",
    )
    return _described(found, center, radius, norm)


def _drawn(
    center: Float[np.ndarray, " n"], radius: float, norm: BallNorm, number: int, seed: int
) -> Float[np.ndarray, "s n"]:
    """Draw points from a ball, evenly."""
    generator = np.random.default_rng(seed)
    size = (number, len(center))
    if norm == "linf":
        return center + generator.uniform(-radius, radius, size=size)
    steps = generator.normal(size=size)
    steps /= np.linalg.norm(steps, axis=1, keepdims=True)
    return center + radius * generator.uniform(size=(number, 1)) ** (1 / len(center)) * steps


def _larger(one: Finding, other: Finding) -> Finding:
    """Return the larger of two lower bounds."""
    return one if int(one) >= int(other) else other


def _described(found: Finding, center: Sequence[float] | np.ndarray, radius: float, norm: BallNorm) -> Finding:
    return Finding(
        found.value,
        found.claim,
        name="local complexity",
        interval=found.interval,
        definition=DEFINITION,
        domain=f"{norm} ball of radius {radius:g} around one point of {len(center):,} inputs",
        method=found.method,
        tolerance=found.tolerance,
        num_undecided=found.num_undecided,
        work=found.work,
    )
