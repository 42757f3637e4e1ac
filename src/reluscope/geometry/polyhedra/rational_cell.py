"""Sets of weak and strict inequalities in rational arithmetic, for which it is decided whether they have a point.

A cell keeps one of its points. What one more inequality leaves of it follows from the largest value of an affine form
on its closure, found by the simplex method from that point on, in whole numbers. A positive value shows a point;
otherwise the last dictionary writes the form as a constant that is not positive less multiples of the inequalities,
which proves that there is none (Farkas). A form that only reaches 0 leaves a face: there every strict inequality is
asked for.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from reluscope.geometry.polyhedra.domains import Box, Domain, Slice, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.programs.rational_program import Form, Point, deepest, highest, value_at, whole_form

# Binary digits behind the point that are tried, to keep points short.
DIGITS = (2, 8, 24, 52)


def rows_of(polyhedron: Polyhedron) -> list[Form]:
    """Return the forms that are at least 0 on a polyhedron; an equation is two of them."""
    sides = [*map(polyhedron.side, range(len(polyhedron.b)))]
    for row, value in zip(polyhedron.C.tolist(), polyhedron.d.tolist(), strict=True):
        equation = [*map(Fraction, row), -Fraction(value)]
        sides += [tuple(equation), tuple(-entry for entry in equation)]
    return [*map(whole_form, sides)]


@dataclass(frozen=True)
class RationalCell:
    """The non-empty set of points of R^n where some forms are at least 0 and others above 0."""

    weak: tuple[Form, ...]
    strict: tuple[Form, ...]
    point: Point  # one of the cell's points

    @classmethod
    def of(cls, window: Domain) -> "RationalCell | None":
        """Return the cell of a domain, or None if the domain has no interior.

        Float64 bounds are taken as the exact numbers they are. Of a slice, give its window.
        """
        if isinstance(window, Slice):
            window = window.window
        if isinstance(window, Space):
            return cls((), (), (Fraction(0),) * window.dim)
        outer = window.polyhedron if isinstance(window, Box) else window
        assert isinstance(outer, Polyhedron)
        rows = rows_of(outer)
        point, depth = deepest([row for row in rows if row], outer.dim)
        return cls(tuple(rows), (), _short(point, (), rows)) if depth > 0 else None

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return len(self.point)

    def where_strict(self, form: Form) -> "RationalCell | None":
        """Return the points where a form is above 0, or None if there are none."""
        strict = (*self.strict, form)
        if value_at(form, self.point) > 0:
            return RationalCell(self.weak, strict, self.point)
        found = highest(form, self._closure, self.point, is_sign_enough=True).point
        return self._beside(form, found, self.weak, strict)

    def where_weak(self, form: Form) -> "RationalCell | None":
        """Return the points where a form is at least 0, or None if there are none."""
        weak = (*self.weak, form)
        if value_at(form, self.point) >= 0:
            return RationalCell(weak, self.strict, self.point)
        found = highest(form, self._closure, self.point, is_sign_enough=True).point
        if (beside := self._beside(form, found, weak, self.strict)) is not None:
            return beside
        if value_at(form, found) < 0:
            return None
        # The form is 0 on a face at most: every strict form has to be positive somewhere on it.
        face, points = [*self._closure, form], [found]
        for other in self.strict:
            if any(value_at(other, point) > 0 for point in points):
                continue
            points.append(highest(other, face, found, is_sign_enough=True).point)
            if value_at(other, points[-1]) <= 0:
                return None
        middle = tuple(sum(column, Fraction(0)) / len(points) for column in zip(*points, strict=True))
        return RationalCell(weak, self.strict, middle)

    @property
    def _closure(self) -> list[Form]:
        return [*self.weak, *self.strict]

    def _beside(
        self, form: Form, found: Point, weak: tuple[Form, ...], strict: tuple[Form, ...]
    ) -> "RationalCell | None":
        """Return the cell with a point from the cell's own towards one of its closure where the form is positive."""
        end = value_at(form, found)
        if end <= 0:
            return None
        start = value_at(form, self.point)
        share = (1 + start / (start - end)) / 2 if start < 0 else Fraction(1, 2)
        inside = tuple(a + share * (b - a) for a, b in zip(self.point, found, strict=True))
        return RationalCell(weak, strict, _short(inside, strict, weak))


def _short(point: Point, strict: Iterable[Form], weak: Iterable[Form]) -> Point:
    """Return a point of few binary digits near one, if that is in the cell too."""
    if max(entry.denominator.bit_length() for entry in point) <= DIGITS[0]:
        return point
    strict, weak = tuple(strict), tuple(weak)
    for digits in DIGITS:
        near = tuple(Fraction(round(entry * 2**digits), 2**digits) for entry in point)
        if all(value_at(row, near) > 0 for row in strict) and all(value_at(row, near) >= 0 for row in weak):
            return near
    return point
