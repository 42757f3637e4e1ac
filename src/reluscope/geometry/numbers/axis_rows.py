"""Half-spaces along a coordinate axis, ``a_j x_j <= b``, as bounds of that coordinate.

A box of n coordinates is 2 n dense rows, or n pairs of numbers. Programs with bounds are faster, and their multipliers
prove a bound on every linear function, however roughly they fit.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int


class Bounded(NamedTuple):
    """The set {x : A x <= b} as other rows and bounds.

    Parameters
    ----------
    rows : (k,) int64
        The rows that are not along an axis; zero rows are left out.
    lower, upper : (n,) float64
        The tightest bounds of the others, infinite where there are none.
    """

    rows: Int[np.ndarray, " k"]
    lower: Float[np.ndarray, " n"]
    upper: Float[np.ndarray, " n"]


def read_bounds(A: Float[np.ndarray, "h n"], b: Float[np.ndarray, " h"]) -> Bounded:
    """Read the rows with one entry that is not zero as bounds.

    Examples
    --------
    >>> found = read_bounds(np.array([[2.0, 0.0], [1.0, 1.0], [0.0, -1.0]]), np.array([4.0, 9.0, 3.0]))
    >>> found.rows.tolist(), found.lower.tolist(), found.upper.tolist()
    ([1], [-inf, -3.0], [2.0, inf])
    """
    dim = A.shape[1]
    entries = np.count_nonzero(A, axis=1)
    along = np.flatnonzero(entries == 1)
    axes = np.abs(A[along]).argmax(axis=1) if len(along) else along
    speeds = A[along, axes]
    ends = b[along] / speeds
    lower, upper = np.full(dim, -np.inf), np.full(dim, np.inf)
    np.minimum.at(upper, axes[speeds > 0], ends[speeds > 0])
    np.maximum.at(lower, axes[speeds < 0], ends[speeds < 0])
    return Bounded(np.flatnonzero(entries > 1), lower, upper)
