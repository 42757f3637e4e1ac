"""Samples as images, side by side."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from reluscope.arguments import read_drawn
from reluscope.errors import InputError
from reluscope.plots.drawing.image_pixels import images_of
from reluscope.plots.drawing.without_axes import frame_image
from reluscope.plots.figures import new_figure
from reluscope.plots.style import INK, shortened

MAX_SAMPLES = 12


@read_drawn
def samples(points: Float[np.ndarray, "s n"], *, shape: Sequence[int], names: Sequence[str] | None = None) -> Figure:
    """Draw samples as images in one row.

    Parameters
    ----------
    points : (s, n) float64
        At most 12.
    shape : sequence of int
        ``(h, w)``, ``(1, h, w)`` or ``(3, h, w)``.
    names : sequence of str, optional
        Names of the samples.

    Returns
    -------
    matplotlib.figure.Figure
        One grey scale for all, or colours, from the smallest to the largest entry.

    Raises
    ------
    InputError
        If there are too many samples, or they are no images.
    """
    if len(points) > MAX_SAMPLES:
        raise InputError(f"at most {MAX_SAMPLES} samples can be drawn side by side, got {len(points):,}: choose some")
    images = images_of(points, shape)
    height, width = shape[-2:]
    side = 1.35 if len(points) > 4 else 1.9
    wide = max(3.2, side * len(points) + 1.5)
    figure = new_figure((wide, side * float(np.clip(height / width, 0.3, 3.0)) + 0.45))
    # Room on both sides as pictures of coefficients have it, so that they can stand below.
    figure.get_layout_engine().set(rect=(0.16 / wide, 0.0, 1.0 - 0.83 / wide, 1.0))  # pyright: ignore
    grid = figure.subplots(1, max(1, len(points)), squeeze=False)[0]
    for index, axes in enumerate(grid):
        frame_image(axes)
        if index < len(points):
            axes.imshow(images[index], cmap="gray", vmin=0.0, vmax=1.0, interpolation="none")
            if names is not None:
                axes.set_title(shortened(names[index], 20), fontsize=9.5, color=INK)
    return figure
