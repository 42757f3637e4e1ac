"""Polyhedra in rational arithmetic: their vertices, cut by one half-space at a time (the double description method).

Everything is whole numbers: a half-space is a row ``(a, c)`` of ``a . x + c >= 0``, a vertex is ``(X, w)`` and stands
for the point ``X / w`` if w > 0 and for the direction X of an unbounded edge if w = 0. See Fukuda and Prodon, "Double
description method revisited", 1996.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import factorial, gcd, inf, lcm, sqrt
from typing import TYPE_CHECKING

from reluscope.errors import DegenerateGeometryError

if TYPE_CHECKING:  # polyhedra ask this module where floats do not decide
    from reluscope.geometry.polyhedra.domains import Box, Space
    from reluscope.geometry.polyhedra.polyhedron import Polyhedron

Row = tuple[int, ...]


def primitive(entries: Sequence[int]) -> Row:
    """Divide whole numbers by their greatest common divisor."""
    divisor = gcd(*entries)
    return tuple(entries) if divisor <= 1 else tuple(entry // divisor for entry in entries)


def integer_row(entries: Sequence[Fraction]) -> Row:
    """Return fractions times the smallest positive number that makes them whole and without common divisor."""
    scale = lcm(*(entry.denominator for entry in entries))
    return primitive([entry.numerator * (scale // entry.denominator) for entry in entries])


def half_spaces(window: "Box | Polyhedron | Space") -> list[tuple[Fraction, ...]]:
    """Return the sides ``(a, c)`` of a window whose float64 bounds are taken as the numbers they are."""
    outer = window.polyhedron
    return sides_of(outer.A.tolist(), outer.b.tolist())


def sides_of(A: Sequence[Sequence[float]], b: Sequence[float]) -> list[tuple[Fraction, ...]]:
    """Return the sides ``(a, c)``, meaning ``a . x + c >= 0``, of inequalities ``A x <= b``.

    Float64 entries are taken as the exact numbers they are.
    """
    return [(*(-Fraction(entry) for entry in normal), Fraction(bound)) for normal, bound in zip(A, b, strict=True)]


@dataclass(frozen=True)
class RationalPolytope:
    """A full-dimensional polyhedron without lines, by its vertices and the rows that vanish at each."""

    dim: int
    vertices: tuple[Row, ...]  # homogeneous, primitive, distinct; also directions
    tight: tuple[frozenset[Row], ...]  # of rows that cut; ``(0, ..., 0, 1)`` at directions

    @classmethod
    def of(cls, window: "Box | Polyhedron") -> "RationalPolytope | None":
        """Return a bounded window as a polytope, or None if it has no interior.

        Raises DegenerateGeometryError if the window is unbounded.
        """
        lines, whole = between(window.dim, [integer_row(side) for side in half_spaces(window)])
        if whole is not None and (lines or not whole.is_bounded):
            raise DegenerateGeometryError(
                f"the window must be bounded, but {window.describe()} is not: cut it with a Box"
            )
        return whole

    @property
    def is_bounded(self) -> bool:
        """Whether no vertex is a direction."""
        return all(vertex[-1] > 0 for vertex in self.vertices)

    def cut(self, rows: Iterable[Row]) -> "RationalPolytope | None":
        """Return the part on which all rows are at least zero, or None if that has no interior.

        A row costs one product per vertex; one that cuts something off compares pairs of vertices on its two sides.
        """
        vertices, tight = list(self.vertices), list(self.tight)
        for row in rows:
            heights = [_dot(row, vertex) for vertex in vertices]
            above = [index for index, height in enumerate(heights) if height > 0]
            if not above:
                return None
            below = [index for index, height in enumerate(heights) if height < 0]
            if not below:
                continue
            kept = [index for index, height in enumerate(heights) if height >= 0]
            new, new_tight = [], []
            for high in above:
                for low in below:
                    common = tight[high] & tight[low]
                    # Two vertices are the ends of an edge if no other vertex lies on all rows that they share.
                    if len(common) < self.dim - 1 or sum(common <= lies_on for lies_on in tight) > 2:
                        continue
                    rise, fall = heights[high], -heights[low]
                    ends = zip(vertices[high], vertices[low], strict=True)
                    new.append(primitive([fall * one + rise * other for one, other in ends]))
                    new_tight.append(common | {row})
            tight = [tight[i] | {row} if heights[i] == 0 else tight[i] for i in kept] + new_tight
            vertices = [vertices[index] for index in kept] + new
        return RationalPolytope(self.dim, tuple(vertices), tuple(tight))

    def points(self) -> tuple[tuple[Fraction, ...], ...]:
        """Return the vertices that are points, in no order."""
        return tuple(tuple(Fraction(x, vertex[-1]) for x in vertex[:-1]) for vertex in self.vertices if vertex[-1] > 0)

    def volume(self) -> Fraction:
        """Return the volume of a bounded polyhedron: that of simplices from one vertex over the facets off it."""
        points = self.points()
        total = Fraction(0)
        for simplex in self._simplices(frozenset(range(len(points))), self.dim):
            apex, *others = (points[index] for index in simplex)
            total += abs(determinant([[x - y for x, y in zip(other, apex, strict=True)] for other in others]))
        return total / factorial(self.dim)

    def facet_volume(self, row: Row) -> float:
        """Return the volume of the part of the boundary on which a row vanishes; 0 if the row carries no facet.

        In coordinates without one of those that the row depends on, where it is rational, times how much larger it is.
        """
        face = self.facets().get(row, ())
        if any(self.vertices[index][-1] == 0 for index in face):
            return inf
        *slopes, _ = row
        axis = max(range(self.dim), key=lambda axis: abs(slopes[axis]))
        points = {index: [Fraction(x, self.vertices[index][-1]) for x in self.vertices[index][:-1]] for index in face}
        for point in points.values():
            del point[axis]
        total = Fraction(0)
        for simplex in self._simplices(frozenset(face), self.dim - 1) if face else ():
            apex, *others = (points[index] for index in simplex)
            total += abs(determinant([[x - y for x, y in zip(other, apex, strict=True)] for other in others]))
        flat = total / factorial(self.dim - 1)
        return sqrt(flat**2 * Fraction(sum(slope**2 for slope in slopes), slopes[axis] ** 2))

    def _simplices(self, face: frozenset[int], dim: int) -> Iterator[tuple[int, ...]]:
        """Yield simplices that make up a face of so many dimensions, given by its vertices."""
        apex = min(face)
        if dim == 0:
            yield (apex,)
            return
        rows = frozenset().union(*(self.tight[index] for index in face))
        parts = {frozenset(index for index in face if row in self.tight[index]) for row in rows} - {face}
        for part in parts:
            # The facets of a face are its largest parts on one row.
            if apex not in part and not any(part < other for other in parts):
                yield from ((apex, *rest) for rest in self._simplices(part, dim - 1))

    def facets(self) -> dict[Row, tuple[int, ...]]:
        """Return for every row that carries a facet which vertices lie on it."""
        found: dict[Row, list[int]] = {}
        for index, lies_on in enumerate(self.tight):
            for row in lies_on:
                found.setdefault(row, []).append(index)
        # What lies on other rows is part of what lies on these.
        largest: dict[Row, frozenset[int]] = {}
        for row, members in sorted(found.items(), key=lambda item: -len(item[1])):
            candidate = frozenset(members)
            if len(members) >= self.dim and not any(candidate <= facet for facet in largest.values()):
                largest[row] = candidate
        return {row: tuple(sorted(facet)) for row, facet in largest.items()}


def between(dim: int, rows: Iterable[Row]) -> tuple[int, RationalPolytope | None]:
    """Return the dimension of the lines in the polyhedron of rows at least zero, and the polyhedron.

    If there are lines, it is cut by as many coordinate hyperplanes as make it lose them, in as many dimensions as are
    left. None if it has no interior. Rows have dim + 1 entries.
    """
    infinity = (*[0] * dim, 1)
    given = [primitive(row) for row in rows]
    wanted = list(dict.fromkeys([infinity, *(row for row in given if any(row[:-1]))]))
    first, columns = _independent(wanted)
    lines = dim + 1 - len(columns)
    if any(row[-1] < 0 and not any(row[:-1]) for row in given):
        return lines, None
    kept = [tuple(row[column] for column in columns) for row in wanted]
    start = [kept[index] for index in first]
    apexes = _simplicial_cone(start)
    tight = tuple(frozenset(start[:place] + start[place + 1 :]) for place in range(len(start)))
    whole = RationalPolytope(dim - lines, apexes, tight).cut(row for row in kept if row not in start)
    # With the plane at infinity alone all of it is there: a point, or directions only.
    if whole is not None and not any(vertex[-1] > 0 for vertex in whole.vertices):
        return lines, None
    return lines, whole


def _independent(rows: list[Row]) -> tuple[list[int], list[int]]:
    """Return which rows, taken greedily, are a basis of their span, and in which columns they are one."""
    reduced: list[tuple[int, list[Fraction]]] = []
    first, columns = [], []
    for index, row in enumerate(rows):
        rest = [Fraction(entry) for entry in row]
        for pivot, other in reduced:
            if factor := rest[pivot]:
                rest = [one - factor * two for one, two in zip(rest, other, strict=True)]
        # The last column comes first, so that points stay points where lines are left out.
        pivot = next((column for column in reversed(range(len(row))) if rest[column]), None)
        if pivot is None:
            continue
        lead = rest[pivot]
        reduced.append((pivot, [entry / lead for entry in rest]))
        first.append(index)
        columns.append(pivot)
        if len(columns) == len(row):
            break
    return first, sorted(columns)


def _simplicial_cone(rows: list[Row]) -> tuple[Row, ...]:
    """Return the edges of the cone between as many independent rows as dimensions: each off one row, on the others."""
    size = len(rows)
    table = [
        [Fraction(entry) for entry in row] + [Fraction(int(i == j)) for j in range(size)] for i, row in enumerate(rows)
    ]
    for step in range(size):
        pivot = next(row for row in range(step, size) if table[row][step])
        table[step], table[pivot] = table[pivot], table[step]
        lead = table[step][step]
        table[step] = [entry / lead for entry in table[step]]
        for row in range(size):
            if row != step and (factor := table[row][step]):
                table[row] = [one - factor * two for one, two in zip(table[row], table[step], strict=True)]
    return tuple(integer_row([table[axis][size + row] for axis in range(size)]) for row in range(size))


def determinant(rows: list[list[Fraction]]) -> Fraction:
    """Return the determinant of a square matrix, by elimination."""
    rest = [list(row) for row in rows]
    found = Fraction(1)
    for step in range(len(rest)):
        pivot = next((row for row in range(step, len(rest)) if rest[row][step]), None)
        if pivot is None:
            return Fraction(0)
        if pivot != step:
            rest[step], rest[pivot], found = rest[pivot], rest[step], -found
        found *= rest[step][step]
        for row in range(step + 1, len(rest)):
            if factor := rest[row][step] / rest[step][step]:
                rest[row] = [one - factor * two for one, two in zip(rest[row], rest[step], strict=True)]
    return found


def _dot(row: Row, vertex: Row) -> int:
    return sum(entry * coordinate for entry, coordinate in zip(row, vertex, strict=True))
