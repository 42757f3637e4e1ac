"""Inscribed balls and boundedness of {x : A x <= b}, each by a linear program.

Balls among many dense rows are left to an interior-point method: there a simplex method takes minutes.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import torch
from jaxtyping import Float

from reluscope.errors import SolverError
from reluscope.geometry.numbers.rational_equations import reduced
from reluscope.geometry.numbers.row_scales import scaled_rows, unit_rows
from reluscope.geometry.numbers.scales import exponents, times_power
from reluscope.geometry.programs.ball_bounds import radius_bound
from reluscope.geometry.programs.convex_questions import largest_balls
from reluscope.geometry.programs.half_space_stack import HalfSpaceStack
from reluscope.geometry.programs.half_spaces import HalfSpaces
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramStatus
from reluscope.geometry.programs.proved_programs import MAX_DIMENSIONS, ProvedSystem
from reluscope.shown import Shown

# From this many entries on the interior-point method is the faster one.
MANY_ENTRIES = 10_000
# What it finds is taken if the gap is this share of the radius.
WELL_PROVED = 1e-6
# Distances beyond this are replaced by it: with larger numbers solvers do not end.
FARTHEST_FOR_SOLVERS = 1e15


@dataclass(frozen=True, eq=False, repr=False)
class Ball(Shown):
    """A largest ball inside a polyhedron.

    Parameters
    ----------
    center : (n,) array
        Centre of the ball.
    radius : float
        Least distance from the centre to a half-space, up to float64 rounding. Zero for a flat polyhedron, negative
        for an empty one, infinite if there are balls of every size (``center`` then belongs to one of them).
    gap : float
        ``radius + gap`` is an upper bound on the radius of every ball inside, up to rounding; infinite if nothing
        is proved.
    """

    center: Float[np.ndarray, " n"]
    radius: float
    gap: float


def row_space(rows: Float[np.ndarray, "h n"]) -> Float[np.ndarray, "k n"]:
    """Return an orthonormal basis of the span of the rows."""
    _, singular, right = np.linalg.svd(rows, full_matrices=False)
    return right[singular > singular[0] * max(rows.shape) * np.finfo(float).eps]


def inscribed_ball(A: Float[np.ndarray, "h n"], b: Float[np.ndarray, " h"], *, seconds: float | None = None) -> Ball:
    """Return a largest ball in {x : A x <= b}: maximise r subject to ``a_i c + |a_i| r <= b_i``.

    Its gap and infinite radii are proved by multipliers and directions; from 10,000 entries of A on the gap, up to 1e-9
    of the radius, leaves out its own rounding. The centre need not be unique.
    """
    dim = A.shape[1]
    if (b[~A.any(axis=1)] < 0).any():
        return Ball(np.zeros(dim), -np.inf, 0.0)
    normals, offsets, kept = unit_rows(A, b)
    center = np.zeros(dim)
    if not len(kept):
        return Ball(center, np.inf, 0.0)
    exponent = int(exponents(offsets))
    offsets = times_power(offsets, -exponent)
    if len(kept) < dim:  # nothing happens outside the row space
        space = row_space(normals)
        ball, duals = _largest_ball(normals @ space.T, offsets, seconds)
        ball = Ball(ball.center @ space, ball.radius, ball.gap)
    else:
        ball, duals = _largest_ball(normals, offsets, seconds)
    if duals is not None:
        rows, ends = scaled_rows(A[kept], b[kept])
        most = radius_bound(rows, times_power(ends, -exponent), ball.center, duals)
        # Of a flat polyhedron rounding leaves what it does.
        gap = float(np.nextafter(most - ball.radius, np.inf))
        ball = Ball(ball.center, ball.radius, max(gap, ball.gap if ball.radius == 0 else 0.0))
    radius, gap = times_power(np.array([ball.radius, ball.gap]), exponent).tolist()
    return Ball(times_power(ball.center, exponent), radius, gap)


def _largest_ball(
    normals: np.ndarray, offsets: np.ndarray, seconds: float | None = None
) -> tuple[Ball, np.ndarray | None]:
    """Solve for rows of length 1, again and again in the scale of the ball found; return multipliers if gaps need any.

    Until then the gap is what the solver says.
    """
    dim = normals.shape[1]
    center = np.zeros(dim)
    if len(normals) == dim and np.linalg.matrix_rank(normals) == dim:
        # Independent rows have a point at distance 1, or any other, from all of them.
        point = np.linalg.solve(normals, offsets - 1.0)
        if (offsets - normals @ point).min() > 0.5 and _all_fall(normals, np.linalg.solve(normals, -np.ones(dim))):
            return Ball(point, np.inf, 0.0), None
    if normals.size >= MANY_ENTRIES and (quick := _by_interior_point(normals, offsets)) is not None:
        return quick, None
    rows = np.column_stack([normals, np.ones(len(normals))])
    objective = np.append(np.zeros(dim), 1.0)
    scale, noise, best, duals = 1.0, 0.0, Ball(center, -np.inf, np.inf), np.zeros(len(normals))
    for _ in range(4):
        distances = (offsets - normals @ center) / scale
        program = LinearProgram(dim + 1, seconds=seconds)
        # Rows that are moved nearer leave a ball that is inside; its gap is computed from the true distances.
        program.add_rows(rows, np.minimum(distances, FARTHEST_FOR_SOLVERS))
        solution = program.maximize(objective)
        if solution.status is ProgramStatus.UNBOUNDED:
            return _endless_ball(normals, offsets, program, center, scale), None
        center = center + scale * solution.point[:dim]
        radius = float((offsets - normals @ center).min())
        # A solver takes distances below its tolerance for zero; its multipliers show how much of the value that lost.
        gap = max(0.0, scale * max(solution.value, float(solution.duals @ distances)) - radius)
        if radius > best.radius:
            best, duals = Ball(center, radius, gap), solution.duals
        center = best.center
        scale = max(abs(best.radius), best.gap)
        noise = _rounding_of_least(normals, offsets, center)
        if best.gap <= 1e-6 * abs(best.radius) or scale <= noise:
            break
    if abs(best.radius) <= noise:  # distances of this size are what rounding leaves of zero
        return Ball(best.center, 0.0, max(best.gap, noise)), duals
    return best, duals


def _rounding_of_least(normals: np.ndarray, offsets: np.ndarray, point: np.ndarray) -> float:
    """Return what rounding can do to the least distance of a point to half-spaces: to those that may be the nearest."""
    distances = offsets - normals @ point
    noise = 4 * np.finfo(float).eps * (np.abs(offsets) + np.linalg.norm(point))
    return float(noise[distances - noise <= (distances + noise).min()].max())


def _endless_ball(
    normals: np.ndarray, offsets: np.ndarray, program: LinearProgram, center: np.ndarray, scale: float
) -> Ball:
    """Return a ball where a solver finds no end: of infinite radius if all rows fall on some way, else what it is."""
    dim = normals.shape[1]
    program.set_bounds(dim, -np.inf, 1.0)
    center = center + scale * program.maximize(np.append(np.zeros(dim), 1.0)).point[:dim]
    if _all_fall(normals, _direction_of_fall(normals)):
        return Ball(center, np.inf, 0.0)
    return Ball(center, float((offsets - normals @ center).min()), np.inf)


def _by_interior_point(normals: np.ndarray, offsets: np.ndarray) -> Ball | None:
    """Return a largest ball, or None for flat and empty polyhedra, which are for a simplex method."""
    start = torch.zeros(1, normals.shape[1], dtype=torch.float64)
    centers, radii, gaps = largest_balls(HalfSpaceStack.of([HalfSpaces.of(normals, offsets)]), start)
    ball = Ball(centers[0], float(radii[0]), float(gaps[0]))
    return ball if (ball.radius > 0 and ball.gap <= WELL_PROVED * ball.radius) or np.isinf(ball.radius) else None


def is_cone_trivial(A: Float[np.ndarray, "h n"], C: Float[np.ndarray, "k n"] | None = None) -> bool:
    """Return whether no r except 0 has ``A r <= 0`` and ``C r = 0``.

    The answer is checked in floats, or decided in rational arithmetic in up to 16 dimensions; beyond, the linear
    program is believed.
    """
    dim = A.shape[1]
    both = A if C is None else np.concatenate([A, C, -C])
    normals, _, kept = unit_rows(both, np.zeros(len(both)))
    if dim == 0:
        return True
    if len(kept) <= dim:
        return False
    singular = np.linalg.svd(normals, compute_uv=False)
    rounding = 8 * max(normals.shape) * np.finfo(float).eps * float(singular[0])
    is_trivial, failure = False, None
    if singular[-1] > rounding:
        program = LinearProgram(dim)
        program.add_rows(normals, np.zeros(len(normals)), np.full(len(normals), -1.0))
        try:
            found = program.maximize(-normals.sum(axis=0))
        except SolverError as error:  # fractions may still know
            found, failure = None, error
        is_trivial = found is not None and found.value < 0.5
        if found is not None and is_trivial:
            weights = 1.0 + np.maximum(found.duals, 0.0)
            rest = np.linalg.norm(normals.T @ weights) + rounding * weights.sum()
            if rest < singular[-1] - rounding:
                return True
    if failure is None and not is_trivial and _all_fall(normals, _direction_of_fall(normals)):
        return False
    # Powers of two keep the rows what they are.
    exact = [[Fraction(entry) for entry in row] for row in scaled_rows(both[kept], np.zeros(len(kept)))[0].tolist()]
    if dim <= MAX_DIMENSIONS and len(reduced([*row, Fraction(0)] for row in exact)) < dim:
        return False
    gain = [-sum(column, Fraction(0)) for column in zip(*exact, strict=True)]
    nothing = np.zeros((0, dim)), np.zeros(0)
    proved = ProvedSystem(both[kept], np.zeros(len(kept)), *nothing).maximum(gain)
    if proved is None and failure is not None:
        raise failure
    return is_trivial if proved is None else proved.status is ProgramStatus.OPTIMAL


def _direction_of_fall(normals: np.ndarray) -> np.ndarray:
    """Return the direction along which all rows, of length 1, fall most."""
    dim = normals.shape[1]
    program = LinearProgram(dim + 1)
    program.set_all_bounds(-np.ones(dim + 1), np.ones(dim + 1))
    program.add_rows(np.column_stack([normals, np.ones(len(normals))]), np.zeros(len(normals)))
    return program.maximize(np.append(np.zeros(dim), 1.0)).point[:dim]


def _all_fall(normals: np.ndarray, way: np.ndarray) -> bool:
    """Return whether all rows fall along a direction by more than rounding, that of the rows included."""
    return bool((normals @ way < -16 * (len(way) + 2) * np.finfo(float).eps * np.abs(way).sum()).all())
