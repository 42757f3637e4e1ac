"""Many convex polygons, or intervals, in ragged arrays: the order of their corners, and their size."""

import numpy as np
from scipy.sparse import csr_array

from reluscope import _kernels


def ordered_corners(vertices: np.ndarray, offsets: np.ndarray, ids: np.ndarray, witnesses: np.ndarray) -> np.ndarray:
    """Return the corners of every region in order: ascending on a line, counter-clockwise in the plane.

    Each witness must be inside its region.
    """
    return _kernels.ordered_corners(vertices, offsets, ids, witnesses)


def polygon_sizes(vertices: np.ndarray, offsets: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return the length or area of every region, corners in order."""
    return _kernels.measures(vertices, offsets, ids)


def means_at_corners(values: np.ndarray, offsets: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return the mean of values ``(v, k)`` at the corners of every region, ``(r, k)``."""
    corners = csr_array((np.ones(len(ids)), ids, offsets), shape=(len(offsets) - 1, len(values)))
    return (corners @ values) / np.diff(offsets)[:, None]
