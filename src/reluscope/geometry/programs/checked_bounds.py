"""Upper bounds that multipliers of a linear program prove, whether or not the solver was right.

For all x with ``low <= R x <= high`` and ``lower <= x <= upper``, and any multipliers y,

    c x = y (R x) + (c - R'y) x <= sum_i max(y_i low_i, y_i high_i) + sum_j max(r_j lower_j, r_j upper_j),  r = c - R'y.

The bound holds for all multipliers; good ones make it tight. The rounding of sums is bounded and added.
"""

from fractions import Fraction

import numpy as np
import scipy.sparse
from jaxtyping import Float

from reluscope.tolerance import EPSILON

# Relative to nothing: what sums of products lose where they are below the smallest number of float64.
UNDERFLOW = 2.0**-1060
# The smallest positive number: what one product loses of what is left of the gain, before it is multiplied by a side.
SMALLEST = 2.0**-1074
Matrix = np.ndarray | scipy.sparse.csr_array


def upper_bound(
    gain: Float[np.ndarray, " n"],
    rows: Matrix,
    low: Float[np.ndarray, " h"],
    high: Float[np.ndarray, " h"],
    lower: Float[np.ndarray, " n"],
    upper: Float[np.ndarray, " n"],
    multipliers: Float[np.ndarray, " h"],
) -> float:
    """Return a number that ``gain x`` does not exceed where rows and bounds hold.

    Infinite if nothing is proved. Any multipliers are valid; those that a solver calls optimal are best. NaN, and
    multipliers of an end that is infinite, count as 0.
    """
    taken = np.nan_to_num(multipliers, nan=0.0, posinf=0.0, neginf=0.0)
    ends = np.where(taken > 0, high, low)
    taken = np.where(np.isfinite(ends), taken, 0.0)
    ends = np.where(taken == 0, 0.0, ends)
    with np.errstate(over="ignore", invalid="ignore"):
        rest = gain - rows.T @ taken
        # Sums of h + 1 terms in any order.
        doubt = (len(taken) + 2) * EPSILON * (np.abs(gain) + abs(rows).T @ np.abs(taken))
    if _least(rows) * _least(taken) < np.finfo(float).tiny:  # products may be below the smallest number
        doubt = doubt + SMALLEST * (abs(rows).T @ (taken != 0).astype(float) > 0) * len(taken)
    sides = np.where(rest > 0, upper, lower)
    endless = ~np.isfinite(lower) | ~np.isfinite(upper)
    is_exact = np.zeros(len(rest), dtype=np.bool_)
    for column in np.flatnonzero(endless & (np.abs(rest) <= doubt) & (doubt > 0) & np.isfinite(doubt)).tolist():
        # Without an end only what vanishes in truth is harmless.
        exact = _exact_rest(gain, rows, taken, column)
        is_exact[column], rest[column] = True, float(exact)
        doubt[column] = SMALLEST if exact else 0.0  # a rounding relative to the rest is one of its term, added below
        sides[column] = upper[column] if exact > 0 else lower[column]
    with np.errstate(over="ignore", invalid="ignore"):
        terms = np.concatenate([taken * ends, np.where(rest == 0, 0.0, rest * sides)])
        widest = np.where(doubt == 0, 0.0, doubt * np.maximum(np.abs(lower), np.abs(upper)))
        # Where the rest has a sign beyond doubt, an end on the other side does not matter.
        sure = np.where(doubt == 0, 0.0, doubt * np.abs(sides))
        widest = np.where(is_exact | (np.abs(rest) > doubt), sure, widest)
        total = float(terms.sum() + widest.sum())
    if not np.isfinite(total):
        return np.inf
    return total + (len(terms) + len(widest) + 3) * EPSILON * float(np.abs(terms).sum() + widest.sum()) + UNDERFLOW


def _least(table: Matrix) -> float:
    """Return the least absolute value of entries that are not 0, infinite if there is none."""
    entries = np.abs(table if isinstance(table, np.ndarray) else table.data)
    return float(entries.min(initial=np.inf, where=entries > 0))


def _exact_rest(gain: np.ndarray, rows: Matrix, taken: np.ndarray, column: int) -> Fraction:
    """Return one entry of the rest in rational arithmetic."""
    entries = rows[:, [column]]
    dense = np.asarray(entries if isinstance(entries, np.ndarray) else entries.toarray())[:, 0]
    total = Fraction(float(gain[column]))
    for row in np.flatnonzero(dense * (taken != 0)).tolist():
        total -= Fraction(float(dense[row])) * Fraction(float(taken[row]))
    return total
