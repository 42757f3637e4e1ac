"""Half-spaces, those along coordinate axes as bounds: the form in which programs take a convex set.

A box of n coordinates is 2 n dense rows, or n pairs of numbers. Programs with bounds are faster, and their multipliers
prove a bound on every linear function, however roughly they fit. `Polyhedron` is what users see.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from reluscope.geometry.numbers.axis_rows import read_bounds


@dataclass(frozen=True, eq=False)
class HalfSpaces:
    """The closed convex set ``{x : rows x <= offsets, lower <= x <= upper}``."""

    rows: Float[np.ndarray, "h n"]  # outward normals
    offsets: Float[np.ndarray, " h"]  # infinite for a row that does not count
    lower: Float[np.ndarray, " n"]  # infinite where there is no bound
    upper: Float[np.ndarray, " n"]  # infinite where there is no bound

    @classmethod
    def of(cls, A: Float[np.ndarray, "h n"], b: Float[np.ndarray, " h"]) -> "HalfSpaces":
        """Return the set of all x with ``A x <= b``: rows along an axis as bounds, zero rows left out."""
        bounded = read_bounds(A, b)
        return cls(A[bounded.rows], b[bounded.rows], bounded.lower, bounded.upper)

    @property
    def width(self) -> float:
        """The longest side of the bounds, of those with two ends; 0 without one."""
        sides = self.upper - self.lower
        return float(sides[np.isfinite(sides)].max(initial=0.0))

    def cut(self, rows: Float[np.ndarray, "k n"], offsets: Float[np.ndarray, " k"]) -> "HalfSpaces":
        """Return the part inside more half-spaces."""
        return replace(self, rows=np.concatenate([self.rows, rows]), offsets=np.concatenate([self.offsets, offsets]))

    def contains(self, x: Float[np.ndarray, "*batch n"], tolerance: float = 0.0) -> np.ndarray:
        """Return which points satisfy all rows and bounds, up to a tolerance in the units of each."""
        inside = ((x >= self.lower - tolerance) & (x <= self.upper + tolerance)).all(axis=-1)
        return np.asarray(inside & (x @ self.rows.T <= self.offsets + tolerance).all(axis=-1))
