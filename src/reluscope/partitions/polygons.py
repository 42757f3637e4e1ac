"""Many convex polygons, or intervals, in ragged arrays: the order of their corners, and their size."""

from math import atan2

import numpy as np
from numba import njit

from reluscope.interruption import held


@held
@njit(cache=True)
def ordered_corners(vertices, offsets, ids, witnesses) -> np.ndarray:
    """Return the corners of every region in order: ascending on a line, counter-clockwise in the plane.

    Parameters
    ----------
    vertices : (v, d) float64
    offsets : (r + 1,) int64; ids : (offsets[-1],) int
    witnesses : (r, d) float64
        A point inside every region.
    """
    ordered = ids.copy()
    most = 0
    for region in range(offsets.shape[0] - 1):
        most = max(most, offsets[region + 1] - offsets[region])
    keys = np.empty(most)
    for region in range(offsets.shape[0] - 1):
        first, number = offsets[region], offsets[region + 1] - offsets[region]
        for i in range(number):
            corner = vertices[ids[first + i]]
            if vertices.shape[1] == 1:
                key = corner[0]
            else:
                key = atan2(corner[1] - witnesses[region, 1], corner[0] - witnesses[region, 0])
            # Regions have few corners: insertion is the fastest way to sort them.
            j = i
            while j > 0 and keys[j - 1] > key:
                keys[j] = keys[j - 1]
                ordered[first + j] = ordered[first + j - 1]
                j -= 1
            keys[j] = key
            ordered[first + j] = ids[first + i]
    return ordered


@held
@njit(cache=True)
def measures(vertices, offsets, ids) -> np.ndarray:
    """Return the length or area of every region, corners in order."""
    sizes = np.zeros(offsets.shape[0] - 1)
    for region in range(offsets.shape[0] - 1):
        first, last = offsets[region], offsets[region + 1]
        start = vertices[ids[first]]
        if vertices.shape[1] == 1:
            sizes[region] = vertices[ids[last - 1], 0] - start[0]
            continue
        # A fan of triangles from the first corner: differences, so that small regions far away keep their digits.
        for i in range(first + 1, last - 1):
            a, b = vertices[ids[i]], vertices[ids[i + 1]]
            ax, ay, bx, by = a[0] - start[0], a[1] - start[1], b[0] - start[0], b[1] - start[1]
            sizes[region] += (ax * by - ay * bx) / 2
    return sizes
