"""Linear programs in rational arithmetic: where an affine form is largest, by the simplex method in whole numbers.

Bland's rule, wherever a step does not rise, makes every search end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

from reluscope.geometry.numbers.rational_equations import reduced

# The key of the constant of a form; the keys of its coefficients are the numbers of their axes.
CONSTANT = -1

Form = dict[int, int]
Point = tuple[Fraction, ...]


def whole_form(coefficients: Sequence[Fraction]) -> Form:
    """Return n coefficients and a constant as whole numbers, scaled by a positive number, without zeros."""
    scale = lcm(*(entry.denominator for entry in coefficients))
    last = len(coefficients) - 1
    whole = {
        CONSTANT if axis == last else axis: entry.numerator * (scale // entry.denominator)
        for axis, entry in enumerate(coefficients)
        if entry
    }
    divisor = gcd(*whole.values())
    return {axis: entry // divisor for axis, entry in whole.items()} if divisor > 1 else whole


def negative(form: Form) -> Form:
    """Return minus a form."""
    return {axis: -entry for axis, entry in form.items()}


def value_at(form: Form, point: Sequence[Fraction]) -> Fraction:
    """Return the value of a form at a point."""
    total = Fraction(form.get(CONSTANT, 0))
    for axis, entry in form.items():
        if axis != CONSTANT:
            total += entry * point[axis]
    return total


@dataclass(frozen=True)
class Highest:
    """The point where a form is largest on a polyhedron."""

    point: Point
    is_bounded: bool  # if False, no maximum, and positive at the point


def highest(form: Form, rows: Sequence[Form], start: Point, *, is_sign_enough: bool = False) -> Highest:
    """Return where a form is largest on the points where all rows are at least 0.

    ``start`` has to be such a point. ``is_sign_enough`` stops at a point where the form is positive.
    """
    tableau, origin, common = _tableau(form, rows, start)
    is_bounded = tableau.climb(is_sign_enough=is_sign_enough)
    steps = tableau.steps()
    return Highest(tuple((base + step) / common for base, step in zip(origin, steps, strict=True)), is_bounded)


def contradiction(form: Form, rows: Sequence[Form], start: Point) -> dict[int, Fraction]:
    """Return positive multipliers of rows that add up with a form to a negative constant (Farkas).

    The form has to be negative wherever all rows are at least 0, and ``start`` a point where they are.
    """
    tableau, _, _ = _tableau(form, rows, start)
    tableau.climb(is_sign_enough=True)
    # The rows that bound the form where it is largest; their normals are independent.
    tight = [tableau.columns[column] for column in tableau.form if column != CONSTANT]
    equations = [
        [*(Fraction(rows[one].get(axis, 0)) for one in tight), Fraction(form.get(axis, 0))]
        for axis in range(len(start))
    ]
    return {tight[place]: -row[-1] for place, row in reduced(equations).items()}


def deepest(rows: Sequence[Form], dim: int) -> tuple[Point, Fraction]:
    """Return a point where the least of some forms is positive, else largest, and the least one there."""
    # One more coordinate is below all rows.
    lowest = Fraction(min([0, *(row.get(CONSTANT, 0) for row in rows)]))
    start = (*[Fraction(0)] * dim, lowest)
    raised = [{**row, dim: -1} for row in rows]
    *point, depth = highest({dim: 1}, raised, start, is_sign_enough=True).point
    return tuple(point), depth


def _tableau(form: Form, rows: Sequence[Form], start: Point) -> tuple["_Tableau", list[int], int]:
    """Return the tableau of steps from a point, and the point as whole numbers over a common denominator."""
    common = lcm(*(entry.denominator for entry in start))
    origin = [entry.numerator * (common // entry.denominator) for entry in start]
    moved = [_moved(row, origin, common) for row in rows]
    return _Tableau(_moved(form, origin, common), moved, len(start)), origin, common


def _moved(form: Form, origin: Sequence[int], common: int) -> Form:
    """Return a form of ``x``, times a positive number, in terms of steps s with ``x = (origin + s) / common``."""
    constant = common * form.get(CONSTANT, 0)
    for axis, entry in form.items():
        if axis != CONSTANT:
            constant += entry * origin[axis]
    moved = dict(form)
    moved.pop(CONSTANT, None)
    if constant:
        moved[CONSTANT] = constant
    return moved


class _Tableau:
    """A dictionary of the simplex method: what is in the basis, by what is not.

    Columns are n variables that are 0: steps, which have no sign, and rows, which do not get negative. Every row of the
    dictionary is a positive multiple of what it stands for, so that whole numbers are enough.
    """

    def __init__(self, form: Form, rows: list[Form], dim: int) -> None:
        self.form, self.rows = form, rows
        # What each row of the dictionary and each column stands for; steps have numbers from the number of rows on.
        self.names = list(range(len(rows)))
        self.columns = [len(rows) + axis for axis in range(dim)]
        self.num_rows = len(rows)
        # Steps in the basis, as rows over a denominator.
        self.basic: dict[int, tuple[Form, int]] = {}
        self.last: tuple[int, int, int] | None = None

    def climb(self, *, is_sign_enough: bool) -> bool:
        """Raise the form until it is largest, or positive if that is enough; tell whether it has a largest value."""
        is_careful = False
        while not (is_sign_enough and self.form.get(CONSTANT, 0) > 0):
            column = self._entering(is_careful)
            if column is None:
                return True
            sign = 1 if self.form[column] > 0 else -1
            leaving = self._leaving(column, sign)
            if leaving is None:
                constant, rise = self.form.get(CONSTANT, 0), abs(self.form[column])
                self.last = column, sign, max(1, -constant // rise + 1)
                return False
            is_careful = CONSTANT not in self.rows[leaving]  # a step of length 0
            self._pivot(leaving, column)
        return True

    def steps(self) -> list[Fraction]:
        """Return the steps of all coordinates."""
        found = [Fraction(0)] * len(self.columns)
        for axis, (row, denominator) in self.basic.items():
            total = row.get(CONSTANT, 0)
            if self.last is not None:
                column, sign, length = self.last
                total += sign * length * row.get(column, 0)
            found[axis] = Fraction(total, denominator)
        if self.last is not None:
            column, sign, length = self.last
            if (axis := self.columns[column] - self.num_rows) >= 0:
                found[axis] = Fraction(sign * length)
        return found

    def _entering(self, is_careful: bool) -> int | None:
        best: int | None = None
        for column, entry in self.form.items():
            if column == CONSTANT:
                continue
            is_free = self.columns[column] >= self.num_rows
            if is_free:
                return column
            if entry <= 0:
                continue
            if best is None or (self.columns[column] < self.columns[best] if is_careful else entry > self.form[best]):
                best = column
        return best

    def _leaving(self, column: int, sign: int) -> int | None:
        best: int | None = None
        best_room, best_fall = 0, 1
        for number, row in enumerate(self.rows):
            entry = row.get(column)
            if entry is None or (fall := -sign * entry) <= 0:
                continue
            room = row.get(CONSTANT, 0)
            ahead = 0 if best is None else room * best_fall - best_room * fall
            if best is None or ahead < 0 or (ahead == 0 and self.names[number] < self.names[best]):
                best, best_room, best_fall = number, room, fall
        return best

    def _pivot(self, number: int, column: int) -> None:
        row = self.rows[number]
        entry = row[column]
        sign = 1 if entry > 0 else -1
        entering, self.columns[column] = self.columns[column], self.names[number]
        # entry * v = S - others, so that |entry| v = sign (S - others).
        solved = {axis: -sign * other for axis, other in row.items() if axis != column}
        solved[column] = sign
        scale = abs(entry)
        self.form = _substituted(self.form, column, solved, scale)
        self.rows = [_substituted(other, column, solved, scale) for other in self.rows]
        for axis, (other, denominator) in self.basic.items():
            if column in other:
                self.basic[axis] = _over(_replaced(other, column, solved, scale), denominator * scale)
        if entering >= self.num_rows:
            self.basic[entering - self.num_rows] = _over(solved, scale)
            del self.rows[number], self.names[number]
        else:
            self.rows[number], self.names[number] = solved, entering


def _replaced(row: Form, column: int, solved: Form, scale: int) -> Form:
    """Return a row times the scale, where a column times the scale is written as what it was solved to be."""
    factor = row[column]
    new = dict(row) if scale == 1 else {axis: scale * entry for axis, entry in row.items()}
    del new[column]
    for axis, entry in solved.items():
        total = new.get(axis, 0) + factor * entry
        if total:
            new[axis] = total
        else:
            new.pop(axis, None)
    return new


def _substituted(row: Form, column: int, solved: Form, scale: int) -> Form:
    if column not in row:
        return row
    new = _replaced(row, column, solved, scale)
    divisor = gcd(*new.values())
    return {axis: entry // divisor for axis, entry in new.items()} if divisor > 1 else new


def _over(row: Form, denominator: int) -> tuple[Form, int]:
    divisor = gcd(denominator, *row.values())
    return (
        ({axis: entry // divisor for axis, entry in row.items()}, denominator // divisor)
        if divisor > 1
        else (
            row,
            denominator,
        )
    )
