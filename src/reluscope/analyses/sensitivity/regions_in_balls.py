"""Number of linear regions in a ball of the Euclidean or of the maximum norm around a point.

A ball of the maximum norm is a box, whose regions are counted. Of a Euclidean ball the regions of the box around it are
found, and each is asked whether it is nearer than the radius. Where there are too many regions or inputs for that, the
codes of points drawn from the ball are a lower bound.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from reluscope.analyses.codespace.sampled import sample_codes
from reluscope.analyses.counting.counting_methods import Options, counted
from reluscope.analyses.samples.measuring import Measured, measure
from reluscope.arguments import Count, Positive, Seed, read_arguments
from reluscope.budget import Budget, RegionBudget
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.findings import Claim, Column, Findings, Kind, declare
from reluscope.geometry.numbers.norms import AnyNorm, Norm
from reluscope.geometry.polyhedra.domains import Box
from reluscope.geometry.polyhedra.nearest_point import nearest_point
from reluscope.networks.evaluation.pass_time import program_seconds, region_seconds
from reluscope.networks.graph.points import Points
from reluscope.networks.input_units import InputUnits
from reluscope.networks.network import Network
from reluscope.partitions.ask.region_search import partitioned
from reluscope.partitions.partition_in_memory import Partition
from reluscope.progress import Progress
from reluscope.stopping import is_interrupted
from reluscope.time_limits import is_overdue
from reluscope.tolerance import Tolerance

# Regions at each point: as many as take so many seconds in few dimensions, and in many, where each takes programs.
SECONDS, FEW_DIMENSIONS, FEWEST_REGIONS = 10.0, 8, 20
SAMPLES = 4096
# Distances this close to the radius, relative to it, are not told from it.
MARGIN = 1e-9
# Regions of a Euclidean ball are those of a box that is wider by this share, so that none is missed as too thin in it.
WIDER = 1e-6
# Balls that are smaller than this, relative to their centre, hold too few float64 numbers to draw from.
MIN_RADIUS = 1e-9
COMPLEXITY = declare(
    "local_complexity",
    "proper activation regions (full-dimensional) that meet an open ball around the point",
    kind=Kind.COUNT,
)


@read_arguments
def count_in_balls(
    network: Network,
    x: Points,
    radius: Positive,
    *,
    norm: AnyNorm = "linf",
    num_samples: Count = SAMPLES,
    population: Count | None = None,
    budget: RegionBudget | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
    seed: Seed = 0,
) -> Findings:
    """Count the regions that meet balls around points; see `local_complexity`."""
    if not (np.isfinite(radius) and radius > 0):
        raise InputError(f"radius must be a positive number, got {radius}")
    if num_samples < 1:
        raise InputError(f"expected at least one sample of a ball, got {num_samples}")
    norm = Norm.of(norm)
    if norm.order == 1:
        raise InputError(f'norm must be "linf" or "l2", perhaps with weights, got {str(norm)!r}')
    units = InputUnits.of(norm, network.num_inputs)
    points = network.points(x)
    effort = Effort.of(_regions_in(network) if budget is None else budget, tolerance=tolerance)
    options = Options(tolerance is not None)
    flat = units.enter(points.reshape(len(points), -1).cpu().numpy())
    network, plain = units.network(network), norm.plain
    sizes = np.abs(flat).max(axis=1, initial=0.0)
    if (small := np.flatnonzero(radius < MIN_RADIUS * sizes)).size:
        raise InputError(
            f"expected a radius that float64 resolves at point {small[0]}, of entries up to {sizes[small[0]]:g}, got "
            f"{radius:g}: give a larger one, or shift the inputs"
        )

    def ask(block: slice) -> Measured:
        (row,) = range(block.start, block.stop)
        found = _exact(network, flat[row], radius, plain, effort, options)
        if found.lower < found.upper and not is_overdue():
            drawn = _sampled(network, flat[row], radius, plain, num_samples, seed + row, tolerance)
            found = found if found.lower >= drawn.lower else drawn._replace(undecided=found.undecided)
        column = Column.of(
            COMPLEXITY,
            [found.lower],
            upper=[found.upper],
            method=found.method,
            given=f"in the {norm} ball of radius {radius:g}",
        )
        return Measured((column,), {"num_undecided": np.array([found.undecided])})

    return measure(len(points), ask, Effort(progress=progress), population=population, most=1)


def _regions_in(network: Network) -> Budget:
    few = network.num_inputs <= FEW_DIMENSIONS
    each = region_seconds(network) if few else network.num_units * program_seconds(network)
    return Budget(regions=max(FEWEST_REGIONS, int(SECONDS / each)))


class _Number(NamedTuple):
    """Least and largest possible number of regions."""

    lower: float
    upper: float
    method: str
    undecided: int = 0


def _exact(
    network: Network, center: np.ndarray, radius: float, norm: Norm, effort: Effort, options: Options
) -> _Number:
    if norm.order == np.inf:
        box = Box(center - radius, center + radius)
        answer = counted(network, box, effort, "proper_activation", "auto", options)
        if is_interrupted(answer.stop):
            raise KeyboardInterrupt
        found = answer.finding
        low, high = found.interval or (found.value, found.value)
        return _Number(low, high, found.method, found.num_undecided)
    wide = radius * (1 + WIDER)
    part = partitioned(network, Box(center - wide, center + wide), effort)
    if is_interrupted(part.stop):
        raise KeyboardInterrupt
    certain, unclear = _meeting(part, center, radius)
    whole = part.finding()
    high = certain + unclear if whole.claim is Claim.EXACT else np.inf
    method = f"{whole.method}, of the box around the ball; nearest points of regions"
    return _Number(certain, high, method, whole.num_undecided + unclear)


def _meeting(part: Partition, center: np.ndarray, radius: float) -> tuple[int, int]:
    """Return how many regions are nearer than the radius for certain, and for how many it is open."""
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
        rows, offsets = inside.A / lengths[:, None], bounds / lengths
        nearest = nearest_point(rows, offsets, origin, bound=1 + margin)
        if _reached(rows, offsets, nearest.point, (region.witness - center) / radius) < 1 - margin:
            certain += 1
        elif nearest.lower < 1 + margin:
            unclear += 1
    return certain, unclear


def _reached(rows: np.ndarray, offsets: np.ndarray, near: np.ndarray, inner: np.ndarray) -> float:
    """Return the length of the first point certainly inside on the segment from a nearest point to an inner one."""
    if not np.isfinite(near).all():
        return np.inf
    ends = np.stack([near, inner])
    rounding = (len(near) + 8) * np.finfo(float).eps * (np.linalg.norm(ends, axis=1).max() + 1)
    over, under = ends @ rows.T - offsets + rounding
    behind = over > 0
    if (under[behind] >= 0).any():
        return np.inf
    share = float((over[behind] / (over[behind] - under[behind])).max(initial=0.0))
    return float(np.linalg.norm(near + share * (inner - near)))


def _sampled(
    network: Network,
    center: np.ndarray,
    radius: float,
    norm: Norm,
    number: int,
    seed: int,
    tolerance: Tolerance | None,
) -> _Number:
    sampled = sample_codes(network, _drawn(center, radius, norm, number, seed), tolerance=tolerance)
    clear = np.flatnonzero(~sampled.in_doubt)
    distinct = len(sampled.codes[clear].unique()) if len(clear) else 0
    return _Number(distinct, np.inf, f"different codes of {number:,} points drawn from the ball")


def _drawn(
    center: Float[np.ndarray, " n"], radius: float, norm: Norm, number: int, seed: int
) -> Float[np.ndarray, "s n"]:
    """Draw points from a ball, evenly."""
    generator = np.random.default_rng(seed)
    size = (number, len(center))
    if norm.order == np.inf:
        return center + generator.uniform(-radius, radius, size=size)
    steps = generator.normal(size=size)
    steps /= np.linalg.norm(steps, axis=1, keepdims=True)
    return center + radius * generator.uniform(size=(number, 1)) ** (1 / len(center)) * steps
