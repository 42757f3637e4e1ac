"""The point of an affine image {W z + c : z in P} of a polyhedron that is nearest to a given one, in l2.

P may be unbounded and W may have any rank: only linear programs over P are asked. With v the vector from the given
point to the nearest point of the hull of the corners and rays found so far, the corner that is least along v either
improves it or proves ``distance >= min <v, W z + c - y> / |v|`` (Wolfe's criterion). Least vectors of hulls come from
non-negative least squares.

Reference: Wolfe, "Finding the nearest point in a polytope" (Mathematical Programming 11, 1976).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.optimize import nnls

from reluscope.errors import SolverError
from reluscope.geometry.linear_program import LinearProgram, Status
from reluscope.geometry.polyhedron import Polyhedron
from reluscope.geometry.row_scales import unit_rows

MOST_ROUNDS = 500
# Rays that lead nearer by less than this share of their terms lead nowhere.
LEVEL = 1e-11


@dataclass(frozen=True, eq=False)
class NearestImage:
    """Where an image of a polyhedron is nearest to a point.

    Parameters
    ----------
    point : (n,) float64
        Of the polyhedron; NaN if that is empty, or beyond the bound.
    image : (m,) float64
        ``W point + c``.
    distance : float
        From the given point; infinite in these two cases.
    lower : float
        No point of the image is nearer; infinite if there is none.
    """

    point: Float[np.ndarray, " n"]
    image: Float[np.ndarray, " m"]
    distance: float
    lower: float

    @property
    def is_empty(self) -> bool:
        """Whether the polyhedron has no points."""
        return self.lower == np.inf


def nearest_image(
    polyhedron: Polyhedron,
    weight: Float[np.ndarray, "m n"],
    bias: Float[np.ndarray, " m"],
    y: Float[np.ndarray, " m"],
    *,
    bound: float = np.inf,
    tolerance: float = 1e-9,
) -> NearestImage:
    """Return the point of the image of a polyhedron under ``z -> W z + c`` that is nearest to y.

    Parameters
    ----------
    polyhedron : Polyhedron
    weight, bias : (m, n) and (m,) float64
    y : (m,) float64
    bound : float
        Stop as soon as the image is known to be at least this far.
    tolerance : float
        Stop when the distance is known so well, relative to the size of y and the image.

    Returns
    -------
    NearestImage

    Notes
    -----
    A linear program and a small problem of non-negative least squares for each of a few more than m corners.

    Examples
    --------
    >>> square = Polyhedron(np.concatenate([np.eye(2), -np.eye(2)]), np.ones(4))
    >>> found = nearest_image(square, np.array([[1.0, 1.0]]), np.zeros(1), np.array([5.0]))  # x_0 + x_1 up to 2
    >>> found.distance, found.lower
    (3.0, 3.0)
    """
    size = polyhedron.dim
    nothing = np.full(size, np.nan), np.full(len(bias), np.nan)
    program = _program(polyhedron, cone=False)
    if program is None:
        return NearestImage(*nothing, np.inf, np.inf)
    rays_program: LinearProgram | None = None
    start = program.maximize(np.zeros(size))
    if start.status is not Status.OPTIMAL:
        return NearestImage(*nothing, np.inf, np.inf)
    corners, rays = [start.point], []
    point, lower = start.point, 0.0
    for _ in range(MOST_ROUNDS):
        shift = weight @ point + bias - y
        distance = float(np.linalg.norm(shift))
        scale = max(1.0, float(np.abs(y).max(initial=0.0)), distance)
        if distance - lower <= tolerance * scale:
            break
        way = shift / distance
        try:
            solved = program.maximize(-way @ weight)
        except SolverError:  # bounded or not by a hair: the recession cone decides
            solved = None
        if solved is not None and solved.status is Status.OPTIMAL:
            ahead = float(way @ (weight @ solved.point + bias - y))
            lower = max(lower, min(ahead, distance))
            if lower >= bound:
                return NearestImage(*nothing, np.inf, lower)
            corners.append(solved.point)
        else:
            if rays_program is None:
                rays_program = _program(polyhedron, cone=True)
                assert rays_program is not None
            ray = rays_program.maximize(-way @ weight).point
            if not way @ (weight @ ray) < -LEVEL * np.abs(way) @ np.abs(weight) @ np.abs(ray):
                break
            rays.append(ray)
        moved = _least(corners, rays, weight, bias, y, distance)
        corners, rays, better = moved
        if np.linalg.norm(weight @ better + bias - y) >= distance * (1 - 1e-14):
            break
        point = better
    image = weight @ point + bias
    distance = float(np.linalg.norm(image - y))
    return NearestImage(point, image, distance, min(lower, distance))


def _program(polyhedron: Polyhedron, *, cone: bool) -> LinearProgram | None:
    """Return the points of the polyhedron, or of its recession cone in [-1, 1]^n; None if a zero row is violated."""
    rows, offsets, kept = unit_rows(polyhedron.A, polyhedron.b)
    equations, values, own = unit_rows(polyhedron.C, polyhedron.d)
    if (np.delete(polyhedron.b, kept) < 0).any() or np.delete(polyhedron.d, own).any():
        return None
    program = LinearProgram(polyhedron.dim)
    if cone:
        ones = np.ones(polyhedron.dim)
        program.set_all_bounds(-ones, ones)
        offsets, values = 0 * offsets, 0 * values
    program.add_rows(rows, offsets)
    program.add_rows(equations, values, values)
    return program


def _least(
    corners: list[np.ndarray], rays: list[np.ndarray], weight: np.ndarray, bias: np.ndarray, y: np.ndarray, scale: float
) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]:
    """Return the corners and rays that the nearest point of their hull needs, and that point.

    ``min |V' a|^2 + (1' a - 1)^2`` over a >= 0 is least at a multiple of the weights of the nearest point.
    """
    columns = [(weight @ corner + bias - y) / scale for corner in corners] + [weight @ ray / scale for ray in rays]
    matrix = np.column_stack(columns)
    sums = np.append(np.ones(len(corners)), np.zeros(len(rays)))
    weights, _ = nnls(np.vstack([matrix, sums]), np.append(np.zeros(len(matrix)), 1.0))
    weights = weights / weights[: len(corners)].sum()
    used = weights > 0
    number = len(corners)
    kept = [corner for corner, take in zip(corners, used[:number], strict=True) if take]
    ways = [ray for ray, take in zip(rays, used[number:], strict=True) if take]
    point = weights[:number][used[:number]] @ np.array(kept)
    if ways:
        point = point + weights[number:][used[number:]] @ np.array(ways)
    return kept, ways, point
