"""The problem of a nearest point, seen from the point it is asked for, and its answer with a proved bound."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from reluscope.geometry.numbers.scales import exponents, lengths, times_power
from reluscope.geometry.programs.active_set import FOUND, ShortestVector
from reluscope.geometry.programs.proved_programs import MAX_DIMENSIONS, ProvedSystem
from reluscope.tolerance import EPSILON

# Relative to the point's size: what is left of 1 if multipliers prove that there is no point.
NOTHING = 1e-14


# Violations of rows of length 1 that count as none, relative to the distance; rows that contradict each other by no
# more than this share of the point's size leave a point that violates them by so much.
VIOLATION = 1e-12


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


class NearestProblem:
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
