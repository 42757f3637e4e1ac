"""How far the corners of a partition's regions may be from where they should be.

Every number that is made from corners inherits this: an output at a corner times the slope of the map there, a volume
times the surface of the region.
"""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from reluscope.geometry.numbers.resolutions import CORNERS
from reluscope.tolerance import EPSILON

if TYPE_CHECKING:
    from reluscope.partitions.partition_in_memory import Partition


def corner_errors(part: "Partition") -> Float[np.ndarray, " v"]:
    """Return a bound on the distance of each vertex of a bounded partition from the true corner.

    The blur that the walk carried along plus the rounding of the coordinates; none at corners of the domain. For
    engines without blur: the resolution and a share of the largest coordinate.
    """
    vertices = part.vertices
    sizes = np.abs(vertices).max(axis=1, initial=0.0)
    corners = part.geometry.corners
    if corners is not None and (blur := corners.vertex_blur) is not None:
        return np.where(blur > 0, blur + 4 * EPSILON * sizes, 0.0)
    if not len(vertices):
        return sizes
    width = float(np.linalg.norm(np.ptp(vertices, axis=0)))
    return np.full(len(vertices), (CORNERS + part.tolerance.resolution) * max(float(sizes.max()), width))


def side_errors(part: "Partition") -> Float[np.ndarray, " r"]:
    """Return for each region how far its sides may be from the true ones.

    The blur of its corners, but at most what the engine lets pass (32 resolutions and a share of the largest
    coordinate): the crossing of two nearly parallel sides moves farther than the sides.
    """
    if not len(part):
        return np.zeros(0)
    points = part.vertices if part.has_vertices else part.witnesses
    width = float(np.linalg.norm(np.ptp(points, axis=0))) if len(points) else 0.0
    most = 32 * part.tolerance.resolution * width + CORNERS * float(np.abs(points).max(initial=0.0))
    if not part.has_vertices:
        return np.full(len(part), 2 * most)  # of points inside
    offsets, ids = part.region_vertices
    if not np.diff(offsets).all():  # unbounded regions without corners
        return np.full(len(part), most)
    return np.minimum(np.maximum.reduceat(corner_errors(part)[ids], offsets[:-1]), most)


def volume_errors(moved: Float[np.ndarray, " r"], ends: Float[np.ndarray, "r 2 d"]) -> Float[np.ndarray, " r"]:
    """Return how far the volumes of bodies may be off when their corners are moved.

    The surface of the box around each body times the distance moved.
    """
    sides = ends[:, 1] - ends[:, 0] + 2 * moved[:, None]
    surfaces = [np.delete(sides, axis, axis=1).prod(axis=1) for axis in range(sides.shape[1])]
    return 2 * moved * np.sum(surfaces, axis=0)
