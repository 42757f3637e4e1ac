"""The box that samples span."""

import numpy as np
from jaxtyping import Float

from reluscope.geometry.polyhedra.domains import Box


def data_box(points: Float[np.ndarray, "s n"]) -> Box | None:
    """Return a box around the samples: their ranges, or one range for all inputs where some inputs never vary.

    Returns
    -------
    Box, or None
        None if all entries are equal.

    Examples
    --------
    >>> data_box(np.array([[0.0, 5.0], [1.0, 7.0]])).hi, data_box(np.array([[0.0, 1.0], [0.0, 0.5]])).hi
    (array([1., 7.]), array([1., 1.]))
    """
    low, high = points.min(axis=0), points.max(axis=0)
    if (low < high).all():
        return Box(low, high)
    if not points.min() < points.max():
        return None
    return Box(float(points.min()), float(points.max()), points.shape[1])
