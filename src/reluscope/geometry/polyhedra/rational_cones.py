"""Polyhedral cones in rational arithmetic, each by what of it lies near the origin: a polytope with its facets.

A polyhedron of points x, bounded or not, is the part at height 1 of its cone of points ``(x, w)``; a simplex around the
origin cuts off the rest of the cone, so that vertices say everything, directions to infinity (w = 0) included.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from reluscope.geometry.polyhedra.rational_polytopes import RationalPolytope, Row, between, primitive

Point = tuple[Fraction, ...]


@dataclass(frozen=True)
class CompactPolyhedron:
    """A polyhedron of points x by a polytope: its own if it is bounded, else the part of its cone near the origin."""

    polytope: RationalPolytope
    is_cone: bool
    sides: frozenset[Row]  # the rows that do not divide the polyhedron: its own, and those that cut off its cone

    @classmethod
    def of(cls, dim: int, rows: Sequence[Row]) -> "CompactPolyhedron | None":
        """Return the polyhedron where rows ``(a, c)``, meaning ``a . x + c``, are at least 0; None if it is flat."""
        lines, polytope = between(dim, rows)
        if polytope is None or (not lines and polytope.is_bounded):
            return None if polytope is None else cls(polytope, False, frozenset(rows))
        sides = [(*row, 0) for row in (*rows, (*[0] * dim, 1))]
        section = cone(dim + 1, (side[:-1] for side in sides))
        return None if section is None else cls(section, True, frozenset([*sides, *_simplex_sides(dim + 1)]))

    def row(self, row: Row) -> Row:
        """Return the row of the polytope that belongs to a row ``(a, c)`` of the polyhedron."""
        return (*row, 0) if self.is_cone else row

    def middle(self, vertices: Sequence[Row]) -> Point:
        """Return the point of the polyhedron that belongs to the mean of vertices, not all of them at infinity."""
        points = (tuple(Fraction(entry, vertex[-1]) for entry in vertex[:-1]) for vertex in vertices)
        mean = tuple(sum(column, Fraction(0)) / len(vertices) for column in zip(*points, strict=True))
        return tuple(entry / mean[-1] for entry in mean[:-1]) if self.is_cone else mean


def cone(dim: int, rows: Iterable[Row]) -> RationalPolytope | None:
    """Return the part of a cone in a simplex around the origin, None if the cone has no interior.

    The cone is where all rows, without a constant, are at least 0. Facets through the origin are those of the cone;
    their rows end in 0.
    """
    sides = _simplex_sides(dim)
    apexes: list[Row] = [(*[-1] * dim, 1)]
    apexes += [(*(dim if axis == other else -1 for other in range(dim)), 1) for axis in range(dim)]
    tight = (frozenset(side for side in sides if _vanishes(side, apex)) for apex in apexes)
    return RationalPolytope(dim, tuple(apexes), tuple(tight)).cut((*row, 0) for row in rows)


def edges(section: RationalPolytope) -> list[Row]:
    """Return the edges of a cone by its part near the origin, as primitive vectors; none if the cone holds lines."""
    apex = (*[0] * section.dim, 1)
    # No other point of the cone lies on all sides that an edge lies on.
    on_rows = zip(section.vertices, section.tight, strict=True)
    sides = {vertex: frozenset(row for row in on if not row[-1]) for vertex, on in on_rows}
    if sides.pop(apex, None) is None:
        return []
    return [primitive(vertex[:-1]) for vertex, on in sides.items() if not any(on < other for other in sides.values())]


def _simplex_sides(dim: int) -> list[Row]:
    """Return the rows of the simplex around the origin."""
    return [*((*(int(axis == other) for other in range(dim)), 1) for axis in range(dim)), (*[-1] * dim, 1)]


def _vanishes(side: Row, apex: Row) -> bool:
    return not sum(entry * coordinate for entry, coordinate in zip(side, apex, strict=True))
