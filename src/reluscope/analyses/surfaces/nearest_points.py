"""The nearest points of triangles in space and segments in the plane, with ends that hold however they were found.

The distance to any point of a triangle is an upper end. A lower end is how far the triangle is in the direction of that
point: all of it lies behind the plane through its nearest corner in this direction.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from reluscope.analyses.surfaces.box_tree import BoxTree, at_most, gaps
from reluscope.geometry.numbers.resolutions import UNIT_ROUNDOFF
from reluscope.geometry.numbers.scales import exponents, times_power
from reluscope.partitions.levels.level_polygons import fan_pieces
from reluscope.partitions.levels.level_sets import LevelSet

# Of a few dozen operations on differences of coordinates, as a share of the largest.
ROUNDED = 64 * UNIT_ROUNDOFF
# Questions that go through the tree together.
BATCH = 2048


@dataclass(frozen=True)
class Nearest:
    """What is nearest to points.

    ``low`` and ``high`` are ends for the distance to the surface with its vertices where they should be.
    """

    points: Float[np.ndarray, "s d"]  # the nearest points found; NaN without a surface
    pieces: Int[np.ndarray, " s"]  # the pieces they are on; -1 where there is none
    distances: Float[np.ndarray, " s"]  # of the nearest points found
    low: Float[np.ndarray, " s"]
    high: Float[np.ndarray, " s"]


class NearestPieces:
    """The pieces of a level set as triangles, or segments, in a tree.

    ``corners`` (t, 3, d) of triangles, segments with their second end twice; ``pieces`` (t,) that each is a part of;
    ``normals`` (t, d); ``errors`` (t,), how far corners may be from where they should be.
    """

    def __init__(self, surface: LevelSet) -> None:
        if surface.dim == 3:
            ids, self.pieces = surface.triangles(), fan_pieces(surface.offsets)
        else:
            ids, self.pieces = surface.ids.reshape(-1, 2)[:, [0, 1, 1]], np.arange(len(surface))
        self.corners = surface.vertices[ids]
        self.normals = surface.normals[self.pieces]
        self.errors = surface.vertex_errors[ids].max(axis=1)
        reach = self.errors[:, None]
        self._tree = BoxTree(self.corners.min(axis=1) - reach, self.corners.max(axis=1) + reach)

    def __len__(self) -> int:
        return len(self.corners)

    def find(self, points: Float[np.ndarray, "s d"]) -> Nearest:
        """Return what is nearest to points."""
        number = len(points)
        found = Nearest(
            np.full(points.shape, np.nan), np.full(number, -1), *(np.full(number, np.inf) for _ in range(3))
        )
        if len(self):
            for start in range(0, number, BATCH):
                part = slice(start, start + BATCH)
                self._find(points[part], Nearest(*(getattr(found, name)[part] for name in found.__annotations__)))
        return found

    def distances_to(self, points: Float[np.ndarray, "s d"], pieces: Int[np.ndarray, " s"]) -> Float[np.ndarray, " s"]:
        """Return upper ends for the distances of points to pieces, one for each."""
        starts = np.searchsorted(self.pieces, pieces)
        counts = np.searchsorted(self.pieces, pieces, side="right") - starts
        rows = np.repeat(np.arange(len(points)), counts)
        before = np.cumsum(counts) - counts
        things = np.arange(len(rows)) - before[rows] + starts[rows]
        nearest = nearest_points(points[rows], self.corners[things])
        _, high = distance_ends(points[rows], nearest, self.corners[things], self.normals[things], self.errors[things])
        found = np.full(len(points), np.inf)
        np.minimum.at(found, rows, high)
        return found

    def _find(self, points: np.ndarray, found: Nearest) -> None:
        # Some corner of what is in the nearest box is no farther than this: first boxes are narrowed by their corners.
        most = np.full(len(points), np.inf)

        def keep(rows: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
            # All of a box that is not empty is within reach of its farthest corner.
            far = np.linalg.norm(np.maximum(high - points[rows], points[rows] - low), axis=1)
            np.minimum.at(most, rows, far)
            return at_most(gaps(points[rows], low, high), most[rows])

        rows, things = self._tree.pairs(len(points), keep)
        nearest = nearest_points(points[rows], self.corners[things])
        low, high = distance_ends(
            points[rows], nearest, self.corners[things], self.normals[things], self.errors[things]
        )
        distances = np.linalg.norm(nearest - points[rows], axis=1)
        order = np.lexsort((self.pieces[things], distances, rows))
        _, first = np.unique(rows[order], return_index=True)
        best = order[first]
        found.points[:], found.pieces[:] = nearest[best], self.pieces[things[best]]
        found.distances[:] = distances[best]
        np.minimum.at(found.low, rows, low)
        np.minimum.at(found.high, rows, high)


def nearest_points(points: Float[np.ndarray, "c d"], corners: Float[np.ndarray, "c 3 d"]) -> Float[np.ndarray, "c d"]:
    """Return the nearest point of each triangle, up to rounding: inside, on a side or at a corner."""
    power = exponents(np.concatenate([points, corners.reshape(len(points), -1)], axis=1), 1)[:, None]
    points, corners = times_power(points, -power), times_power(corners, -power[:, None])  # products stay in range
    first, one, two = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    candidates = []
    for tail, head in ((0, 1), (1, 2), (2, 0)):
        along = corners[:, head] - corners[:, tail]
        length = (along**2).sum(axis=1)
        share = ((points - corners[:, tail]) * along).sum(axis=1) / np.where(length > 0, length, 1.0)
        candidates.append(corners[:, tail] + np.clip(share, 0.0, 1.0)[:, None] * along)
    away = points - first
    a, b, c = (one * one).sum(axis=1), (one * two).sum(axis=1), (two * two).sum(axis=1)
    p, q = (away * one).sum(axis=1), (away * two).sum(axis=1)
    size = a * c - b * b
    s, t = (top / np.where(size > 0, size, 1.0) for top in (c * p - b * q, a * q - b * p))
    inside = (s >= 0) & (t >= 0) & (s + t <= 1)
    s, t = np.where(inside, s, 0.0), np.where(inside, t, 0.0)
    candidates.append(first + s[:, None] * one + t[:, None] * two)
    table = np.stack(candidates)
    best = ((table - points) ** 2).sum(axis=2).argmin(axis=0)
    return times_power(table[best, np.arange(len(points))], power)


def distance_ends(
    points: Float[np.ndarray, "c d"],
    nearest: Float[np.ndarray, "c d"],
    corners: Float[np.ndarray, "c 3 d"],
    normals: Float[np.ndarray, "c d"],
    errors: Float[np.ndarray, " c"],
) -> tuple[Float[np.ndarray, " c"], Float[np.ndarray, " c"]]:
    """Return ends for the distances to triangles, from a point of each, a normal, and corners' errors.

    Normals serve points above the inside of a thin triangle, which has no good nearest point: any direction will do.
    """
    step = nearest - points
    distances = np.linalg.norm(step, axis=1)
    direction = step / np.where(distances > 0, distances, 1.0)[:, None]
    away = corners - points[:, None]
    along, across = ((away * one[:, None]).sum(axis=2) for one in (direction, normals))
    behind = np.maximum.reduce([along.min(axis=1), across.min(axis=1), -across.max(axis=1)])
    # Points that were found are off by the rounding of coordinates themselves, not of differences alone.
    rounded = ROUNDED * (np.linalg.norm(away, axis=2).max(axis=1) + np.abs(nearest).max(axis=1))
    return np.maximum(0.0, behind - errors - rounded), distances + errors + rounded
