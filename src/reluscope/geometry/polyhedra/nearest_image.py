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
from reluscope.geometry.numbers.axis_rows import read_bounds
from reluscope.geometry.numbers.resolutions import FACETS
from reluscope.geometry.numbers.row_scales import unit_rows
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.programs.checked_bounds import upper_bound
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramStatus
from reluscope.tolerance import EPSILON

# Relative to the distance: points that are nearer by less are not nearer.
NEARER = 1e-14
MAX_ROUNDS = 500
# Coordinates without bounds are taken to be at most this many times as large as the given numbers.
FARTHEST = 1e6
# Rays count as leading nearer from this share of their terms on.
LEVEL = 1e-11


@dataclass(frozen=True, eq=False)
class NearestImage:
    """The point of a polyhedron whose image is nearest to a given point.

    NaN at infinite distance if the polyhedron is empty or beyond the bound. Unbounded directions count as at most a
    million times the size of offsets, y and the point found in the proof of ``lower``.
    """

    point: Float[np.ndarray, " n"]
    image: Float[np.ndarray, " m"]  # ``W point + c``
    distance: float  # from the given point
    lower: float  # proved lower bound with all rounding; inf if empty

    @property
    def is_empty(self) -> bool:
        """Whether it is proved that the polyhedron has no points."""
        return self.lower == np.inf


def nearest_image(
    polyhedron: Polyhedron,
    weight: Float[np.ndarray, "m n"],
    bias: Float[np.ndarray, " m"],
    y: Float[np.ndarray, " m"],
    *,
    bound: float = np.inf,
    tolerance: float = FACETS,
) -> NearestImage:
    """Return the point of the image of a polyhedron under ``z -> W z + c`` that is nearest to y.

    Stops once the distance is known within the tolerance, relative to the size of y and the image, or to be at least
    ``bound``. A linear program and a small least-squares problem for each of a few more than m corners.
    """
    size = polyhedron.dim
    nothing = np.full(size, np.nan), np.full(len(bias), np.nan)
    program = _program(polyhedron, cone=False)
    if program is None:
        return NearestImage(*nothing, np.inf, np.inf)
    rays_program: LinearProgram | None = None
    start = program.maximize(np.zeros(size))
    if start.status is not ProgramStatus.OPTIMAL:
        return NearestImage(*nothing, np.inf, np.inf if _Proof(polyhedron, 1.0).is_empty() else 0.0)
    reach = max(1.0, float(np.abs(y).max(initial=0.0)), float(np.abs(start.point).max(initial=0.0)))
    proof = _Proof(polyhedron, reach)
    corners, rays = [start.point], []
    point, lower = start.point, 0.0
    for _ in range(MAX_ROUNDS):
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
        if solved is not None and solved.status is ProgramStatus.OPTIMAL:
            lower = max(lower, min(proof.ahead(way, weight, bias, y, solved.duals), distance))
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
        if np.linalg.norm(weight @ better + bias - y) >= distance * (1 - NEARER):
            break
        point = better
    image = weight @ point + bias
    distance = float(np.linalg.norm(image - y))
    return NearestImage(point, image, distance, min(lower, distance))


class _Proof:
    """Bounds that multipliers of the polyhedron's rows prove, with bounds for all coordinates."""

    def __init__(self, polyhedron: Polyhedron, reach: float) -> None:
        rows, offsets, _ = unit_rows(polyhedron.A, polyhedron.b)
        equations, values, _ = unit_rows(polyhedron.C, polyhedron.d)
        bounds = read_bounds(polyhedron.A, polyhedron.b)
        far = FARTHEST * max(reach, float(np.abs(np.append(offsets, values)).max(initial=0.0)))
        self.lower = np.maximum(np.nextafter(bounds.lower, -np.inf), -far)
        self.upper = np.minimum(np.nextafter(bounds.upper, np.inf), far)
        self.rows = np.concatenate([rows, equations])
        self.high = np.concatenate([offsets, values])
        self.low = np.concatenate([np.full(len(rows), -np.inf), values])
        self.most = np.maximum(np.abs(self.lower), np.abs(self.upper))
        # Rows of length 1 are rounded, and each stands for one in the polyhedron.
        doubt = 4 * EPSILON * (np.abs(self.rows) @ self.most + np.abs(self.high))
        self.high, self.low = self.high + doubt, self.low - doubt

    def ahead(self, way: np.ndarray, weight: np.ndarray, bias: np.ndarray, y: np.ndarray, duals: np.ndarray) -> float:
        """Return how far along a way of length 1, but for rounding, all of the image is from a point."""
        if (self.lower > self.upper).any():
            return np.inf
        given = duals if len(duals) else np.zeros(len(self.rows))
        gain = -way @ weight
        least = -upper_bound(gain, self.rows, self.low, self.high, self.lower, self.upper, given)
        terms = np.abs(way) @ (np.abs(bias) + np.abs(y) + np.abs(weight) @ self.most)
        total = float(way @ (bias - y)) + least - (len(way) + 8) * EPSILON * float(terms + abs(least))
        return max(0.0, total) * (1 - (len(way) + 8) * EPSILON)

    def is_empty(self) -> bool:
        """Return whether multipliers prove that the polyhedron is empty, even with all rows moved outwards a little."""
        if (self.lower > self.upper).any():
            return True
        pairs = np.isfinite(self.low)
        both, ends = np.concatenate([self.rows, -self.rows[pairs]]), np.append(self.high, -self.low[pairs])
        table = np.column_stack([both, -np.ones(len(both))])
        lower = np.append(self.lower, 0.0)
        upper = np.append(self.upper, 1.0 + float((np.abs(both) @ self.most + np.abs(ends)).max(initial=0.0)))
        gain = np.append(np.zeros(both.shape[1]), -1.0)
        program = LinearProgram(len(gain))
        program.set_all_bounds(lower, upper)
        program.add_rows(table, ends)
        duals = program.maximize(gain).duals
        given = duals if len(duals) else np.zeros(len(ends))
        return upper_bound(gain, table, np.full(len(ends), -np.inf), ends, lower, upper, given) < 0


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
