"""Rows of half-spaces in units of their lengths: scaled by powers of two, which changes none, or divided."""

import numpy as np
from jaxtyping import Float

from reluscope.geometry.numbers.scales import exponents, lengths, times_power

# No half-space ends farther from the origin: products with what floats hold stay finite.
FARTHEST = 1e300


def scaled_rows(
    A: Float[np.ndarray, "h n"], b: Float[np.ndarray, " h"]
) -> tuple[Float[np.ndarray, "h n"], Float[np.ndarray, " h"]]:
    """Return the same rows times powers of two, the largest entry of each from 1/2 to 1.

    Squares of the rows then fit in float64. Half-spaces that end farther away than ``FARTHEST`` end there.
    """
    powers = exponents(A, 1)
    return times_power(A, -powers[:, None]), np.clip(times_power(b, -powers), -FARTHEST, FARTHEST)


def unit_rows(
    A: Float[np.ndarray, "h n"], b: Float[np.ndarray, " h"]
) -> tuple[Float[np.ndarray, "k n"], Float[np.ndarray, " k"], np.ndarray]:
    """Return the rows that are not zero, scaled to length 1, and their indices."""
    kept = np.flatnonzero(A.any(axis=1))
    # By powers of two first, which is exact: the length of a row need not be a number of float64.
    rows, offsets = scaled_rows(A[kept], b[kept])
    sizes = lengths(rows)
    return rows / sizes[:, None], offsets / sizes, kept
