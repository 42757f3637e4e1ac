"""Local affine maps as pictures: one coefficient per input, in the shape of the input where it is an image."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from jaxtyping import Float
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure

from reluscope.arguments import Positive, read_drawn
from reluscope.errors import InputError, ShapeError
from reluscope.networks.graph.affine_maps import AffineMaps
from reluscope.plots.drawing.without_axes import frame_image
from reluscope.plots.figures import new_figure
from reluscope.plots.style import INK, RASTER_ABOVE, SIGNED, bare, canvas, say, shortened

MAX_PANELS = 12
MAX_NAMED = 12


@read_drawn
def coefficients(
    maps: AffineMaps | Float[Any, "..."],
    *,
    shape: Sequence[int] | None = None,
    channels: Literal["norm", "each"] = "norm",
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    inputs: Sequence[str] | None = None,
    limit: Positive | None = None,
) -> Figure:
    """Draw the weights of local affine maps, one row per map and one column per output.

    Parameters
    ----------
    maps : AffineMaps, or (s, m, n), (m, n) or (n,) array
        ``net.linearize(x)``, or weights alone; at most 12 maps and 12 outputs.
    shape : sequence of int, optional
        The input shape. ``(h, w)`` and ``(1, h, w)`` give an image per map and output, ``(c, h, w)`` images
        according to ``channels``; any other shape, and none, gives bars over the n inputs.
    channels : str
        With several channels, ``"norm"`` draws the Euclidean norm over channels at every pixel, which has no sign;
        ``"each"`` draws one signed image per channel, in separate rows.
    rows, columns : sequence of str, optional
        Names of maps and outputs; by default their numbers.
    inputs : sequence of str, optional
        Names of the inputs, for bars.
    limit : float, optional
        Value at the end of the scale, to compare figures; by default the largest one. Colours and bars are cut off
        beyond it, and the scale shows this.

    Returns
    -------
    matplotlib.figure.Figure
        One scale for all, symmetric about zero: blue is negative, white zero, orange positive.

    Raises
    ------
    ShapeError
        If the weights do not have such a shape, or names do not match.
    InputError
        If there are too many maps or outputs to be legible.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(4), np.zeros(4)), (np.ones((2, 4)), np.zeros(2))])
    >>> figure = rs.plots.coefficients(net.linearize([[1.0, -1.0, 2.0, 3.0]]), shape=(2, 2))
    >>> [axes.get_title() for axes in figure.axes[:2]]
    ['output 0', 'output 1']
    """
    weight = _weights(maps)
    num_maps, num_outputs, num_inputs = weight.shape
    if num_maps > MAX_PANELS or num_outputs > MAX_PANELS:
        raise InputError(
            f"at most {MAX_PANELS} maps and {MAX_PANELS} outputs can be drawn side by side, got {num_maps:,} maps of "
            f"{num_outputs:,} outputs: choose some, as in net.linearize(x[:5], outputs=[0, 1])"
        )
    if shape is not None and (int(np.prod(shape)) != num_inputs or min(shape, default=1) < 1):
        raise ShapeError(f"shape must have {num_inputs} entries in all, as the maps have inputs, got {tuple(shape)}")
    if channels not in ("norm", "each"):
        raise InputError(f'channels must be "norm" or "each", got {channels!r}')
    row_names = _names(rows, num_maps, "map")
    column_names = _names(columns, num_outputs, "output")
    if not weight.size:
        axes = canvas(None, (4.0, 2.0))
        axes.set_axis_off()
        say(axes, "there are no coefficients")
        return axes.figure  # pyright: ignore[reportReturnType]
    size = _image(shape)
    if size is None:
        return _bars(weight, row_names, column_names, _names(inputs, num_inputs, "input"), limit)
    images = weight.reshape(num_maps, num_outputs, *size)
    if size[0] == 1:
        return _images(images[:, :, 0], row_names, column_names, limit, "coefficient")
    if channels == "norm":
        norms = np.linalg.norm(images, axis=2)
        return _images(norms, row_names, column_names, limit, f"norm over {size[0]} channels", is_signed=False)
    pictures = np.swapaxes(images, 1, 2).reshape(-1, num_outputs, *size[1:])
    names = [f"{name}\nchannel {channel}" for name in row_names for channel in range(size[0])]
    return _images(pictures, names, column_names, limit, "coefficient")


def _weights(maps: Any) -> np.ndarray:
    given = maps.weight if isinstance(maps, AffineMaps) else maps
    weight = np.asarray(given.detach().cpu() if hasattr(given, "detach") else given, dtype=np.float64)
    if not 1 <= weight.ndim <= 3:
        raise ShapeError(f"weights must have shape (s, m, n), (m, n) or (n,), got {weight.shape}")
    return weight.reshape((1,) * (3 - weight.ndim) + weight.shape)


def _names(given: Sequence[str] | None, number: int, kind: str) -> list[str]:
    if given is None:
        return [f"{kind} {index}" for index in range(number)]
    if len(given) != number:
        raise ShapeError(f"expected {number} names, one per {kind}, got {len(given)}")
    return [shortened(str(name), 20) for name in given]


def _image(shape: Sequence[int] | None) -> tuple[int, int, int] | None:
    """Return channels, height and width, if a shape is that of an image of more than one row and column."""
    if shape is None or len(shape) not in (2, 3) or min(shape[-2:]) < 2:
        return None
    return (shape[0] if len(shape) == 3 else 1, shape[-2], shape[-1])


def _figure(width: float, height: float) -> Figure:
    return new_figure((width, height))


def _scale(values: np.ndarray, limit: float | None, *, is_signed: bool = True) -> tuple[Normalize, Colormap, str]:
    """Return the norm, its colours and which ends are cut off."""
    finite = np.abs(values[np.isfinite(values)])
    largest = float(finite.max()) if finite.size else 0.0
    end = limit if limit is not None else largest if largest > 0 else 1.0
    if not end > 0:
        raise InputError(f"limit must be a positive number, got {limit}")
    over, under = bool((values > end).any()), bool((values < -end).any())
    extend = {(True, True): "both", (True, False): "max", (False, True): "min", (False, False): "neither"}[over, under]
    if is_signed:
        return Normalize(-end, end), SIGNED, extend
    return Normalize(0.0, end), colormaps["cividis"], extend


def _images(
    pictures: np.ndarray,
    rows: list[str],
    columns: list[str],
    limit: float | None,
    label: str,
    *,
    is_signed: bool = True,
) -> Figure:
    norm, colors, extend = _scale(pictures, limit, is_signed=is_signed)
    number, across, height, width = pictures.shape
    side = 1.35 if max(number, across) > 4 else 1.9
    high = side * float(np.clip(height / width, 0.3, 3.0))
    figure = _figure(max(3.2, side * across + 1.5), max(1.8, high * number + 0.5))
    grid = figure.subplots(number, across, squeeze=False)
    for row in range(number):
        for column in range(across):
            axes = grid[row, column]
            axes.imshow(pictures[row, column], norm=norm, cmap=colors, interpolation="none")
            frame_image(axes)
            _name(axes, row, column, rows, columns)
    bar = figure.colorbar(ScalarMappable(norm, colors), ax=list(grid.ravel()), extend=extend, shrink=0.9, pad=0.02)
    bar.set_label(label, color=INK, fontsize=9.5)
    bar.ax.tick_params(colors=INK, labelsize=8.5, length=3)
    bar.outline.set_edgecolor(INK)  # pyright: ignore[reportCallIssue]
    return figure


def _bars(weight: np.ndarray, rows: list[str], columns: list[str], inputs: list[str], limit: float | None) -> Figure:
    norm, _, extend = _scale(weight, limit)
    number, across, num_inputs = weight.shape
    is_named = num_inputs <= MAX_NAMED
    wide = 2.6 if across > 2 else 4.2
    figure = _figure(max(3.6, wide * across + 0.9), max(2.2, 1.35 * number + 0.9))
    grid = figure.subplots(number, across, squeeze=False, sharex=True, sharey=True)
    at, end = np.arange(num_inputs), float(norm.vmax or 1.0)
    width = float(np.clip(0.75 * 72 * wide / (num_inputs + 1), 0.5, 14.0))
    for row in range(number):
        for column in range(across):
            axes, values = grid[row, column], weight[row, column]
            for chosen, color in ((values < 0, "#0072B2"), (values > 0, "#D55E00")):
                axes.vlines(
                    at[chosen], 0, values[chosen], colors=color, linewidths=width, rasterized=num_inputs > RASTER_ABOVE
                )
            axes.axhline(0.0, color=INK, linewidth=0.8)
            axes.set_xlim(-0.7, num_inputs - 0.3)
            axes.set_ylim(-1.08 * end, 1.08 * end)
            axes.tick_params(colors=INK, labelsize=8.5, length=3)
            bare(axes, "top", "right", "bottom")
            axes.spines["left"].set_color(INK)
            if is_named:
                tilt = any(len(name) > 40 // num_inputs for name in inputs)
                turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if tilt else {}
                axes.set_xticks(at, inputs, **turned)
            elif row == number - 1:
                axes.set_xlabel("input", color=INK, fontsize=9.5)
            _name(axes, row, column, rows, columns)
    if extend != "neither":
        figure.suptitle(f"bars beyond {end:.4g} are cut off", fontsize=9.5, color=INK)
    return figure


def _name(axes: Axes, row: int, column: int, rows: list[str], columns: list[str]) -> None:
    if row == 0:
        axes.set_title(columns[column], fontsize=9.5, color=INK)
    if column == 0:
        axes.set_ylabel(rows[row], fontsize=9.5, color=INK)
