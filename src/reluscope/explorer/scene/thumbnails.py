"""Samples as small pictures, all on one scale."""

from math import ceil

import numpy as np
from jaxtyping import Int

from reluscope.datasets.image_shapes import is_image
from reluscope.explorer.scene.session import Session

MOST_SIDE = 64


def image_shape(session: Session) -> tuple[int, ...] | None:
    """Return the shape in which samples are images, ``(h, w)`` or ``(channels, h, w)``; None where they are none."""
    before = None if session.data is None else session.data.shape_before
    return next((shape for shape in (session.network.input_shape, before or ()) if is_image(shape)), None)


def thumbnail_shape(session: Session) -> tuple[int, int, int] | None:
    """Return height, width and channels of thumbnails; None where samples are no images."""
    shape = image_shape(session)
    if shape is None:
        return None
    step = _step(shape)
    return -(-shape[-2] // step), -(-shape[-1] // step), shape[0] if len(shape) == 3 else 1


def thumbnails(session: Session, rows: Int[np.ndarray, " k"]) -> np.ndarray:
    """Return samples as pixels, (k, h, w, channels) uint8: 0 is the least entry of all samples, 255 the largest."""
    shape = image_shape(session)
    assert shape is not None
    low, high = (float(end) for end in (session.low_and_high[0].min(), session.low_and_high[1].max()))
    step = _step(shape)
    pixels = session.points[rows].reshape(len(rows), -1, *shape[-2:])[:, :, ::step, ::step]
    shades = 255.0 * (pixels - low) / (high - low if high > low else 1.0)
    return np.ascontiguousarray(np.moveaxis(np.rint(shades).clip(0, 255).astype(np.uint8), 1, -1))


def _step(shape: tuple[int, ...]) -> int:
    """Return every how many pixels one is shown."""
    return ceil(max(shape[-2:]) / MOST_SIDE)
