"""Many convex polygons, or intervals, in ragged arrays: the order of their corners, and their size."""

import numpy as np

from reluscope import _kernels


def ordered_corners(vertices: np.ndarray, offsets: np.ndarray, ids: np.ndarray, witnesses: np.ndarray) -> np.ndarray:
    """Return the corners of every region in order: ascending on a line, counter-clockwise in the plane.

    Parameters
    ----------
    vertices : (v, d) float64
    offsets : (r + 1,) int64; ids : (offsets[-1],) int32
    witnesses : (r, d) float64
        A point inside every region.
    """
    return _kernels.ordered_corners(vertices, offsets, ids, witnesses)


def measures(vertices: np.ndarray, offsets: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return the length or area of every region, corners in order."""
    return _kernels.measures(vertices, offsets, ids)
