"""Images with the same features: the input, the target, the image found between them, and its difference to the input.

Reference: Behrmann et al., "Invariance and inverse stability under ReLU", 2018, Figures 7 and 12.
"""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from reluscope.analyses.preimages.invariance_search import SameFeatures
from reluscope.arguments import read_drawn
from reluscope.datasets.image_shapes import is_image
from reluscope.errors import InputError
from reluscope.plots.drawing.image_pixels import images_of
from reluscope.plots.drawing.without_axes import frame_image
from reluscope.plots.figures import new_figure
from reluscope.plots.style import INK, canvas, say, shortened

COLUMNS = ("input", "target", "same features", "change")
MAX_ROWS = 12
# Inches of an image, and of the line below it.
SIDE, BELOW = 1.45, 0.34


@read_drawn
def invariances(found: Sequence[SameFeatures], *, shape: Sequence[int], names: Sequence[str] | None = None) -> Figure:
    """Draw inputs, targets and the inputs with the same features that resemble the targets, side by side.

    Parameters
    ----------
    found : sequence of SameFeatures
        At most 12, one row each.
    shape : sequence of int
        Shape of an image: ``(h, w)``, ``(1, h, w)`` or ``(3, h, w)``.
    names : sequence of str, optional
        Names of the rows.

    Returns
    -------
    matplotlib.figure.Figure
        Inputs have one grey scale, or colours, from the smallest to the largest entry of all; changes (the mean
        over colours) go from blue, darker, to red, brighter. Below each row: the change, and its effect on the
        features.

    Raises
    ------
    InputError
        If there are too many rows, or the inputs are no images.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(4)[:2], np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> one = rs.preimages.invariant(net, [0.5, 0.0, 0.2, 0.0], target=[1.0, 1.0, 1.0, 0.0], domain=rs.Box(0, 1, 4))
    >>> [axes.get_title() for axes in rs.plots.invariances([one], shape=(2, 2)).axes]
    ['input', 'target', 'same features', 'change']
    """
    if len(found) > MAX_ROWS:
        raise InputError(f"at most {MAX_ROWS} rows of images can be drawn, got {len(found):,}: choose some")
    if not is_image(shape):
        raise InputError(f"inputs are drawn as images of one or three channels, got the shape {tuple(shape)}")
    height, width = shape[-2:]
    tall = SIDE * float(np.clip(height / width, 0.3, 3.0)) + BELOW
    number = max(1, len(found))
    figure = new_figure((SIDE * len(COLUMNS) + 0.7, tall * number + 0.25))
    if not found:
        axes = canvas(figure.subplots(), (0.0, 0.0))
        axes.set_axis_off()
        say(axes, "no inputs with the same features")
        return figure
    grid = figure.subplots(number, len(COLUMNS), squeeze=False)
    points = [
        [one.point, np.full_like(one.point, np.nan) if one.target is None else one.target, one.found] for one in found
    ]
    images = images_of(np.array(points).reshape(3 * number, -1), shape)
    changes = np.stack([_one_channel(one.found - one.point, shape) for one in found])
    most = float(np.abs(changes).max()) or 1.0
    for row, one in enumerate(found):
        for axes in grid[row]:
            frame_image(axes)
        for column, axes in enumerate(grid[row, :3]):
            if column == 1 and one.target is None:
                say(axes, "none")
            else:
                axes.imshow(images[3 * row + column], cmap="gray", vmin=0.0, vmax=1.0, interpolation="none")
        grid[row, 3].imshow(changes[row], cmap="RdBu_r", vmin=-most, vmax=most, interpolation="none")
        if names is not None:
            grid[row, 0].set_ylabel(shortened(names[row], 20), fontsize=9, color=INK)
        text = f"{len(one.before):,} features equal within {one.proved_within:.1e}"
        grid[row, 2].set_xlabel(text, fontsize=7.5, color=INK)
        grid[row, 3].set_xlabel("")
    for axes, title in zip(grid[0], COLUMNS, strict=True):
        axes.set_title(title, fontsize=9.5, color=INK)
    return figure


def _one_channel(change: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    return change.reshape(-1, *shape[-2:]).mean(axis=0)
