"""The rows of a polyhedron: float64 numbers, or the fractions these are rounded from, and what fractions decide.

Signs of points at rows, and directions in which the polyhedron is endless: rows that are parallel in fractions are not
after rounding.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from jaxtyping import Float

from reluscope.geometry.polyhedra.interior import is_cone_trivial
from reluscope.geometry.polyhedra.true_rows import Recession, Side, TrueRows, is_quick, recession, scaled_sides
from reluscope.geometry.programs.proved_programs import nearest

# Below it products are rounded to multiples of the smallest number.
TINY = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class PolyhedronRows:
    """The rows ``A x <= b`` and ``C x = d`` of a polyhedron, and the fractions, if any, that they are rounded from."""

    A: Float[np.ndarray, "h n"]
    b: Float[np.ndarray, " h"]
    C: Float[np.ndarray, "k n"]
    d: Float[np.ndarray, " k"]
    true_rows: TrueRows | None

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return self.A.shape[1]

    def side(self, row: int) -> Side:
        """Return a row as ``(a, c)`` of ``a . x + c >= 0`` in fractions, times a positive number."""
        if self.sides is not None:
            return self.sides[row]
        return (*(-Fraction(entry) for entry in self.A[row].tolist()), Fraction(float(self.b[row])))

    @cached_property
    def sides(self) -> list[Side] | None:
        """The rows of fractions that A and b are rounded from; None where there are none, or they take too long."""
        found = None if self.true_rows is None else self.true_rows.sides()
        return None if found is None else scaled_sides(found)

    @cached_property
    def near(self) -> tuple[Float[np.ndarray, "h n"], Float[np.ndarray, " h"]]:
        """Rows and offsets: the nearest float64 numbers to the rows of fractions, where there are such."""
        if self.sides is None:
            return self.A, self.b
        table = np.array([[nearest(entry) for entry in side] for side in self.sides]).reshape(-1, self.dim + 1)
        return -table[:, :-1], table[:, -1]

    @cached_property
    def recession(self) -> Recession | None:
        """Directions in which the polyhedron is endless, where rows of fractions tell them, and soon."""
        if self.sides is None:
            return None
        equations = [[Fraction(sign * entry) for entry in row] for row in self.C.tolist() for sign in (1, -1)]
        normals = [*(side[:-1] for side in self.sides), *equations]
        return recession(normals, self.dim) if is_quick(normals, self.dim) else None

    @cached_property
    def has_no_rays(self) -> bool:
        """Whether nothing but 0 is a direction in which the polyhedron is endless."""
        found = self.recession
        return is_cone_trivial(self.A, self.C) if found is None else found.is_trivial

    @cached_property
    def across(self) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Rows and offsets of what is left across the directions of an endless polyhedron, in an orthonormal basis.

        Rows that are not constant along all these directions are met nowhere far away.
        """
        found = self.recession
        if found is None or found.is_trivial or len(self.C) or not found.still:
            return None
        normals, offsets = (part[list(found.still)] for part in self.near)
        _, _, basis = np.linalg.svd(normals, full_matrices=False)
        return normals @ basis[: found.rank].T, offsets, basis[: found.rank]

    def exact_signs(
        self, points: np.ndarray, excess: np.ndarray, normals: np.ndarray, offsets: np.ndarray
    ) -> np.ndarray:
        """Return how far points are outside half-spaces, with signs that are exact for the numbers in the rows."""
        # A comparison of one coordinate is exact, unless numbers are so small that half of them is rounded.
        is_plain = ((normals != 0).sum(axis=1) <= 1) & (np.abs(normals).max(axis=1, initial=0.0) == 0.5)
        is_plain &= not any(_are_tiny(one) for one in (points, self.near[1], offsets))
        rows = np.flatnonzero(~is_plain | (self.sides is not None))
        sizes = np.abs(points) @ np.abs(normals[rows]).T + np.abs(offsets[rows])
        with np.errstate(invalid="ignore"):
            doubtful = np.abs(excess[..., rows]) <= (self.dim + 4) * (np.finfo(float).eps * sizes + TINY)
        found = excess.copy()
        for *place, column in np.argwhere(doubtful & np.isfinite(sizes)).tolist():
            row, point = rows[column], points[tuple(place)]
            *normal, constant = self.side(int(row))
            terms = (a * Fraction(x) for a, x in zip(normal, point.tolist(), strict=True) if a)
            value = sum(terms, constant)
            found[(*place, row)] = (value < 0) - (value > 0)
        return found


def _are_tiny(numbers: np.ndarray) -> bool:
    """Whether some numbers are so small that float64 rounds their halves."""
    return bool(((numbers != 0) & (np.abs(numbers) < 2 * TINY)).any())
