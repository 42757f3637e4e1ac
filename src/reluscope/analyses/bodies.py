"""Linear regions of points as bodies, as many at once as memory allows, to ask convex questions about."""

import numpy as np

from reluscope.errors import DegenerateGeometryError
from reluscope.geometry.convex_questions import bodies_of
from reluscope.geometry.domains import Box
from reluscope.geometry.interior_point import Bodies
from reluscope.networks.network import Network
from reluscope.networks.points import Points
from reluscope.regions.region import Region
from reluscope.regions.regions import region
from reluscope.tolerance import Tolerance

# Memory for the half-spaces of regions that are asked about together, in bytes.
ROWS_BYTES = 2**30


def bodies_at_once(network: Network, questions: int = 0) -> int:
    """Return how many regions of a network fit into memory together, each with some questions that share its rows."""
    rows = sum(gate.num_units * max(1, gate.num_pieces - 1) for gate in network.gates)
    height = max(1, rows) + questions * network.num_inputs
    return int(np.clip(ROWS_BYTES // (3 * 8 * height * network.num_inputs), 1, 64))


def regions_inside(network: Network, points: Points, tolerance: Tolerance | None) -> dict[int, Region]:
    """Return the regions of points by their rows; points on kinks whose code has no interior are left out."""
    found = {}
    for row in range(len(points)):
        try:
            found[row] = region(network, points[row : row + 1], tolerance=tolerance)
        except DegenerateGeometryError:
            continue
    return found


def as_bodies(regions: list[Region], domain: Box | None, network: Network) -> Bodies:
    """Return regions cut down to a domain, on the network's device.

    They are cut down here, because points on the domain's boundary are no less inside their regions.
    """
    bounds = (-np.inf, np.inf) if domain is None else (domain.lo, domain.hi)
    tables = [(one.polyhedron.A, one.polyhedron.b) for one in regions]
    return bodies_of(tables, *bounds, device=network.device)
