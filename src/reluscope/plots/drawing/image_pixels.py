"""Points as images: shapes that can be drawn, and pixels on one scale for all of them."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from reluscope.datasets.image_shapes import is_image
from reluscope.errors import InputError, ShapeError


def images_of(points: Float[np.ndarray, "s n"], shape: Sequence[int]) -> Float[np.ndarray, "s h w *_"]:
    """Return pixels from 0, the least finite entry of all, to 1, the largest; colours last if any.

    ``shape`` is ``(h, w)``, ``(1, h, w)`` or ``(3, h, w)``; see `is_image`. Raises InputError if the points are no
    images.
    """
    if not is_image(shape):
        raise InputError(f"samples are drawn as images of one or three channels, got the shape {tuple(shape)}")
    if points.shape[1] != int(np.prod(shape)):
        raise ShapeError(f"shape must have {points.shape[1]} entries in all, as the samples have, got {tuple(shape)}")
    finite = points[np.isfinite(points)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    channels = shape[0] if len(shape) == 3 else 1
    pixels = (points.reshape(-1, channels, *shape[-2:]) - low) / (high - low if high > low else 1.0)
    return pixels[:, 0] if channels == 1 else np.moveaxis(pixels, 1, -1)
