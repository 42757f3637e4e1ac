"""Local complexity around the samples of a record, by three definitions: vertices, regions, gradients."""

import numpy as np

from reluscope.analyses.sensitivity.cross_polytopes import CROSSING, cross_polytope_complexity
from reluscope.analyses.sensitivity.kink_densities import KINK_DENSITY, kink_density
from reluscope.analyses.tracking.plan import Plan
from reluscope.budget import Budget
from reluscope.errors import ReluscopeError
from reluscope.findings import Column, Finding, Findings, Kind, declare
from reluscope.geometry.polyhedra.domains import Box, Slice
from reluscope.networks.evaluation.pass_time import region_seconds
from reluscope.networks.network import Network
from reluscope.partitions.ask.dispatch import partition
from reluscope.stopping import is_interrupted

# Regions of one square at most, and as many as take so many seconds, but some; a count that this ends is LOWER.
MOST_REGIONS, SQUARE_SECONDS, FEWEST_REGIONS = 2_000, 0.02, 100
# Squares of large networks cost most: of so many units together there are some, but never less than a few.
UNITS_IN_SQUARES, FEWEST_SQUARES = 2**14, 4
# Derivatives by every input are taken where there are at most so many of all units, and else in random directions.
MOST_DERIVATIVES = 2**17
NUM_DIRECTIONS = 32
SQUARE_REGIONS = declare(
    "square_regions",
    "linear regions in the square around the point in a random plane, whose half-width is the radius",
    kind=Kind.COUNT,
)


def local_complexity(network: Network, plan: Plan) -> dict[str, Finding]:
    """Return the means over the samples of the Jacobians.

    The plan has to have a radius. KeyboardInterrupt on Ctrl-C, also within work that would keep what it has;
    ReluscopeError if there is no such sample.
    """
    assert plan.complexity_radius is not None
    radius, points = plan.complexity_radius, plan.points[plan.jacobians]
    if not len(points):
        raise ReluscopeError("there are no samples for Jacobians, which it is measured around")
    crossing = cross_polytope_complexity(network, points, radius)
    is_small = network.num_inputs * network.num_units <= MOST_DERIVATIVES
    density = kink_density(network, points, num_directions=None if is_small else NUM_DIRECTIONS)
    for found in (crossing, density):
        if is_interrupted(found.stop):
            raise KeyboardInterrupt
    squares = points[: num_squares(len(points), network.num_units)]
    return {
        "crossing_units": crossing.mean(CROSSING),
        "square_regions": _squares(network, squares, radius).mean(SQUARE_REGIONS),
        "kink_density": density.mean(KINK_DENSITY),
    }


def num_squares(number: int, num_units: int) -> int:
    """Return at how many of the samples regions in a square are counted."""
    return min(number, max(FEWEST_SQUARES, UNITS_IN_SQUARES // max(1, num_units)))


def _squares(network: Network, points: np.ndarray, radius: float) -> Findings:
    """Count regions around each point, in a plane of its own that is the same at every record."""
    generator = np.random.default_rng(0)
    regions = max(FEWEST_REGIONS, min(MOST_REGIONS, int(SQUARE_SECONDS / region_seconds(network))))
    dim = min(2, network.num_inputs)
    window = Box(-radius, radius, dim)
    counts = []
    for point in points:
        basis = np.linalg.qr(generator.normal(size=(network.num_inputs, dim)))[0].T
        part = partition(network, Slice(point, basis, window), budget=Budget(regions=regions))
        if is_interrupted(part.stop):
            raise KeyboardInterrupt
        counts.append(part.finding())
    domain = f"{len(points):,} samples"
    column, keys = Column.of_findings(SQUARE_REGIONS, counts), {"sample": range(len(points))}
    return Findings.of(column, keys=keys, domain=domain, num_samples=len(points))
