"""Volumes of needles: regions whose corners floats lose.

Bounded regions that end very far away: homogeneous corners are known up to the rounding of what is about a unit away;
the farther a corner, the fewer digits has its last coordinate, by which it is divided. And slivers, thinner than the
rounding of their corners, whose volume in floats may be 0 or below. Both are measured in rational arithmetic, by their
half-spaces.
"""

from typing import cast

import numpy as np
from jaxtyping import Bool, Float, Int

from reluscope.codes.packing import unpack_pieces
from reluscope.geometry.polyhedra.domains import Box
from reluscope.geometry.programs.proved_programs import nearest
from reluscope.partitions.cells.first_cells import typical_distance
from reluscope.partitions.exact.exact_rows import ExactRows
from reluscope.partitions.table.corner_columns import CellCorners, CornerColumns
from reluscope.partitions.table.region_table import RegionTable, kept_corners

# From so many typical distances on corners have less than ten digits.
FAR = 1e5
# Rounding of corners, of the largest coordinate.
ROUNDING = 16 * float(np.finfo(np.float64).eps)


def volumes_with_needles(part: RegionTable) -> Float[np.ndarray, " r"]:
    """Return the volumes of regions, infinite where they are unbounded.

    Where rational arithmetic would cost too much, or there is no network, those that end far away are NaN, and those of
    slivers what floats say, 0 at least.
    """
    bounded = part.is_bounded()
    corners = kept_corners(part, "exact volumes", ", or estimate them with rs.region_volumes(part)")
    sizes = np.where(bounded, corners.volumes, np.inf)
    far, thin = _far(part, corners, bounded), _thin(part, corners, sizes)
    sizes[thin] = np.maximum(sizes[thin], 0.0)
    sizes[far] = np.nan
    asked = np.union1d(far, thin)
    if not len(asked) or part.network is None:
        return sizes
    network = part.network_on_domain
    exact = ExactRows(network, part.window)
    table = unpack_pieces(part.codes.words[asked], network.layout)
    for row, pieces in zip(asked.tolist(), table, strict=True):
        volume = exact.volume([pieces[network.layout.units(gate)] for gate in range(len(network.layout))])
        sizes[row] = sizes[row] if volume is None else nearest(volume)
    return sizes


def _far(part: RegionTable, corners: CornerColumns, bounded: Bool[np.ndarray, " r"]) -> Int[np.ndarray, " k"]:
    """Return the bounded regions with corners so far away that floats have lost their digits."""
    window = part.window
    if isinstance(window, Box) or window.is_bounded():
        return np.zeros(0, dtype=np.int64)
    cells = cast("CellCorners", corners)  # shared ones are of bounded domains
    farthest = np.inf if part.network is None else FAR * typical_distance(part.network_on_domain, window)
    vertices = cells.cell_vertices
    is_far = np.abs(vertices[:, :-1]).max(axis=1, initial=0.0) >= farthest * vertices[:, -1]
    is_far |= vertices[:, -1] == 0
    owners = np.repeat(cells.regions, np.diff(cells.offsets))
    return np.flatnonzero(bounded & (np.bincount(owners, weights=is_far, minlength=len(part)) > 0))


def _thin(part: RegionTable, corners: CornerColumns, sizes: Float[np.ndarray, " r"]) -> Int[np.ndarray, " k"]:
    """Return the regions whose volumes are not larger than what rounding of their corners makes."""
    rounding = ROUNDING * corners.largest_coordinate
    is_small = sizes <= rounding**part.dim / ROUNDING ** (part.dim - 1)
    if not is_small.any():  # nor are corners sorted by regions
        return np.zeros(0, dtype=np.int64)
    offsets, ids = part.region_vertices
    found = []
    for row in np.flatnonzero(is_small).tolist():
        points = part.vertices[ids[offsets[row] : offsets[row + 1]]]
        extent = float(np.ptp(points, axis=0).max(initial=0.0)) if len(points) else 0.0
        if sizes[row] <= rounding * extent ** (part.dim - 1):
            found.append(row)
    return np.array(found, dtype=np.int64)
