"""Saliency images: the gradient of an output at samples, and gradient times input, which add up to the output."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from reluscope.analyses.sensitivity.saliency_maps import Saliency
from reluscope.arguments import read_array, read_drawn
from reluscope.errors import InputError, ShapeError
from reluscope.networks.graph.points import Points
from reluscope.plots.drawing.image_pixels import images_of
from reluscope.plots.drawing.without_axes import frame_image
from reluscope.plots.figures import new_figure
from reluscope.plots.style import INK, SIGNED, canvas, say, shortened

MAX_SAMPLES = 12


@read_drawn
def saliency(found: Saliency, samples: Points, *, shape: Sequence[int], names: Sequence[str] | None = None) -> Figure:
    """Draw samples with their gradients and contributions, summed over channels, one row per sample.

    Parameters
    ----------
    found : Saliency
        For at most 12 samples.
    samples : (s, *input_shape) or (s, n)
    shape : sequence of int
        Shape of an image: ``(h, w)``, ``(1, h, w)`` or ``(3, h, w)``.
    names : sequence of str, optional
        One per sample.

    Returns
    -------
    matplotlib.figure.Figure
        Each signed image has its own scale, symmetric about zero: blue is negative, white zero, orange positive.
        Below each row: the output as contributions and constant, and the share of the constant.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(4), np.zeros(4)), (np.ones((2, 4)), np.zeros(2))])
    >>> x = np.array([[1.0, -1.0, 2.0, 3.0]])
    >>> figure = rs.plots.saliency(rs.sensitivity.saliency(net, x), x, shape=(2, 2))
    >>> [axes.get_title() for axes in figure.axes]
    ['sample', 'gradient', 'gradient x input']
    """
    number = len(found)
    if number > MAX_SAMPLES:
        raise InputError(f"at most {MAX_SAMPLES} samples can be drawn together, got {number:,}: choose some")
    points = read_array(samples, "samples")
    size = found.gradients.shape[1]
    if points.size != number * size or int(np.prod(shape)) != size:
        raise ShapeError(f"expected {number} samples of {size} entries and their shape, got {points.shape}, {shape}")
    if names is not None and len(names) != number:
        raise ShapeError(f"expected one name per sample, got {len(names)} for {number}")
    if not number:
        axes = canvas(None, (4.0, 2.0))
        axes.set_axis_off()
        say(axes, "there are no samples")
        return axes.figure  # pyright: ignore[reportReturnType]
    figure = new_figure((5.4, 1.95 * number + 0.3))
    grid = figure.subplots(number, 3, squeeze=False)
    shown = images_of(points.reshape(number, size), shape)
    for row in range(number):
        grid[row, 0].imshow(shown[row], cmap="gray", vmin=0.0, vmax=1.0, interpolation="none")
        for axes, values in zip(grid[row, 1:], (found.gradients[row], found.contributions[row]), strict=True):
            image = _summed(values, shape)
            end = float(np.abs(image).max()) or 1.0
            axes.imshow(image, cmap=SIGNED, norm=Normalize(-end, end), interpolation="none")
            axes.set_ylabel(f"to ±{end:.2g}", fontsize=8, color=INK)
        value, constant, share = found.values[row], found.constants[row], found.constant_share(row)
        total = f"{value:.3g} = {value - constant:.3g} {'-' if constant < 0 else '+'} {abs(constant):.3g}"
        grid[row, 1].set_xlabel(f"output {found.outputs[row]}: {total}", fontsize=8.5, color=INK)
        grid[row, 2].set_xlabel(f"constant: {100 * share.value:.0f} % of all", fontsize=8.5, color=INK)
        grid[row, 0].set_ylabel(shortened(names[row], 18) if names is not None else f"{row}", fontsize=9, color=INK)
    for axes, title in zip(grid[0], ("sample", "gradient", "gradient x input"), strict=True):
        axes.set_title(title, fontsize=9.5, color=INK)
    for axes in grid.ravel():
        frame_image(axes)
    return figure


def _summed(values: Float[np.ndarray, " n"], shape: Sequence[int]) -> Float[np.ndarray, "h w"]:
    """Return an image of one channel: inputs of one place together."""
    return values.reshape(-1, *shape[-2:]).sum(axis=0)
