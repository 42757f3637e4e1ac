"""The facets of the regions of a partition in space, as polygons; and which of them lie between two regions."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import ConvexHull, KDTree, QhullError

from reluscope.errors import InputError
from reluscope.geometry.polyhedra.domains import Space
from reluscope.partitions.faces.faces import Faces
from reluscope.partitions.levels.level_polygons import sums
from reluscope.partitions.partition_in_memory import Partition

# Facets whose middles are nearer than this share of the domain, and that look at each other, are two sides of one.
SAME = 1e-7
# Corners nearer than this share of it are drawn as one.
ALIKE = 1e-9


@dataclass(frozen=True)
class PolygonsAroundRegions:
    """Polygons around regions.

    Facet i has the corners ``points[ids[offsets[i] : offsets[i + 1]]]`` in cyclic order.
    """

    points: Float[np.ndarray, "v 3"]
    offsets: Int[np.ndarray, " f1"]
    ids: Int[np.ndarray, " _"]
    regions: Int[np.ndarray, " f"]  # the region that each is a facet of
    normals: Float[np.ndarray, "f 3"]  # unit vectors that leave the region

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


def region_facets(part: Partition) -> PolygonsAroundRegions:
    """Return the facets of all regions: from the faces of the partition, or by Qhull where these cannot be had.

    Of none that is thinner than floats can show.
    """
    try:
        faces = part.faces if part.has_vertices and not part.num_open else None
    except InputError:  # it was loaded without its network
        faces = None
    # Where signs are in doubt, faces may be missing, and polygons be open.
    return facets_by_qhull(part) if faces is None or faces.num_undecided else _facets_of_faces(part, faces)


def _facets_of_faces(part: Partition, faces: Faces) -> PolygonsAroundRegions:
    """Return the facets that a complex lists, each for the regions on both sides of it."""
    number, facets = faces.num_faces[2], faces.ids[2]
    sides = np.repeat(faces.regions, np.diff(faces.offsets[2]))
    # Cells of one region have a facet between them where max gates have cut.
    highest, lowest = np.full(number, -1), np.full(number, len(part))
    np.maximum.at(highest, facets, sides)
    np.minimum.at(lowest, facets, sides)
    is_inner = (np.bincount(facets, minlength=number) == 2) & (highest == lowest)
    rows, corners = _corners_of_facets(faces)
    offsets = np.searchsorted(rows, np.arange(number + 1))
    middles = sums(faces.vertices[corners], offsets) / np.diff(offsets)[:, None]
    normals = _normals(faces.vertices[corners] - middles[rows], offsets, rows)
    ids = _in_cycles(faces.vertices, rows, corners, normals)
    is_shown = (sides >= 0) & ~is_inner[facets] & (normals[facets] != 0).any(axis=1)
    order = np.argsort(np.where(is_shown, sides, len(part)), kind="stable")[: is_shown.sum()]
    facets, sides = facets[order], sides[order]
    is_outside = ((middles[facets] - part.witnesses[sides]) * normals[facets]).sum(axis=1) > 0
    counts = np.diff(offsets)[facets]
    begins = np.concatenate([[0], np.cumsum(counts)])
    # Seen from its other side a polygon is turned the other way.
    place = np.arange(begins[-1]) - np.repeat(begins[:-1], counts)
    place = np.where(np.repeat(is_outside, counts), place, np.repeat(counts, counts) - 1 - place)
    found = normals[facets] * np.where(is_outside, 1.0, -1.0)[:, None]
    return PolygonsAroundRegions(
        faces.vertices, begins, ids[np.repeat(offsets[:-1][facets], counts) + place], sides, found
    )


def _corners_of_facets(faces: Faces) -> tuple[np.ndarray, np.ndarray]:
    """Return facets and their corners as pairs, by facets; a corner is an end of two edges of a facet."""
    ends = faces.ids[0].reshape(-1, 2)[faces.ids[1]].reshape(-1)
    rows = np.repeat(np.arange(faces.num_faces[2]), 2 * np.diff(faces.offsets[1]))
    pairs = np.sort(rows * len(faces.vertices) + ends)[::2]
    return pairs // len(faces.vertices), pairs % len(faces.vertices)


def _normals(around: np.ndarray, offsets: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return a unit normal of every polygon, 0 of one without area: from its farthest corner and the one across it."""
    starts = offsets[:-1]
    sizes = (around**2).sum(axis=1)
    far = around[_first_of_largest(sizes, starts, rows)]
    across = np.cross(far[rows], around)
    found = across[_first_of_largest((across**2).sum(axis=1), starts, rows)]
    size, extent = np.linalg.norm(found, axis=1), (far**2).sum(axis=1)
    is_flat = size > ALIKE * extent
    return np.where(is_flat[:, None], found / np.where(is_flat, size, 1.0)[:, None], 0.0)


def _first_of_largest(values: np.ndarray, starts: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return for every row the place of its largest value."""
    largest = np.maximum.reduceat(values, starts) if len(starts) else values[:0]
    places = np.flatnonzero(values == largest[rows])
    return places[np.unique(rows[places], return_index=True)[1]]


def facets_by_qhull(part: Partition) -> PolygonsAroundRegions:
    """Return the facets of all regions from their corners alone."""
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
    rows, ids = np.unique(of_corner, axis=0).T
    normals, offsets = distinct[:, 1:4], np.searchsorted(rows, np.arange(len(distinct) + 1))
    return PolygonsAroundRegions(
        points, offsets, _in_cycles(points, rows, ids, normals), distinct[:, 0].astype(np.int64), normals
    )


def _in_cycles(points: np.ndarray, rows: np.ndarray, ids: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """Return the corners of polygons in cyclic order, counterclockwise as seen from where their normals point."""
    offsets = np.searchsorted(rows, np.arange(len(normals) + 1))
    around = points[ids] - (sums(points[ids], offsets) / np.diff(offsets)[:, None])[rows]
    across = np.eye(3)[np.abs(normals).argmin(axis=1)]
    first = np.cross(normals, across)
    second = np.cross(normals, first)
    angles = np.arctan2((around * second[rows]).sum(axis=1), (around * first[rows]).sum(axis=1))
    return ids[np.lexsort((angles, rows))]


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
