"""The point of a polyhedron nearest to a given one, in l1, l2 or linf, with a bound that no point is nearer.

For multipliers of the rows that are not negative, every y with ``A y <= b`` has ``|y - x| >= m (A x - b) / |A' m|*``
(weak duality with the dual norm), whatever computed the multipliers: the gap between this bound and the distance found
is the certificate. In l2 the method is `active_set`, or `dual_newton` where there are many bounds; in l1 and linf a
linear program over the rows that turn out to matter.
"""

import numpy as np
from jaxtyping import Float
from scipy.optimize import nnls

from reluscope.errors import SolverError
from reluscope.geometry.numbers.norms import L2, Norm
from reluscope.geometry.numbers.scales import times_power
from reluscope.geometry.polyhedra.nearest_by_program import nearest_by_program
from reluscope.geometry.polyhedra.nearest_problem import NOTHING, VIOLATION, NearestPoint, NearestProblem
from reluscope.geometry.programs.active_set import BEYOND, EMPTY, STALLED, ShortestVector, shortest_vector
from reluscope.geometry.programs.dual_newton import shortest_in_box

# Tolerances that are tried, one after the other.
MAX_REFINEMENTS = 4
# With more bounds than this, methods are used that do not take them one at a time.
MANY_BOUNDS = 64


def nearest_point(
    A: Float[np.ndarray, "h n"],
    b: Float[np.ndarray, " h"],
    point: Float[np.ndarray, " n"],
    C: Float[np.ndarray, "k n"] | None = None,
    d: Float[np.ndarray, " k"] | None = None,
    *,
    norm: Norm = L2,
    lower: Float[np.ndarray, " n"] | None = None,
    upper: Float[np.ndarray, " n"] | None = None,
    bound: float = np.inf,
    extent: float = 0.0,
) -> NearestPoint:
    """Return the nearest point of ``{y : A y <= b, C y = d, lower <= y <= upper}``.

    Rows hold within 1e-12 of the distance in l2, within 1e-9 of it in l1 and linf, where the point need not be unique;
    within 1e-12 of the point's size and ``extent`` if they contradict each other. Stops at the distance ``bound``.
    """
    problem = NearestProblem((A, b), (C, d), (lower, upper), point, extent)
    bound = float(times_power(np.array(bound), -problem.exponent))
    if problem.contradiction is not None:
        return problem.contradiction
    spread = norm.stretch(len(point))
    found = _shortest(problem, spread * bound, VIOLATION)
    for _ in range(MAX_REFINEMENTS):
        # Rows and bounds may be farther away than the point that is sought: they do not say how exact it is.
        tolerance = problem.tolerance(found)
        if tolerance is None:
            break
        refined = _shortest(problem, spread * bound, tolerance)
        if refined.status == STALLED or (refined.status == EMPTY and tolerance < problem.least_tolerance):
            break
        found = refined
    bounds = found.upper - found.lower
    if found.status == EMPTY:
        below = problem.below(found.rows, bounds, is_empty=True) / spread
        return problem.result(np.inf, below, None, found.rows, bounds)
    if norm.order != 2 and found.status != BEYOND:
        return nearest_by_program(problem, norm, bound, found)
    below = problem.below(found.rows, bounds)
    # Multipliers of l2 are lengths.
    weights, multipliers = (times_power(one, problem.exponent) for one in (found.rows, bounds))
    if found.status == BEYOND:
        return problem.result(np.inf, below / spread, None, weights, multipliers)
    distance = float(np.linalg.norm(found.vector))
    return problem.result(distance, min(below, distance), found.vector, weights, multipliers)


def _shortest(problem: NearestProblem, bound: float, tolerance: float) -> ShortestVector:
    num_bounds = np.isfinite(problem.lower).sum() + np.isfinite(problem.upper).sum()
    if num_bounds > MANY_BOUNDS and not problem.num_equations and np.isfinite(bound):
        found = shortest_in_box(
            problem.rows,
            problem.slack,
            lower=problem.lower,
            upper=problem.upper,
            bound=bound,
            tolerance=tolerance,
        )
        if found.status != STALLED:
            return found
    found = shortest_vector(
        problem.rows,
        problem.slack,
        num_equations=problem.num_equations,
        lower=problem.lower,
        upper=problem.upper,
        bound=bound,
        tolerance=tolerance,
    )
    return _by_least_squares(problem) if found.status == STALLED else found


def _by_least_squares(problem: NearestProblem) -> ShortestVector:
    """Solve by Lawson and Hanson's reduction to least squares with multipliers that are not negative.

    With the rows G u >= h of the problem, ``min |G' m|^2 + (h m - 1)^2`` over m >= 0 leaves a residual r with
    ``u = r / r_last``, or no residual if the rows contradict each other.
    """
    dim, equations = len(problem.point), problem.num_equations
    has_upper, has_lower = np.isfinite(problem.upper), np.isfinite(problem.lower)
    identity = np.eye(dim)
    rows = np.concatenate([problem.rows, -problem.rows[:equations], identity[has_upper], -identity[has_lower]])
    slack = np.concatenate(
        [problem.slack, -problem.slack[:equations], problem.upper[has_upper], -problem.lower[has_lower]]
    )
    scale = max(float((-slack).max(initial=0.0)), np.finfo(float).tiny)
    try:
        weights, _ = nnls(np.vstack([-rows.T, -slack / scale]), np.append(np.zeros(dim), 1.0))
    except RuntimeError as error:
        raise SolverError(
            f"the nearest point among {len(rows)} half-spaces in {dim} dimensions should have been found, and two "
            "methods ended without one; look for rows of very different size"
        ) from error
    last = 1.0 + float(weights @ slack) / scale
    status = EMPTY if last <= NOTHING else 0
    if status != EMPTY:
        weights = weights * scale / last
    split = np.cumsum([len(problem.rows), equations, int(has_upper.sum())])
    own, opposite, above, below = np.split(weights, split)
    own = own.copy()
    own[:equations] -= opposite
    over, under = np.zeros(dim), np.zeros(dim)
    over[has_upper], under[has_lower] = above, below
    return ShortestVector(status, -(problem.rows.T @ own + over - under), own, over, under)
