"""Polyhedral cones in rational arithmetic, each by what of it lies near the origin: a polytope with its facets.

A polyhedron of points x, bounded or not, is the part at height 1 of its cone of points ``(x, w)``; a simplex around the
origin cuts off the rest of the cone, so that vertices say everything, directions to infinity (w = 0) included.
"""

from collections.abc import Iterable

from reluscope.geometry.polyhedra.rational_polytopes import RationalPolytope, Row


def cone(dim: int, rows: Iterable[Row]) -> RationalPolytope | None:
    """Return the part of a cone in a simplex around the origin, None if the cone has no interior.

    The cone is where all rows, without a constant, are at least 0. Facets through the origin are those of the cone;
    their rows end in 0.
    """
    sides: list[Row] = [(*(int(axis == other) for other in range(dim)), 1) for axis in range(dim)]
    sides.append((*[-1] * dim, 1))
    apexes: list[Row] = [(*[-1] * dim, 1)]
    apexes += [(*(dim if axis == other else -1 for other in range(dim)), 1) for axis in range(dim)]
    tight = (frozenset(side for side in sides if _vanishes(side, apex)) for apex in apexes)
    return RationalPolytope(dim, tuple(apexes), tuple(tight)).cut((*row, 0) for row in rows)


def _vanishes(side: Row, apex: Row) -> bool:
    return not sum(entry * coordinate for entry, coordinate in zip(side, apex, strict=True))
