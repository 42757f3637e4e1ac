"""The facets of the regions of a partition in space, as polygons; and which of them lie between two regions."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import ConvexHull, KDTree, QhullError

from reluscope.errors import InputError
from reluscope.geometry.domains import Space
from reluscope.partitions.level_polygons import sums
from reluscope.partitions.table import Partition

# Facets whose middles are nearer than this share of the domain, and that look at each other, are two sides of one.
SAME = 1e-7
# Corners nearer than this share of it are drawn as one.
ALIKE = 1e-9


@dataclass(frozen=True)
class RegionFacets:
    """Polygons around regions.

    Parameters
    ----------
    points : (v, 3) float64
    offsets : (f + 1,) int64; ids : (offsets[-1],) int64
        Facet i has the corners ``points[ids[offsets[i] : offsets[i + 1]]]`` in cyclic order.
    regions : (f,) int64
        The region that each is a facet of.
    normals : (f, 3) float64
        Unit vectors that leave the region.
    """

    points: Float[np.ndarray, "v 3"]
    offsets: Int[np.ndarray, " f1"]
    ids: Int[np.ndarray, " _"]
    regions: Int[np.ndarray, " f"]
    normals: Float[np.ndarray, "f 3"]

    @property
    def middles(self) -> Float[np.ndarray, "f 3"]:
        """The mean of the corners of every facet."""
        return sums(self.points[self.ids], self.offsets) / np.diff(self.offsets)[:, None]

    def pairs(self) -> Int[np.ndarray, "k 2"]:
        """Return the facets that are two sides of one, of neighbouring regions, each pair once."""
        if not len(self.regions):
            return np.zeros((0, 2), dtype=np.int64)
        middles = self.middles
        found = KDTree(middles).query_pairs(SAME * float(np.ptp(self.points, axis=0).max()), output_type="ndarray")
        against = (self.normals[found[:, 0]] * self.normals[found[:, 1]]).sum(axis=1) < 0
        return found[against & (self.regions[found[:, 0]] != self.regions[found[:, 1]])].astype(np.int64)


def region_facets(part: Partition) -> RegionFacets:
    """Return the facets of all regions, by Qhull; of none that is thinner than floats can show."""
    starts, corners = part.region_vertices
    points, corners = _merged(part.vertices, corners)
    triangles, equations, regions = [np.zeros((0, 3), np.int64)], [np.zeros((0, 4))], [np.zeros(0, np.int64)]
    for region in range(len(part)):
        own = corners[starts[region] : starts[region + 1]]
        around = points[own] - points[own].mean(axis=0)
        extent = float(np.abs(around).max())
        try:
            hull = ConvexHull(around / extent)
        except QhullError:
            continue
        triangles.append(own[hull.simplices])
        equations.append(hull.equations)
        regions.append(np.full(len(hull.simplices), region))
    # Triangles of one facet have one equation, bit by bit.
    keys = np.column_stack([np.concatenate(regions), np.concatenate(equations)])
    distinct, facet = np.unique(keys, axis=0, return_inverse=True)
    of_corner = np.stack([np.repeat(facet.reshape(-1), 3), np.concatenate(triangles).reshape(-1)], axis=1)
    of_corner = np.unique(of_corner, axis=0)
    rows, ids = of_corner.T
    offsets = np.searchsorted(rows, np.arange(len(distinct) + 1))
    normals = distinct[:, 1:4]
    around = points[ids] - (sums(points[ids], offsets) / np.diff(offsets)[:, None])[rows]
    across = np.eye(3)[np.abs(normals).argmin(axis=1)]
    first = np.cross(normals, across)
    second = np.cross(normals, first)
    angles = np.arctan2((around * second[rows]).sum(axis=1), (around * first[rows]).sum(axis=1))
    order = np.lexsort((angles, rows))
    return RegionFacets(points, offsets, ids[order], distinct[:, 0].astype(np.int64), normals)


def _merged(points: np.ndarray, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the points without repetition, as far as a picture tells them apart."""
    if not len(points):
        return points, ids
    grid = np.round(points / (ALIKE * float(np.ptp(points, axis=0).max())))
    _, first, place = np.unique(grid, axis=0, return_index=True, return_inverse=True)
    return points[first], place.reshape(-1)[ids]


def check_space(part: Partition) -> None:
    """Raise InputError unless a partition is of a bounded part of space, with corners."""
    if part.dim != 3 or isinstance(part.domain, Space) or not part.domain.is_bounded():
        raise InputError(
            f"a picture in space needs the partition of a bounded domain of three dimensions, got one of "
            f"{part.domain.describe()}: partition a Box of three inputs, or a Slice of three directions"
        )
