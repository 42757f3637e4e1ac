"""Count the regions along a segment from codes alone: bisect wherever the codes at the two ends differ.

Regions shorter than the resolution, and regions entered and left between two equal codes of the first grid, are missed:
the count is a lower bound that a fine enough grid makes exact.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np


def num_regions(codes: Callable[[np.ndarray], np.ndarray], low: float, high: float, *, grid: int = 252,
                resolution: float = 1e-9) -> int:  # fmt: skip
    """Return the number of maximal intervals of constant code met in (low, high).

    ``codes`` maps parameters (s,) to an integer array (s, units).
    """
    start = np.linspace(low, high, grid)  # 251 steps: no dyadic point inside is hit
    step = (high - low) * 1e-7  # an end of the segment may lie on a kink
    start[0], start[-1] = low + step, high - step
    ends = [(float(t), np.asarray(code)) for t, code in zip(start, codes(start), strict=True)]
    changes = 0
    stack = list(pairwise(ends))
    while stack:
        (left, at_left), (right, at_right) = stack.pop()
        if np.array_equal(at_left, at_right):
            continue
        if right - left <= resolution * (high - low):
            changes += 1
            continue
        middle = left + 0.4871 * (right - left)  # kinks of simple networks are dyadic: do not hit them
        at_middle = np.asarray(codes(np.array([middle])))[0]
        stack += [((left, at_left), (middle, at_middle)), ((middle, at_middle), (right, at_right))]
    return changes + 1
