"""How far the corners of a partition's regions may be from where they should be.

Every number that is made from corners inherits this: an output at a corner times the slope of the map there, a volume
times the surface of the region.
"""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from reluscope.geometry.numbers.resolutions import CORNERS
from reluscope.tolerance import EPSILON

if TYPE_CHECKING:
    from reluscope.partitions.partition_in_memory import Partition

# Bytes of rows that are looked at together.
MEMORY = 2**26
EVERY = slice(None)


def corner_errors(part: "Partition", chosen: Int[np.ndarray, " k"] | slice = EVERY) -> Float[np.ndarray, " v"]:
    """Return a bound on the distance of each vertex of a bounded partition, or chosen ones, from the true corner.

    The blur that the walk carried along plus the rounding of the coordinates; none at corners of the domain. For
    engines without blur: the resolution and a share of the largest coordinate.
    """
    vertices = part.vertices
    corners = part.geometry.corners
    if corners is not None and (blur := corners.vertex_blur) is not None:
        sizes, blur = np.abs(vertices[chosen]).max(axis=1, initial=0.0), blur[chosen]
        return np.where(blur > 0, blur + 4 * EPSILON * sizes, 0.0)
    if not len(vertices):
        return np.zeros(0)
    scale = max(float(np.abs(vertices).max(initial=0.0)), float(np.linalg.norm(np.ptp(vertices, axis=0))))
    return np.full(len(vertices[chosen]), (CORNERS + part.tolerance.resolution) * scale)


def side_errors(part: "Partition") -> Float[np.ndarray, " r"]:
    """Return for each region how far its sides may be from the true ones.

    The largest error of its corners. The crossing of two nearly parallel sides moves farther than the sides: where
    corners are known worse than the engine lets pass (32 resolutions and a share of the largest coordinate), the rows
    of the network say how well sides are; so they do for engines that carry no errors of corners along. Files keep
    what they said, and without that and without the network nothing is known.
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
    errors = np.maximum.reduceat(corner_errors(part)[ids], offsets[:-1])
    corners, network = part.geometry.corners, part.network
    if corners is None or corners.vertex_blur is None:  # nothing was carried along
        if part.geometry.side_errors is not None:
            return part.geometry.side_errors
        if network is None:
            return np.full(len(part), np.inf)
        return np.maximum(errors, _row_errors(part, np.arange(len(part)), width))
    badly_known = np.flatnonzero(errors > most)
    if len(badly_known) and part.dim > 1 and network is not None:
        sides = np.maximum(most, _row_errors(part, badly_known, width))
        errors[badly_known] = np.minimum(errors[badly_known], sides)
    return errors


def stored_side_errors(part: "Partition") -> dict[str, np.ndarray]:
    """Return the column of a file for cells that carry no errors along: nobody may have the network when it is read."""
    corners = part.geometry.corners
    is_known = part.network is not None or part.geometry.side_errors is not None
    if corners is None or corners.vertex_blur is not None or not (len(part) and is_known and part.window.is_bounded()):
        return {}
    return {"side_errors": np.minimum(side_errors(part), np.finfo(float).max)}


def _row_errors(part: "Partition", regions: Int[np.ndarray, " k"], width: float) -> Float[np.ndarray, " k"]:
    """Return how far rounding may move the rows that regions can reach within the domain's width, the worst of each."""
    network, worst = part.network_on_domain, np.zeros(len(regions))
    step = max(1, MEMORY // (16 * part.dim * max(1, network.num_units)))
    for start in range(0, len(regions), step):
        here = slice(start, start + step)
        for rows in network.at(part.witnesses[regions[here]], tolerance=part.tolerance).half_spaces:
            lengths = np.linalg.norm(rows.normals, axis=2)
            noise = rows.noise + rows.constant_below * width * part.dim
            is_near = rows.exists & (rows.slack - noise <= lengths * width)
            moved = np.where(is_near, noise / np.maximum(lengths, np.finfo(float).tiny), 0.0)
            worst[here] = np.maximum(worst[here], moved.max(axis=1, initial=0.0))
    return worst


def volume_errors(moved: Float[np.ndarray, " r"], ends: Float[np.ndarray, "r 2 d"]) -> Float[np.ndarray, " r"]:
    """Return how far the volumes of bodies may be off when their corners are moved.

    The surface of the box around each body times the distance moved.
    """
    sides = ends[:, 1] - ends[:, 0] + 2 * moved[:, None]
    surfaces = [np.delete(sides, axis, axis=1).prod(axis=1) for axis in range(sides.shape[1])]
    return 2 * moved * np.sum(surfaces, axis=0)
