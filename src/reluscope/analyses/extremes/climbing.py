"""From a point up to a local maximum of a linear function of the outputs, region by region.

On a linear region the function is affine, and a linear program finds where in the region it is largest: at a corner.
From just beyond the corner the next region goes on, until none is higher.
"""

import numpy as np
from jaxtyping import Float

from reluscope.errors import DegenerateGeometryError, SolverError
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramStatus
from reluscope.interruption import step_point
from reluscope.networks.network import Network
from reluscope.regions.region import Region
from reluscope.regions.regions import find_regions

# Regions of one climb, at most, and ways beyond a corner that are tried: in shares of the way to it.
MOST_REGIONS, BEYOND = 100, (1e-7, 1e-4)
# Half-spaces times inputs: regions of larger networks take longer than searches gain by them.
MOST_NUMBERS = 2_000_000


def can_climb(network: Network) -> bool:
    """Whether regions of a network are found quickly."""
    return network.num_units * network.num_inputs <= MOST_NUMBERS


def climbed(
    network: Network, row: Float[np.ndarray, " m"], start: Float[np.ndarray, " n"], domain: Polyhedron
) -> Float[np.ndarray, "k n"]:
    """Return the points of a climb, each higher than the one before but for rounding; none where no region is found.

    A region and a linear program for each.
    """
    found: list[np.ndarray] = []
    best, here = -np.inf, start
    for _ in range(MOST_REGIONS):
        step_point()
        (region,) = _regions(network, here[None], domain) or (None,)
        if region is None:
            break
        slope = (row @ region.map.weight[0].cpu().numpy()).reshape(-1)
        top = _top_of(region.polyhedron, slope, region.witness)
        if top is None:
            break
        height = float((network(top[None]).reshape(-1).cpu().numpy() @ row).item())
        if not height > best:
            break
        best = height
        found.append(top)
        ways = top + np.array(BEYOND)[:, None] * (top - region.witness)
        ways = ways[[bool(domain.contains(one)) for one in ways]]
        heights = network(ways).reshape(len(ways), -1).cpu().numpy() @ row if len(ways) else np.zeros(0)
        if not len(ways) or not heights.max() > height:
            break
        here = ways[int(heights.argmax())]
    return np.array(found).reshape(-1, network.num_inputs)


def _regions(network: Network, points: np.ndarray, domain: Polyhedron) -> list[Region]:
    try:
        found = find_regions(network.at(points), domain=domain)
    except (DegenerateGeometryError, SolverError):
        return []
    return [one for one in found if isinstance(one, Region)]


def _top_of(body: Polyhedron, slope: np.ndarray, inside: np.ndarray) -> np.ndarray | None:
    """Return the highest point of a polyhedron, from a point inside; None where no program finds it."""
    lengths = np.linalg.norm(body.A, axis=1)
    program = LinearProgram(body.dim)
    program.add_rows(body.A / lengths[:, None], (body.b - body.A @ inside) / lengths)
    size = np.abs(slope).max(initial=0.0)
    if not size > 0:
        return inside
    try:
        found = program.maximize(slope / size)
    except SolverError:
        return None
    return inside + found.point if found.status is ProgramStatus.OPTIMAL else None
