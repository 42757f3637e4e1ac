"""The shape of a bounded window: its exact corners, their nearest floats, and which corners lie on which side.

A window is its inequalities, whose float64 entries are taken as the rational numbers they are. Corners follow from them
and are rational, too; the floats nearest to them come with bounds on their errors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Bool, Float

from reluscope.errors import DegenerateGeometryError, InputError
from reluscope.geometry.polyhedra.domains import Box
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.polyhedra.rational_polytopes import RationalPolytope, Row, half_spaces, integer_row

Point = tuple[Fraction, ...]
# Half a unit in the last place, for one coordinate.
ROUNDING = float(np.finfo(np.float64).eps) / 2
# Windows are flat where no corner is farther from a side, relative to the largest coordinate: rounding hides them.
FLAT = 32 * ROUNDING


@dataclass(frozen=True, eq=False)
class RationalCorners:
    """Points with rational coordinates, and the floats nearest to them."""

    exact: Sequence[Point]
    points: Float[np.ndarray, "v d"]
    errors: Float[np.ndarray, " v"]  # largest distance of a float point from the exact one

    @classmethod
    def of(cls, exact: Sequence[Point]) -> "RationalCorners":
        """Round exact points."""
        try:
            points = np.array([[float(entry) for entry in point] for point in exact])
        except OverflowError as error:
            raise InputError(
                "the corners of the domain are too far away for floats: scale the domain and the network"
            ) from error
        is_exact = [
            all(entry == Fraction(number) for entry, number in zip(point, row, strict=True))
            for point, row in zip(exact, points.tolist(), strict=True)
        ]
        errors = np.where(is_exact, 0.0, ROUNDING * np.linalg.norm(points, axis=1))
        return cls(exact, points, errors)

    @classmethod
    def of_box(cls, box: Box) -> "RationalCorners":
        """Return the corners of a box, in the order of `Box.corners`."""
        points = box.corners()
        return cls([tuple(map(Fraction, point)) for point in points.tolist()], points, np.zeros(len(points)))

    @classmethod
    def together(cls, parts: "Sequence[RationalCorners]") -> "RationalCorners":
        """Return the corners of several windows, one after the other."""
        return cls(
            [point for part in parts for point in part.exact],
            np.concatenate([part.points for part in parts]),
            np.concatenate([part.errors for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.points)

    def take(self, which: np.ndarray) -> "RationalCorners":
        """Return some of them."""
        return RationalCorners([self.exact[index] for index in which.tolist()], self.points[which], self.errors[which])


@dataclass(frozen=True, eq=False)
class WindowShape:
    """A bounded full-dimensional window by its corners and sides.

    Sides are half-spaces ``a . x + c >= 0``, in whole numbers without common divisor.
    """

    corners: RationalCorners  # distinct; ascending, or counter-clockwise in 2D
    incidence: Bool[np.ndarray, "v f"]  # which corners lie on which sides
    sides: tuple[Row, ...]  # rows ``(a, c)``


def window_shape(window: Box | Polyhedron) -> WindowShape:
    """Return the corners and sides of a window.

    Raises DegenerateGeometryError if the window is empty, unbounded, or flat but for rounding.
    """
    if isinstance(window, Box):
        corners = RationalCorners.of_box(window)
        incidence = np.hstack([corners.points == window.hi, corners.points == window.lo])
        return WindowShape(corners, incidence, tuple(integer_row(side) for side in half_spaces(window)))
    polytope = None if len(window.C) else RationalPolytope.of(window)
    if polytope is None:
        raise _no_interior(window)
    facets = polytope.facets()
    incidence = np.zeros((len(polytope.vertices), len(facets)), dtype=bool)
    for side, members in enumerate(facets.values()):
        incidence[list(members), side] = True
    exact = [tuple(Fraction(entry, vertex[-1]) for entry in vertex[:-1]) for vertex in polytope.vertices]
    order = _order(exact, incidence)
    corners, sides = RationalCorners.of([exact[corner] for corner in order]), tuple(facets)
    if _is_flat(corners.points, sides):
        raise _no_interior(window)
    return WindowShape(corners, incidence[order], sides)


def _no_interior(window: Polyhedron) -> DegenerateGeometryError:
    return DegenerateGeometryError(
        f"the domain must have an interior, but {window.describe()} is empty or flat: give another, or a Slice"
    )


def _is_flat(points: Float[np.ndarray, "v d"], sides: Sequence[Row]) -> bool:
    """Whether all corners are as near to one of the sides as rounding may move them."""
    normals = np.array([[float(Fraction(entry, max(map(abs, row[:-1])))) for entry in row[:-1]] for row in sides])
    heights = points @ (normals / np.linalg.norm(normals, axis=1, keepdims=True)).T
    return bool(np.ptp(heights, axis=0).min() <= FLAT * np.abs(points).max())


def _order(exact: Sequence[Point], incidence: np.ndarray) -> list[int]:
    """Return the order of corners: ascending on a line, around the polygon in the plane, by coordinates elsewhere."""
    dim = len(exact[0])
    order = sorted(range(len(exact)), key=lambda corner: exact[corner])
    if dim != 2:
        return order
    # The lowest corner on the left is one; around a corner, a side leads to the next.
    around, beside = [order[0]], {}
    for members in incidence.T:
        one, other = np.flatnonzero(members).tolist()
        beside.setdefault(one, []).append(other)
        beside.setdefault(other, []).append(one)
    first, last = (
        tuple(a - b for a, b in zip(exact[next_], exact[order[0]], strict=True)) for next_ in beside[order[0]]
    )
    turn = first[0] * last[1] - first[1] * last[0]
    around.append(beside[order[0]][0 if turn > 0 else 1])
    while len(around) < len(exact):
        around.append(next(one for one in beside[around[-1]] if one != around[-2]))
    return around
