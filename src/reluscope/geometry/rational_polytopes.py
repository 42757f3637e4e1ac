"""Polytopes in rational arithmetic: their vertices, cut by one half-space at a time (the double description method).

Everything is whole numbers: a half-space is a row ``(a, c)`` of ``a . x + c >= 0``, a vertex is ``(X, w)`` with w > 0
and stands for ``X / w``. See Fukuda and Prodon, "Double description method revisited", 1996.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

from reluscope.errors import DegenerateGeometryError
from reluscope.geometry.domains import Box
from reluscope.geometry.polyhedron import Polyhedron

Row = tuple[int, ...]
MOST_DOUBLINGS = 64


def primitive(entries: Sequence[int]) -> Row:
    """Divide whole numbers by their greatest common divisor."""
    divisor = gcd(*entries)
    return tuple(entries) if divisor <= 1 else tuple(entry // divisor for entry in entries)


def integer_row(entries: Sequence[Fraction]) -> Row:
    """Return fractions times the smallest positive number that makes them whole and without common divisor."""
    scale = lcm(*(entry.denominator for entry in entries))
    return primitive([entry.numerator * (scale // entry.denominator) for entry in entries])


def half_spaces(window: Box | Polyhedron) -> list[tuple[Fraction, ...]]:
    """Return the sides ``(a, c)`` of a window whose float64 bounds are taken as the numbers they are."""
    outer = window.polyhedron if isinstance(window, Box) else window
    return [
        (*(-Fraction(entry) for entry in normal), Fraction(bound))
        for normal, bound in zip(outer.A.tolist(), outer.b.tolist(), strict=True)
    ]


@dataclass(frozen=True)
class RationalPolytope:
    """A full-dimensional polytope by its vertices, with the rows that each of them lies on.

    Parameters
    ----------
    dim : int
    vertices : tuple of rows
        Homogeneous, primitive, all different.
    tight : tuple of frozensets of rows
        The rows, of those that cut something off, that vanish at each vertex.

    Examples
    --------
    >>> square = RationalPolytope.of(Box(0, 1, 2))
    >>> triangle = square.cut([(-2, -2, 1)])  # x + y <= 1 / 2
    >>> sorted(triangle.vertices), len(triangle.facets())
    ([(0, 0, 1), (0, 1, 2), (1, 0, 2)], 3)
    """

    dim: int
    vertices: tuple[Row, ...]
    tight: tuple[frozenset[Row], ...]

    @classmethod
    def of(cls, window: Box | Polyhedron) -> "RationalPolytope | None":
        """Return a bounded window, or None if it has no interior.

        Raises
        ------
        DegenerateGeometryError
            If the window is bounded up to rounding only.
        """
        rows = [integer_row(side) for side in half_spaces(window) if any(side[:-1])]
        corners = window.corners() if isinstance(window, Box) else window.vertices()
        reach = max(1, *(abs(int(entry)) + 1 for entry in corners.reshape(-1).tolist()))
        for _ in range(MOST_DOUBLINGS):
            # A simplex around all of the window: what is left of it has none of its sides.
            dim = window.dim
            sides = [(*(int(axis == other) for other in range(dim)), reach) for axis in range(dim)]
            sides.append((*[-1] * dim, dim * reach))
            apexes = [(*[-reach] * dim, 1)]
            for axis in range(dim):
                # All other coordinates are least where this one is greatest.
                apex = [-reach] * dim
                apex[axis] = (2 * dim - 1) * reach
                apexes.append((*apex, 1))
            tight = [frozenset(side for side in sides if not _dot(side, apex)) for apex in apexes]
            found = cls(dim, tuple(apexes), tuple(tight)).cut(rows)
            if found is None or not any(lies_on & {*sides} - {*rows} for lies_on in found.tight):
                return found
            reach *= 2
        raise DegenerateGeometryError(f"{window.describe()} is not bounded in exact arithmetic: cut it with a Box")

    def cut(self, rows: Iterable[Row]) -> "RationalPolytope | None":
        """Return the part on which all rows are at least zero, or None if that has no interior.

        Notes
        -----
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


def _dot(row: Row, vertex: Row) -> int:
    return sum(entry * coordinate for entry, coordinate in zip(row, vertex, strict=True))
