"""Half-spaces along a coordinate axis, ``a_j x_j <= b``, as bounds of that coordinate.

A box of n coordinates is 2 n dense rows, or n pairs of numbers. Programs with bounds are faster, and their multipliers
prove a bound on every linear function, however roughly they fit.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int


class Bounded(NamedTuple):
    """The set {x : A x <= b} as bounds and the rows that are not along an axis.

    Zero rows are left out.
    """

    rows: Int[np.ndarray, " k"]  # rows that are not along an axis
    lower: Float[np.ndarray, " n"]  # tightest bounds of the others; infinite if none
    upper: Float[np.ndarray, " n"]  # tightest bounds of the others; infinite if none


def read_bounds(A: Float[np.ndarray, "h n"], b: Float[np.ndarray, " h"]) -> Bounded:
    """Read the rows with one entry that is not zero as bounds."""
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
