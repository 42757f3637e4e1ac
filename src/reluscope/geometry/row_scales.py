"""Rows of half-spaces in units of their lengths: scaled by powers of two, which changes none, or divided."""

import numpy as np
from jaxtyping import Float

# No half-space ends farther from the origin: products with what floats hold stay finite.
FARTHEST = 1e300


def scaled_rows(
    A: Float[np.ndarray, "h n"], b: Float[np.ndarray, " h"]
) -> tuple[Float[np.ndarray, "h n"], Float[np.ndarray, " h"]]:
    """Return rows times powers of two, the largest entry of each from 1 to 2: the same rows, and their squares fit.

    Half-spaces that end farther away than ``FARTHEST`` end there.

    Examples
    --------
    >>> scaled_rows(np.array([[6e200, 0.0]]), np.array([3e200]))
    (array([[1.95..., 0.        ]]), array([0.97...]))
    """
    exponents = -(np.frexp(np.abs(A).max(axis=1, initial=0.0))[1] - 1)
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(A, exponents[:, None]), np.clip(np.ldexp(b, exponents), -FARTHEST, FARTHEST)


def unit_rows(
    A: Float[np.ndarray, "h n"], b: Float[np.ndarray, " h"]
) -> tuple[Float[np.ndarray, "k n"], Float[np.ndarray, " k"], np.ndarray]:
    """Return the rows that are not zero, scaled to length 1, and their indices."""
    A, b = scaled_rows(A, b)
    lengths = np.linalg.norm(A, axis=1)
    kept = np.flatnonzero(lengths > 0)
    return A[kept] / lengths[kept, None], b[kept] / lengths[kept], kept
