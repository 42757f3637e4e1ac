"""Linear programs over ``{x : A x <= b, C x = d}`` whose answers are proved, the float64 numbers taken as they are.

Floats find which rows matter. Fractions solve for these, and check what comes out: a point against all rows, a ray
against all rows and 0, multipliers against all columns. Where that fails, because rows are nearly dependent or nearly
contradict each other, small programs are solved in fractions from the start; others get no answer.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from reluscope.errors import SolverError
from reluscope.geometry.numbers.rational_equations import moved_onto
from reluscope.geometry.numbers.resolutions import MULTIPLIERS
from reluscope.geometry.numbers.row_scales import scaled_rows, unit_rows
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramSolution, ProgramStatus
from reluscope.geometry.programs.rational_program import Form, deepest, highest, whole_form
from reluscope.tolerance import EPSILON

# Relative to 1 and the sum of coordinates: what products lose where they are below the smallest number of float64.
UNDERFLOW = 2.0**-1000
# Systems of so many unknowns are solved in fractions within a tenth of a second or so.
MAX_DIMENSIONS = 16
# Programs of so many numbers are solved in fractions from the start, where nothing else helps: in a second at most.
MAX_NUMBERS = 2_000
# Distances to rows of length 1, relative to the point, that may be none.
TIGHT = 1e-7
Point = tuple[Fraction, ...]


class Proved(NamedTuple):
    """A proved answer: how the program ends, with its value and a point where it is taken if it is optimal."""

    status: ProgramStatus
    value: Fraction | None = None
    point: Point | None = None


class ProvedSystem:
    """The half-spaces and equations of a polyhedron, for questions that are answered with proof.

    ``sides`` are exact half-spaces ``(a, c)`` of ``a . x + c >= 0``, if ``A`` and ``b`` are only the nearest float64
    numbers of them.
    """

    def __init__(
        self,
        A: Float[np.ndarray, "h n"],
        b: Float[np.ndarray, " h"],
        C: Float[np.ndarray, "k n"],
        d: Float[np.ndarray, " k"],
        sides: Sequence[Sequence[Fraction]] | None = None,
    ) -> None:
        self.dim = A.shape[1]
        self.A, self.b, self.C, self.d = A, b, C, d
        self._sides = sides
        self._normals, self._offsets, self._rows = unit_rows(A, b)
        self._equations, self._values, self._own = unit_rows(C, d)
        self.is_contradicted = bool((np.delete(b, self._rows) < 0).any() or np.delete(d, self._own).any())

    def is_empty(self) -> bool | None:
        """Return whether no point satisfies all rows; None if neither is proved."""
        return None if (found := self._inside) is None else found.status is ProgramStatus.INFEASIBLE

    def maximum(self, gain: Sequence[Fraction]) -> Proved | None:
        """Return where a linear function is largest, None if nothing is proved."""
        if self.dim > MAX_DIMENSIONS:
            return None
        if self.is_contradicted:
            return Proved(ProgramStatus.INFEASIBLE)
        try:
            found = self.program().maximize(np.array([float(entry) for entry in gain]))
        except SolverError:
            found = None
        answer = None
        if found is not None and found.status is ProgramStatus.OPTIMAL:
            answer = self._optimal(gain, found)
        elif found is not None:
            inside = self._inside
            if inside is not None and inside.status is ProgramStatus.INFEASIBLE:
                answer = inside
            elif inside is not None and self._has_ray(gain):
                answer = Proved(ProgramStatus.UNBOUNDED)
        return answer if answer is not None else self._in_fractions(gain)

    def program(self) -> LinearProgram:
        """Return the rows in units of their lengths, equations last, as a program in floats."""
        program = LinearProgram(self.dim)
        program.add_rows(self._normals, self._offsets)
        program.add_rows(self._equations, self._values, self._values)
        return program

    def contains(self, point: Sequence[Fraction]) -> bool:
        """Return whether a point satisfies all rows, exactly."""
        return self._holds(point, is_direction=False)

    @cached_property
    def _inside(self) -> Proved | None:
        """A point, or that there is none: the deepest one, or the multipliers that keep it from being inside."""
        if self.is_contradicted:
            return Proved(ProgramStatus.INFEASIBLE)
        both = np.concatenate([self._normals, self._equations, -self._equations])
        ends = np.concatenate([self._offsets, self._values, -self._values])
        program = LinearProgram(self.dim + 1)
        program.set_bounds(self.dim, -np.inf, 1.0)
        try:
            program.add_rows(np.column_stack([both, np.ones(len(both))]), ends)
            found = program.maximize(np.append(np.zeros(self.dim), 1.0))
        except SolverError:
            found = None
        if found is not None and found.status is ProgramStatus.OPTIMAL:
            point = self._onto(found.point[:-1], np.zeros(0), is_near=bool(found.point[-1] < TIGHT))
            if point is not None and self.contains(point):
                return Proved(ProgramStatus.OPTIMAL, Fraction(0), point)
            duals = found.duals if len(found.duals) else np.zeros(len(both))
            own, above, below = np.split(duals, np.cumsum([len(self._rows), len(self._own)]))
            if found.point[-1] < TIGHT and self.is_excluded_by(np.append(own, above - below)):
                return Proved(ProgramStatus.INFEASIBLE)
        return self._in_fractions([Fraction(0)] * self.dim)

    def _optimal(self, gain: Sequence[Fraction], found: ProgramSolution) -> Proved | None:
        duals = found.duals if len(found.duals) else np.zeros(len(self._rows) + len(self._own))
        value = self._bound(gain, duals)
        if value is None:
            return None
        point = self._onto(found.point, duals, is_near=True)
        if point is None or _product(gain, point) != value or not self.contains(point):
            return None
        return Proved(ProgramStatus.OPTIMAL, value, point)

    def _onto(self, near: np.ndarray, duals: np.ndarray, *, is_near: bool) -> Point | None:
        """Return a point moved onto the equations, and onto the rows that are nearly tight, those with weight first."""
        if (self.dim > MAX_DIMENSIONS and (len(self._own) or is_near)) or not np.isfinite(near).all():
            return None
        point = [Fraction(entry) for entry in near.tolist()]
        rows = [_equation(self.C[row], float(self.d[row])) for row in self._own]
        if is_near:
            slack = self._offsets - self._normals @ near
            weights = duals[: len(slack)] if len(duals) else np.zeros(len(slack))
            size = 1.0 + float(np.abs(near).max(initial=0.0))
            order = np.lexsort([slack, -weights])
            tight = order[(slack[order] <= TIGHT * size) | (weights[order] > 0)]
            rows += [self._side(row) for row in self._rows[tight[: 4 * self.dim]].tolist()]
        if not rows:
            return tuple(point)
        return tuple(moved_onto(rows, point, range(self.dim)))

    def _side(self, row: int) -> list[Fraction]:
        """Return a half-space ``(a, c)`` of ``a . x + c >= 0``."""
        if self._sides is not None:
            return [*self._sides[row]]
        return [*(-entry for entry in _exact(self.A[row])), Fraction(float(self.b[row]))]

    def _holds(self, point: Sequence[Fraction], *, is_direction: bool) -> bool:
        """Return whether a point satisfies all rows, or a direction does with all offsets 0."""
        b, d = (0 * self.b, 0 * self.d) if is_direction else (self.b, self.d)
        try:
            near = np.array([float(entry) for entry in point])
        except OverflowError:
            near = np.full(self.dim, np.nan)
        normals, offsets = scaled_rows(self.A, b)
        with np.errstate(invalid="ignore", over="ignore"):
            sizes = np.abs(normals) @ np.abs(near) + np.abs(offsets)
            slack = offsets - normals @ near
            is_sure = slack > 4 * (self.dim + 2) * EPSILON * sizes + UNDERFLOW * (1.0 + np.abs(near).sum())
        whole = [*point, Fraction(int(not is_direction))]
        unsure = np.flatnonzero(~is_sure).tolist()
        return all(_product(self._side(row), whole) >= 0 for row in unsure) and all(
            _product(_exact(row), point) == Fraction(value) for row, value in zip(self.C, d.tolist(), strict=True)
        )

    def multipliers(self, gain: Sequence[Fraction], duals: np.ndarray) -> tuple[Point, list[int], list[int]] | None:
        """Return weights near some in floats, with the rows and equations they are of, that write a gain exactly."""
        if self.dim > MAX_DIMENSIONS:
            return None
        weights, others = np.split(np.nan_to_num(duals), [len(self._rows)])
        used = np.flatnonzero(weights > MULTIPLIERS * weights.max(initial=0.0))
        rows, equations = self._rows[used].tolist(), self._own.tolist()
        columns = [[-entry for entry in self._side(row)[:-1]] for row in rows] + [*map(_exact, self.C[equations])]
        start = np.concatenate([weights[used], others])
        # Weights of rows of length 1, in units of the rows that were given.
        given = np.concatenate([self.A[rows], self.C[equations]])
        largest = np.abs(given).max(axis=1, initial=0.0)
        start = [
            Fraction(entry) / Fraction(scale) / Fraction(float(np.linalg.norm(row / scale)))
            for entry, scale, row in zip(start.tolist(), largest.tolist(), given, strict=True)
        ]
        conditions = [[*(column[axis] for column in columns), -gain[axis]] for axis in range(self.dim)]
        found = moved_onto(conditions, start, range(len(columns)))
        if min(found[: len(rows)], default=Fraction(0)) < 0:
            return None
        if any(_product(condition[:-1], found) != -condition[-1] for condition in conditions):
            return None
        return tuple(found), rows, equations

    def _bound(self, gain: Sequence[Fraction], duals: np.ndarray) -> Fraction | None:
        """Return the bound of a linear function that multipliers near some in floats prove."""
        found = self.multipliers(gain, duals)
        if found is None:
            return None
        weights, rows, equations = found
        ends = [self._side(row)[-1] for row in rows] + [Fraction(end) for end in self.d[equations].tolist()]
        return _product(ends, weights)

    def is_excluded_by(self, duals: Float[np.ndarray, " _"]) -> bool:
        """Return whether multipliers near given float ones prove that the polyhedron is empty.

        Multipliers are those of the rows that are not zero, in units of their lengths, then of such equations.
        """
        if self.dim > MAX_DIMENSIONS:
            return False
        bound = self._bound([Fraction(0)] * self.dim, duals)
        return bound is not None and bound < 0

    def _has_ray(self, gain: Sequence[Fraction]) -> bool:
        """Return whether a ray along which the function grows is found, and checked in fractions."""
        program = LinearProgram(self.dim)
        program.set_all_bounds(-np.ones(self.dim), np.ones(self.dim))
        try:
            program.add_rows(self._normals, np.zeros(len(self._rows)))
            program.add_rows(self._equations, np.zeros(len(self._own)), np.zeros(len(self._own)))
            ray = program.maximize(np.array([float(entry) for entry in gain])).point
        except SolverError:
            return False
        if not np.isfinite(ray).all() or not ray.any():
            return False
        tight = np.flatnonzero(self._normals @ ray >= -TIGHT)
        rows = [_equation(row, 0.0) for row in self.C[self._own]]
        rows += [[*self._side(row)[:-1], Fraction(0)] for row in self._rows[tight[: 4 * self.dim]].tolist()]
        free = np.delete(np.arange(self.dim), np.argmax(np.abs(ray))).tolist()
        start = [Fraction(entry) for entry in ray.tolist()]
        way = moved_onto(rows, start, free)
        return _product(gain, way) > 0 and self._holds(way, is_direction=True)

    def _in_fractions(self, gain: Sequence[Fraction]) -> Proved | None:
        """Return the answer of the simplex method in fractions, for few numbers."""
        if self.dim > MAX_DIMENSIONS or (len(self.b) + 2 * len(self.d)) * self.dim > MAX_NUMBERS:
            return None
        rows = [whole_form(self._side(row)) for row in range(len(self.b))]
        for row, value in zip(self.C, self.d.tolist(), strict=True):
            rows += [_form(row, value), _form(-row, -value)]
        start, depth = deepest(rows, self.dim)
        if depth < 0:
            return Proved(ProgramStatus.INFEASIBLE)
        found = highest(whole_form([*gain, Fraction(0)]), rows, start)
        if not found.is_bounded:
            return Proved(ProgramStatus.UNBOUNDED)
        return Proved(ProgramStatus.OPTIMAL, _product(gain, found.point), found.point)


def nearest(value: Fraction) -> float:
    """Return the float nearest to a number, infinite beyond all of them."""
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def _form(row: np.ndarray, bound: float) -> Form:
    return whole_form([*(-entry for entry in _exact(row)), Fraction(bound)])


def _equation(row: np.ndarray, value: float) -> list[Fraction]:
    return [*_exact(row), -Fraction(float(value))]


def _exact(row: np.ndarray) -> list[Fraction]:
    return [Fraction(entry) for entry in row.tolist()]


def _product(row: Sequence[Fraction], point: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(row, point, strict=True) if a), Fraction(0))
