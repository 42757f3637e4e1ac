"""Vertices and volume of {x : A x <= b} in few dimensions, by the convex hull of the polar points (Qhull).

Around an inner point c the row ``a x <= b`` is the polar point ``a / (b - a c)``. Facets of the convex hull of these
points and of the origin are the vertices; facets through the origin are the directions of unbounded edges.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cmp_to_key
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import ConvexHull, QhullError

from reluscope.errors import DegenerateGeometryError, InputError
from reluscope.geometry.numbers.coincidence import coincident_groups
from reluscope.geometry.numbers.row_scales import unit_rows
from reluscope.geometry.numbers.scales import exponents, lengths, times_power
from reluscope.geometry.polyhedra.interior import Ball
from reluscope.geometry.polyhedra.rational_polytopes import between, integer_row, sides_of
from reluscope.geometry.programs.proved_programs import nearest

# Relative to the polar body: facets nearer to the origin are of corners that are nowhere.
FARTHEST = 1e-12
# Facets of the polar body closer to the origin than this may be vertices far away or no vertices at all.
FAR = 1e-9
# Points that are thinner than this, relative to their extent, are flat where their hull cannot be made as they are.
FLAT = 1e-12
# Points that are thinner than this are made as wide in all directions first.
THIN = 1e-2
# In how many orders points are tried then.
ORDERS = 8
# Where fractions are asked instead: their work grows fast with both.
DIMENSIONS_OF_FRACTIONS, ROWS_OF_FRACTIONS = 4, 64


class Corners(NamedTuple):
    """Vertices, and whether floats decide that these are all of them."""

    points: Float[np.ndarray, "v n"]
    are_all: bool


def corners(A: Float[np.ndarray, "h n"], b: Float[np.ndarray, " h"], ball: Ball, tolerance: float) -> Corners:
    """Return the vertices of a polyhedron, in the plane counter-clockwise; None if it contains a line.

    At most 9 dimensions; the ball has to lie inside. Vertices closer than the tolerance, in coordinates in which the
    ball is the unit ball and relative to their distance, are one.
    """
    dim = A.shape[1]
    if dim > 9:
        raise InputError(f"vertices are listed in at most 9 dimensions, got a polyhedron in {dim}")
    normals, offsets, _ = unit_rows(A, b)
    if len(normals) < dim or np.linalg.matrix_rank(normals) < dim:
        return Corners(np.empty((0, dim)), are_all=True)
    slack = offsets - normals @ ball.center
    scale = ball.radius if np.isfinite(ball.radius) else np.ldexp(1.0, int(exponents(slack)) - 1)
    polar = normals / (slack / scale)[:, None]
    if dim == 1:
        ends = [end for end in (min(0.0, polar.min()), max(0.0, polar.max())) if end != 0]
        found, are_all = 1 / np.array(ends).reshape(-1, 1), True
    else:
        found, are_all = _polar_vertices(polar)
    distance = lengths(found)
    table = np.column_stack([found / np.maximum(1.0, distance)[:, None], np.log(np.maximum(1.0, distance))])
    found = found[[group[0] for group in coincident_groups(table, tolerance)]]
    if dim == 2:
        found = found[order_around(found)]
    return Corners(ball.center + scale * found, are_all)


def order_around(points: Float[np.ndarray, "v 2"]) -> Int[np.ndarray, " v"]:
    """Return the order of points around the origin, counter-clockwise: a strip is stretched to a square first."""
    sizes = np.abs(points).max(axis=0, initial=np.finfo(float).tiny)
    return np.argsort(np.arctan2(points[:, 1] / sizes[1], points[:, 0] / sizes[0]))


def exact_corners(
    A: Float[np.ndarray, "h n"], b: Float[np.ndarray, " h"]
) -> tuple[Float[np.ndarray, "v n"], float] | None:
    """Return a bounded polyhedron's vertices and volume by fractions, None if that takes too long."""
    return corners_of_sides(sides_of(A.tolist(), b.tolist()))


def corners_of_sides(sides: Sequence[tuple[Fraction, ...]]) -> tuple[Float[np.ndarray, "v n"], float] | None:
    """Return the vertices of a polyhedron of rows ``a . x + c >= 0`` in fractions, and its volume.

    None if that takes too long. There are no vertices if it contains a line.
    """
    dim = len(sides[0]) - 1 if sides else 0
    if not 0 < dim <= DIMENSIONS_OF_FRACTIONS or len(sides) > ROWS_OF_FRACTIONS:
        return None
    lines, whole = between(dim, [integer_row(side) for side in sides])
    if whole is None:
        return np.empty((0, dim)), 0.0
    if lines:
        return np.empty((0, dim)), np.inf
    points = whole.points()
    if dim == 2:
        points = _counter_clockwise(points)
    volume = float(whole.volume()) if whole.is_bounded else np.inf
    return np.array([[nearest(x) for x in point] for point in points]), volume


def _counter_clockwise(points: Sequence[tuple[Fraction, ...]]) -> list[tuple[Fraction, ...]]:
    """Return the corners of a convex polygon in counter-clockwise order, from the leftmost one on."""
    first, *others = sorted(points)

    # All others lie in a half-plane right of the first one.
    def turn(one: tuple[Fraction, ...], two: tuple[Fraction, ...]) -> int:
        area = (one[1] - first[1]) * (two[0] - first[0]) - (one[0] - first[0]) * (two[1] - first[1])
        return (area > 0) - (area < 0)

    return [first, *sorted(others, key=cmp_to_key(turn))]


def hull_volume(vertices: Float[np.ndarray, "v n"]) -> float:
    """Return the volume of the convex hull of points: length in one dimension, area in two.

    Zero for points that are flat but for rounding.
    """
    dim = vertices.shape[1]
    if len(vertices) <= dim:
        return 0.0
    if dim == 1:
        return float(np.ptp(vertices))
    moved = vertices - vertices[0]
    exponent = int(exponents(moved))
    moved = times_power(moved, -exponent)
    stretched, widths, _ = np.linalg.svd(moved - moved.mean(axis=0), full_matrices=False)
    try:
        # Of a sliver Qhull takes facets for one that are not, and the volume may be any.
        volume = _volume_along_axes(stretched, widths) if widths[-1] <= THIN * widths[0] else ConvexHull(moved).volume
    except QhullError:
        volume = _volume_along_axes(stretched, widths)
    return float(times_power(np.array(volume), dim * exponent))


def _volume_along_axes(stretched: Float[np.ndarray, "v n"], widths: Float[np.ndarray, " n"]) -> float:
    """Return the volume of a hull that Qhull cannot make of points as they are; some orders and shapes confuse it.

    The points are stretched along their main axes until they are as wide in all directions, and given in other orders.
    """
    if widths[-1] <= FLAT * widths[0]:
        return 0.0
    orders = [np.roll(stretched, turn, axis=0)[:: 1 - 2 * (turn % 2)] for turn in range(ORDERS)]
    # Corners that come twice but for rounding confuse it in any order; moved by about as much ("QJ"), they do not.
    for points, moved in [*((one, None) for one in orders), (stretched, "QJ")]:
        try:
            return float(ConvexHull(points, qhull_options=moved).volume * widths.prod())
        except QhullError:
            continue
    return 0.0


def _polar_vertices(polar: Float[np.ndarray, "h n"]) -> Corners:
    try:
        hull = ConvexHull(np.vstack([polar, np.zeros(polar.shape[1])]))
    except QhullError as error:
        reason = str(error).strip().splitlines()[0]
        raise DegenerateGeometryError(f"the vertices need a polyhedron that is not nearly flat: {reason}") from error
    outward, depth = hull.equations[:, :-1], -hull.equations[:, -1]
    proper = (depth > FARTHEST) & ~(hull.simplices == len(polar)).any(axis=1)
    return Corners(outward[proper] / depth[proper, None], are_all=bool((depth > FAR).all()))
