"""The box that samples span."""

import numpy as np
from jaxtyping import Float

from reluscope.geometry.polyhedra.domains import Box


def data_box(points: Float[np.ndarray, "s n"]) -> Box | None:
    """Return a box around the samples: their ranges, or one range for all inputs where some never vary.

    None if all entries are equal.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    if (low < high).all():
        return Box(low, high)
    if not points.min() < points.max():
        return None
    return Box(float(points.min()), float(points.max()), points.shape[1])
