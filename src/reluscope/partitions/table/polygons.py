"""Many convex polygons, or intervals, in ragged arrays: the order of their corners, and their size."""

import numpy as np
from scipy.sparse import csr_array

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


def means_at_corners(values: np.ndarray, offsets: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return the mean of values ``(v, k)`` at the corners of every region, ``(r, k)``.

    Examples
    --------
    >>> means_at_corners(np.array([[1.0], [3.0], [5.0]]), np.array([0, 2, 5]), np.array([0, 1, 0, 1, 2]))
    array([[2.],
           [3.]])
    """
    corners = csr_array((np.ones(len(ids)), ids, offsets), shape=(len(offsets) - 1, len(values)))
    return (corners @ values) / np.diff(offsets)[:, None]
