"""The point of a polyhedron nearest to a given one, in l1, l2 or linf, with a bound that no point is nearer.

For multipliers of the rows that are not negative, every y with ``A y <= b`` has ``|y - x| >= m (A x - b) / |A' m|*``
(weak duality with the dual norm), whatever computed the multipliers: the gap between this bound and the distance found
is the certificate. In l2 the method is `active_set`, or `dual_newton` where there are many bounds; in l1 and linf a
linear program over the rows that turn out to matter.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.optimize import nnls

from reluscope.errors import SolverError
from reluscope.geometry.numbers.norms import L2, Norm
from reluscope.geometry.numbers.scales import exponents, lengths, times_power
from reluscope.geometry.programs.active_set import BEYOND, EMPTY, FOUND, STALLED, ShortestVector, shortest_vector
from reluscope.geometry.programs.dual_newton import shortest_in_box
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramStatus
from reluscope.geometry.programs.proved_programs import MAX_DIMENSIONS, ProvedSystem
from reluscope.tolerance import EPSILON

# Relative to the point's size: what is left of 1 if multipliers prove that there is no point.
NOTHING = 1e-14
# Violations of rows of length 1 that count as none, relative to the distance; rows that contradict each other by no
# more than this share of the point's size leave a point that violates them by so much.
VIOLATION = 1e-12
# Tolerances that are tried, one after the other.
MAX_REFINEMENTS = 4
# Rows that join a linear program at a time.
MAX_NEW_ROWS = 64
# With more bounds than this, methods are used that do not take them one at a time.
MANY_BOUNDS = 64


@dataclass(frozen=True, eq=False)
class NearestPoint:
    """The point of a polyhedron nearest to a given point, with a proved lower bound of the distance.

    Empty polyhedra have multipliers of a contradiction: ``A' m + C' e + f = 0``, with a negative sum over offsets and
    bounds. ``lower`` is infinite only if emptiness is proved, in fractions or by bounds.
    """

    point: Float[np.ndarray, " n"]  # NaN if empty or found to be beyond the bound
    distance: float  # infinite if empty or beyond the bound
    lower: float  # proved by multipliers, less the rounding of all sums
    multipliers: Float[np.ndarray, " h"]  # of the rows, not negative
    equation_multipliers: Float[np.ndarray, " k"]  # of the equations
    bound_multipliers: Float[np.ndarray, " n"]  # upper > 0, lower < 0; 0 in l1, linf unless empty

    @property
    def gap(self) -> float:
        """How far the distance is above the bound that nothing is nearer; 0 where there is no point."""
        return self.distance - self.lower if np.isfinite(self.distance) else 0.0

    @property
    def is_empty(self) -> bool:
        """Whether the polyhedron is proved empty, by a contradiction of its rows."""
        return self.lower == np.inf


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
    problem = _Problem((A, b), (C, d), (lower, upper), point, extent)
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
        return _by_program(problem, norm, bound, found)
    below = problem.below(found.rows, bounds)
    # Multipliers of l2 are lengths.
    weights, multipliers = (times_power(one, problem.exponent) for one in (found.rows, bounds))
    if found.status == BEYOND:
        return problem.result(np.inf, below / spread, None, weights, multipliers)
    distance = float(np.linalg.norm(found.vector))
    return problem.result(distance, min(below, distance), found.vector, weights, multipliers)


class _Problem:
    """The polyhedron seen from the point: equations first, rows of length 1, slacks ``b - A x``, in its own unit."""

    def __init__(
        self,
        inequalities: tuple[np.ndarray, np.ndarray],
        equations: tuple[np.ndarray | None, np.ndarray | None],
        bounds: tuple[np.ndarray | None, np.ndarray | None],
        point: np.ndarray,
        extent: float,
    ) -> None:
        (A, b), (C, d), (lower, upper), dim = inequalities, equations, bounds, len(point)
        C = np.empty((0, dim)) if C is None else C
        d = np.empty(0) if d is None else d
        lower = np.full(dim, -np.inf) if lower is None else lower
        upper = np.full(dim, np.inf) if upper is None else upper
        self.point = point
        self.heights = len(b), len(d)
        rows, offsets = (C, d) if not len(A) else (A, b) if not len(C) else (np.concatenate([C, A]), np.append(d, b))
        long = lengths(rows)
        kept = long > 0
        if not kept.all():
            rows, offsets, long = rows[kept], offsets[kept], long[kept]
        self.kept_equations, self.kept = kept[: len(d)], kept[len(d) :]
        self.lengths, self.rows = long, rows / long[:, None]
        slack = offsets / long - self.rows @ point
        self.num_equations = int(self.kept_equations.sum())
        # Differences are rounded outwards.
        low, high = np.nextafter(lower - point, -np.inf), np.nextafter(upper - point, np.inf)
        low[lower == point], high[upper == point] = 0.0, 0.0
        steps = np.concatenate([low, high])
        self.exponent = int(exponents(np.concatenate([[extent], point, slack, steps[np.isfinite(steps)]])))
        self.slack = times_power(slack, -self.exponent)
        known = times_power(np.abs(np.append(point, extent)), -self.exponent)
        self.least_tolerance = VIOLATION * float(known.max())
        self.lower, self.upper = np.split(times_power(steps, -self.exponent), 2)
        self.given = C[self.kept_equations], d[self.kept_equations], A[self.kept], b[self.kept], lower, upper
        # What rounding makes of the slacks of rows, and of rows of length 1 themselves.
        self.rounding = (len(point) + 8) * EPSILON
        sizes = np.abs(times_power(offsets / long, -self.exponent))
        sizes += np.abs(self.rows) @ np.abs(times_power(point, -self.exponent))
        self.doubt = 2.0 * self.rounding * (sizes + float(np.linalg.norm(times_power(point, -self.exponent))))
        self.contradiction = None if kept.all() else self._contradiction(A, b, C, d)

    def _contradiction(self, A: np.ndarray, b: np.ndarray, C: np.ndarray, d: np.ndarray) -> NearestPoint | None:
        """Return the emptiness that a row of zeros, or crossed bounds, prove by themselves."""
        rows, equations, bounds = np.zeros(len(b)), np.zeros(len(d)), np.zeros(len(self.point))
        wrong = np.flatnonzero(~A.any(axis=1) & (b < 0))
        unequal = np.flatnonzero(~C.any(axis=1) & (d != 0))
        if len(wrong):
            rows[wrong[0]] = 1.0
        elif len(unequal):
            equations[unequal[0]] = -np.sign(d[unequal[0]])
        else:
            return None
        return NearestPoint(np.full(len(self.point), np.nan), np.inf, np.inf, rows, equations, bounds)

    def below(self, weights: np.ndarray, bounds: np.ndarray, *, is_empty: bool = False) -> float:
        """Return the least length, in l2, that multipliers of rows and bounds leave to a step, less all rounding.

        Where they are to contradict each other, the combination of rows is nothing but rounding: in fractions it can
        vanish, and within finite bounds what it comes to is small.
        """
        weights, sides = self.clipped(weights), np.where(bounds > 0, self.upper, np.where(bounds < 0, self.lower, 0.0))
        if not np.isfinite(sides).all():
            return 0.0
        ends = bounds * sides
        value = -float(weights @ self.slack) - float(ends.sum())
        terms = float(np.abs(weights) @ (np.abs(self.slack) + 2 * self.doubt)) + 4 * float(np.abs(ends).sum())
        value -= float(np.abs(weights) @ self.doubt) + (len(weights) + len(ends) + 4) * EPSILON * terms
        if not value > 0:
            return 0.0
        form = self.rows.T @ weights + bounds
        total = float(np.abs(weights).sum() + np.abs(bounds).sum())
        rest = (self.rounding + (len(weights) + 4) * EPSILON) * total
        if is_empty and (self._is_far(form, rest, value) or self._is_contradicted(weights, bounds)):
            return np.inf
        return value / ((float(np.linalg.norm(form)) + rest) * (1 + self.rounding))

    def tolerance(self, found: ShortestVector) -> float | None:
        """Return a smaller tolerance if a vector violates sides by more than is little beside it, else None.

        Below the least tolerance only sides that were passed over count: at tight ones the rest is rounding.
        """
        if found.status != FOUND:
            return None
        beyond = self.rows @ found.vector - self.slack
        beyond[: self.num_equations] = np.abs(beyond[: self.num_equations])
        sides = np.maximum(found.vector - self.upper, self.lower - found.vector)
        excess = max(float(beyond.max(initial=0.0)), float(sides.max(initial=0.0)))
        length = float(np.linalg.norm(found.vector))
        if excess > max(VIOLATION * length, self.least_tolerance):
            return max(VIOLATION * max(length, excess), self.least_tolerance)
        beyond = (beyond - self.doubt)[found.rows == 0]
        sides = sides[(found.upper == 0) & (found.lower == 0)]
        excess = max(float(beyond.max(initial=0.0)), float(sides.max(initial=0.0)))
        return VIOLATION * max(length, excess) if excess > VIOLATION * length else None

    def clipped(self, weights: np.ndarray) -> np.ndarray:
        """Return multipliers, those of inequalities with zero in place of negative numbers."""
        return np.append(weights[: self.num_equations], np.maximum(weights[self.num_equations :], 0.0))

    def _is_far(self, form: np.ndarray, rest: float, value: float) -> bool:
        """Return whether no step within the bounds lets a form, plus or minus a rest, reach a value."""
        with np.errstate(over="ignore"):
            reach = np.maximum(np.abs(self.lower), np.abs(self.upper))
            return bool(np.isfinite(reach).all() and 2 * ((np.abs(form) + rest) * reach).sum() < value)

    def _is_contradicted(self, weights: np.ndarray, bounds: np.ndarray) -> bool:
        """Return whether multipliers near these prove in fractions that there is no step."""
        if len(self.point) > MAX_DIMENSIONS:
            return False
        equations, values, rows, offsets, lower, upper = self.given
        above, below = np.isfinite(upper), np.isfinite(lower)
        units = np.eye(len(self.point))
        system = ProvedSystem(
            np.concatenate([rows, units[above], -units[below]]),
            np.concatenate([offsets, upper[above], -lower[below]]),
            equations,
            values,
        )
        own, others = weights[self.num_equations :], weights[: self.num_equations]
        return system.is_excluded_by(
            np.concatenate([own, np.maximum(bounds, 0.0)[above], np.maximum(-bounds, 0.0)[below], others])
        )

    def result(
        self, distance: float, below: float, step: np.ndarray | None, weights: np.ndarray, bounds: np.ndarray
    ) -> NearestPoint:
        """Return the answer in the rows that were given."""
        where = np.full(len(self.point), np.nan)
        if step is not None:
            where = self.point + times_power(step, self.exponent)
        distance, below = times_power(np.array([distance, below]), self.exponent).tolist()
        rows, equations = np.zeros(self.heights[0]), np.zeros(self.heights[1])
        equations[self.kept_equations] = (weights / self.lengths)[: self.num_equations]
        rows[self.kept] = np.maximum(weights / self.lengths, 0.0)[self.num_equations :]
        return NearestPoint(where, distance, below, rows, equations, bounds)


def _shortest(problem: _Problem, bound: float, tolerance: float) -> ShortestVector:
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


def _by_least_squares(problem: _Problem) -> ShortestVector:
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


def _by_program(problem: _Problem, norm: Norm, bound: float, start: ShortestVector) -> NearestPoint:
    """Solve in l1 or linf, first with the rows that matter in l2."""
    no_bounds, longest = np.zeros(len(problem.point)), float(np.abs(start.vector).max(initial=0.0))
    weights = start.rows / max(float(np.linalg.norm(start.vector)), np.finfo(float).tiny)
    below = _weak_bound(problem, norm, weights)
    if longest <= VIOLATION:
        distance = float(norm.size(start.vector))
        return problem.result(distance, min(below, distance), start.vector, weights, no_bounds)
    program = (_L1Program if norm.order == 1 else _LinfProgram)(problem, longest)
    taken = start.rows != 0
    taken[: problem.num_equations] = True
    fresh = np.flatnonzero(taken)
    order: list[int] = []
    while True:
        program.add(problem, fresh)
        order.extend(fresh.tolist())
        step, duals = program.solve()
        if step is None:  # rows that contradict each other by less than rounding: the point of l2 is as good as any
            distance = float(norm.size(start.vector))
            return problem.result(distance, min(below, distance), start.vector, weights, no_bounds)
        weights = np.zeros(len(problem.rows))
        weights[order] = duals
        below = max(below, _weak_bound(problem, norm, weights))
        if below >= bound:
            return problem.result(np.inf, below, None, weights, no_bounds)
        excess = problem.rows @ step - problem.slack
        excess[: problem.num_equations] = 0.0
        excess[taken] = 0.0
        fresh = np.flatnonzero(excess > VIOLATION * longest)
        if not len(fresh):
            distance = float(norm.size(step))
            return problem.result(distance, min(below, distance), step, weights, no_bounds)
        fresh = fresh[np.argsort(-excess[fresh])[:MAX_NEW_ROWS]]
        taken[fresh] = True


class _L1Program:
    """Steps are differences ``p - q`` of vectors that are not negative; the length is the sum of all entries."""

    def __init__(self, problem: _Problem, longest: float) -> None:
        dim = self.dim = len(problem.lower)
        # Solvers compare with numbers of about one.
        self.longest = longest
        self.program = LinearProgram(2 * dim)
        low, high = problem.lower / longest, problem.upper / longest
        self.program.set_all_bounds(np.maximum(np.append(low, -high), 0.0), np.maximum(np.append(high, -low), 0.0))

    def add(self, problem: _Problem, which: np.ndarray) -> None:
        """Append rows of the problem."""
        slack = problem.slack[which] / self.longest
        below = np.where(which < problem.num_equations, slack, -np.inf)
        rows = problem.rows[which]
        self.program.add_rows(np.concatenate([rows, -rows], axis=1), slack, below)

    def solve(self) -> tuple[np.ndarray | None, np.ndarray]:
        """Return the step, None if the rows contradict each other, and the multipliers of the rows."""
        found = self.program.maximize(np.full(2 * self.dim, -1.0))
        if found.status is not ProgramStatus.OPTIMAL:
            return None, found.duals
        return self.longest * (found.point[: self.dim] - found.point[self.dim :]), found.duals


class _LinfProgram:
    """Steps are ``r w`` with -1 <= w <= 1: rows ``A w <= s / r`` are linear in w and 1 / r, which is to be large.

    So there are as many rows as the problem has, however many coordinates. Bounds of steps are rows as well, and only
    those that were in the way join.
    """

    def __init__(self, problem: _Problem, longest: float) -> None:
        dim = self.dim = len(problem.lower)
        self.longest = longest
        self.lower, self.upper = problem.lower, problem.upper
        self.program = LinearProgram(dim + 1)
        self.bounded = np.stack([self.lower == 0, self.upper == 0])  # as rows, or by bounds of w
        self.program.set_all_bounds(np.append(self.bounded[0] - 1.0, 0.0), np.append(1.0 - self.bounded[1], np.inf))
        self.places: list[int] = []  # of the problem's rows among those of the program

    def add(self, problem: _Problem, which: np.ndarray) -> None:
        """Append rows of the problem."""
        self.places.extend(range(self.program.num_rows, self.program.num_rows + len(which)))
        rows = np.column_stack([problem.rows[which], -problem.slack[which] / self.longest])
        below = np.where(which < problem.num_equations, 0.0, -np.inf)
        self.program.add_rows(rows, np.zeros(len(which)), below)

    def solve(self) -> tuple[np.ndarray | None, np.ndarray]:
        """Return the step, None if the rows contradict each other, and the multipliers of the rows."""
        objective = np.append(np.zeros(self.dim), 1.0)
        while True:
            found = self.program.maximize(objective)
            if found.status is not ProgramStatus.OPTIMAL or not found.value > 0:
                return None, found.duals
            radius = self.longest / found.value
            step = radius * found.point[: self.dim]
            excess = np.stack([self.lower - step, step - self.upper])
            fresh = (excess > VIOLATION * radius) & ~self.bounded
            if not fresh.any():
                return step, found.duals[self.places] * radius / self.longest
            self.bounded |= fresh
            for sign, bounds, chosen in zip((-1.0, 1.0), (self.lower, self.upper), fresh, strict=True):
                axes = np.flatnonzero(chosen)
                rows = np.zeros((len(axes), self.dim + 1))
                rows[np.arange(len(axes)), axes] = sign
                rows[:, self.dim] = -sign * bounds[axes] / self.longest
                self.program.add_rows(rows, np.zeros(len(axes)))


def _weak_bound(problem: _Problem, norm: Norm, weights: np.ndarray) -> float:
    """Return ``min |u| + m (A u - s)`` over u within its bounds, for multipliers m: no feasible u is shorter."""
    weights = problem.clipped(weights)
    forms = problem.rows.T @ weights
    low, high = problem.lower, problem.upper
    if not ((low <= 0).all() and (high >= 0).all()):
        return 0.0
    # What rounding leaves of the form may have either sign.
    doubt = (problem.rounding + (len(weights) + 4) * EPSILON) * float(np.abs(weights).sum())
    # How far u can go the way that the form falls; where it can go on and on, the form must not beat the norm.
    reach = np.where(np.abs(forms) <= doubt, np.maximum(-low, high), np.where(forms > 0, -low, high))
    steep = np.abs(forms) + doubt
    endless = steep[np.isinf(reach)]
    most = max(1.0, float(endless.max(initial=0.0) if norm.order == 1 else endless.sum()) * (1 + problem.rounding))
    sums = float(np.abs(weights) @ (np.abs(problem.slack) + problem.doubt))
    value = -float(weights @ problem.slack) - float(np.abs(weights) @ problem.doubt)
    steep, value, sums = steep / most, value / most, sums / most
    ends = np.isfinite(reach)
    if norm.order == 1:
        lost = float(np.maximum(steep[ends] * (1 + 4 * EPSILON) - 1.0, 0.0) @ reach[ends])
    else:
        lengths = np.append(0.0, np.sort(reach[ends]))
        order = np.argsort(reach[ends])
        sorted_steep, sorted_reach = steep[ends][order], reach[ends][order]
        reached = np.append(0.0, np.cumsum(sorted_steep * sorted_reach))
        going = steep.sum() - np.append(0.0, np.cumsum(sorted_steep))
        levels = lengths - reached - lengths * going
        # All three parts are sums, and grow together.
        rounding = 2 * (len(steep) + 4) * EPSILON * (lengths + reached + lengths * steep.sum())
        lost = -float((levels - rounding).min())
    return max(0.0, value - lost - (len(weights) + len(steep) + 8) * EPSILON * (sums + abs(lost)))
