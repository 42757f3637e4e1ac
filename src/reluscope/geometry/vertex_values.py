"""Values at vertices that were made one after the other: interpolated, their slopes and their ranges, compiled."""

import numpy as np
from numba import njit

from reluscope.interruption import held


@held
@njit(cache=True)
def interpolate(rows, tail, head, share):
    """Fill the last rows in order: each is a convex combination of two rows that precede it."""
    first = rows.shape[0] - tail.shape[0]
    for i in range(tail.shape[0]):
        a, b, t = tail[i], head[i], share[i]
        for j in range(rows.shape[1]):
            rows[first + i, j] = (1.0 - t) * rows[a, j] + t * rows[b, j]


@held
@njit(cache=True)
def steepest(heights, tail, head, length):
    """Return for each column the largest slope of its values along the given edges."""
    slopes = np.zeros(heights.shape[1])
    for e in range(tail.shape[0]):
        a, b = tail[e], head[e]
        inverse = 1.0 / length[e] if length[e] > 0 else 0.0
        for j in range(heights.shape[1]):
            slopes[j] = max(slopes[j], abs(heights[a, j] - heights[b, j]) * inverse)
    return slopes


@held
@njit(cache=True)
def column_ranges(heights) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the smallest, the largest and the smallest absolute value of each column."""
    columns = heights.shape[1]
    low, high = np.full(columns, np.inf), np.full(columns, -np.inf)
    least = np.full(columns, np.inf)
    for v in range(heights.shape[0]):
        for j in range(columns):
            value = heights[v, j]
            low[j] = min(low[j], value)
            high[j] = max(high[j], value)
            least[j] = min(least[j], abs(value))
    return low, high, least
