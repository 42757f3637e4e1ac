"""Rows of fractions that a polyhedron's float64 rows are rounded from, and what depends on them and not on floats.

A cone {r : a . r >= 0 for all rows a} is decided by which rows are parallel or dependent, which rounding destroys.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

from reluscope.geometry.numbers.rational_equations import reduced
from reluscope.geometry.polyhedra.rational_polytopes import integer_row
from reluscope.geometry.programs.rational_program import highest, value_at, whole_form

Side = tuple[Fraction, ...]
# Entries of rows up to which a cone is decided in fractions: about a second.
MAX_ENTRIES = 2_000


class TrueRows(ABC):
    """Where the rows of fractions come from."""

    @abstractmethod
    def sides(self) -> tuple[Side, ...] | None:
        """Return the rows ``(a, c)`` of ``a . x + c >= 0`` in order, None where they would take too long."""


class KnownRows(TrueRows):
    """Rows that are there, or known to take too long."""

    def __init__(self, found: tuple[Side, ...] | None) -> None:
        self._found = found

    def sides(self) -> tuple[Side, ...] | None:
        """Return the rows."""
        return self._found


class GivenRows(TrueRows):
    """Rows that are float64 numbers as they are; fractions of them are made when asked for."""

    def __init__(self, number: int, side: Callable[[int], Side]) -> None:
        self._number, self._side = number, side

    def sides(self) -> tuple[Side, ...]:
        """Return the rows."""
        return tuple(map(self._side, range(self._number)))


class BothRows(TrueRows):
    """The rows of one polyhedron and then those of another, whose rows may be float64 numbers as they are."""

    def __init__(self, *parts: TrueRows) -> None:
        self._parts = parts

    def sides(self) -> tuple[Side, ...] | None:
        """Return the rows of both."""
        found: dict[int, tuple[Side, ...]] = {}
        # Those that may take too long first: a million fractions may not be asked for then.
        for place in sorted(range(len(self._parts)), key=lambda one: isinstance(self._parts[one], GivenRows)):
            sides = self._parts[place].sides()
            if sides is None:
                return None
            found[place] = sides
        return tuple(side for place in sorted(found) for side in found[place])


def scaled_sides(sides: Sequence[Side]) -> list[Side]:
    """Return rows of fractions times powers of two, so that the largest coefficient of each is about 1."""
    found = []
    for side in sides:
        largest = max(map(abs, side[:-1]), default=Fraction(0))
        power = largest.numerator.bit_length() - largest.denominator.bit_length() if largest else 0
        found.append(tuple(entry / Fraction(2) ** power for entry in side))
    return found


class Recession(NamedTuple):
    """The cone of directions in which a polyhedron is unbounded."""

    direction: tuple[Fraction, ...]  # relatively interior; 0 for spaces of lines and {0}
    still: tuple[int, ...]  # rows constant along all directions of the cone
    rank: int  # of these rows; dimension of the cone is n minus it
    has_lines: bool  # whether some direction's opposite is one too

    @property
    def is_trivial(self) -> bool:
        """Whether nothing but 0 is in the cone."""
        return self.rank == len(self.direction)


def recession(normals: Sequence[Sequence[Fraction]], dim: int) -> Recession:
    """Return the cone of directions r with ``a . r >= 0`` for all rows."""
    kept = [row for row, normal in enumerate(normals) if any(normal)]
    if len(_held_axes(normals)) == dim:
        return Recession((Fraction(0),) * dim, tuple(kept), dim, has_lines=False)
    forms = {row: whole_form([*normals[row], Fraction(0)]) for row in kept}
    direction, still = [Fraction(0)] * dim, list(kept)
    zero = (Fraction(0),) * dim
    while still:
        columns = zip(*(integer_row(normals[row]) for row in still), strict=True)
        total = whole_form([*(Fraction(sum(column)) for column in columns), Fraction(0)])
        found = highest(total, list(forms.values()), zero, is_sign_enough=True).point
        if not value_at(total, found) > 0:
            break
        direction = [one + two for one, two in zip(direction, found, strict=True)]
        still = [row for row in still if value_at(forms[row], found) == 0]
    rank, rank_of_all = (len(reduced([*normals[row], Fraction(0)] for row in rows)) for rows in (still, kept))
    return Recession(tuple(direction), tuple(still), rank, rank_of_all < dim)


def is_quick(normals: Sequence[Sequence[Fraction]], dim: int) -> bool:
    """Return whether `recession` takes about a second at most."""
    return len(normals) * dim <= MAX_ENTRIES or len(_held_axes(normals)) == dim


def _held_axes(normals: Sequence[Sequence[Fraction]]) -> set[int]:
    """Return the coordinates that rows along axes bound on both sides."""
    ends = set()
    for normal in normals:
        places = [axis for axis, entry in enumerate(normal) if entry]
        if len(places) == 1:
            ends.add((places[0], normal[places[0]] > 0))
    return {axis for axis, is_lower in ends if is_lower and (axis, False) in ends}
