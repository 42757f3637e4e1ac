"""Shares of networks that succeed, by width and depth, as heat maps with their numbers."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Float
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import reluscope as rs
from reluscope.plots.style import DARK, INK, LIGHT, bare, canvas


def success_grids(
    grids: Mapping[str, Float[np.ndarray, "w d"]],
    *,
    widths: Sequence[int],
    depths: Sequence[int],
    marked: Mapping[str, Bool[np.ndarray, "w d"]] | None = None,
) -> Figure:
    """Draw shares of successes, in per cent.

    Parameters
    ----------
    grids : mapping of names to (w, d) float64
        One panel per name; shares in [0, 1], NaN where there are none.
    widths, depths : sequence of int
        Units of every hidden layer, from the top, and hidden layers, from the left.
    marked : mapping of names to (w, d) bool, optional
        Sizes that get a white frame, in the panels of these names.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ShapeError
        If a grid is not of as many widths and depths.

    Examples
    --------
    >>> figure = success_grids({"ReLU": np.array([[0.25, 1.0]])}, widths=[2], depths=[1, 2])
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['25', '100']
    """
    shape = (len(widths), len(depths))
    for name, grid in grids.items():
        if grid.shape != shape:
            raise rs.errors.ShapeError(
                f"expected shares of shape {shape}, by width and depth, got {grid.shape} for {name!r}"
            )
    number = max(1, len(grids))
    side = (1.2 + 0.46 * max(len(depths), 3), 1.1 + 0.34 * max(len(widths), 2))
    figure = Figure(figsize=(side[0] * number, side[1]), layout="constrained")
    FigureCanvasAgg(figure)
    panels = np.atleast_1d(figure.subplots(1, number, sharey=True))
    for axes, (name, grid) in zip(panels, grids.items(), strict=False):
        _draw(canvas(axes, side), grid, (marked or {}).get(name, np.zeros(shape, dtype=bool)))
        axes.set_title(name)
        axes.set_xlabel("hidden layers")
        axes.set_xticks(range(len(depths)), [str(depth) for depth in depths])
        axes.set_yticks(range(len(widths)), [str(width) for width in widths])
    panels[0].set_ylabel("units of a layer")
    return figure


def _draw(axes: Axes, grid: Float[np.ndarray, "w d"], marked: Bool[np.ndarray, "w d"]) -> None:
    norm, colors = Normalize(0.0, 1.0), colormaps["cividis"]
    axes.imshow(np.ma.masked_invalid(grid), cmap=colors, norm=norm, interpolation="none", aspect="auto")
    for row, column in np.ndindex(grid.shape):
        value = float(grid[row, column])
        shade = INK if not np.isfinite(value) else DARK if value > 0.55 else LIGHT
        axes.text(column, row, say_share(value), ha="center", va="center", color=shade, fontsize=8)
        if marked[row, column]:
            frame = Rectangle((column - 0.44, row - 0.42), 0.88, 0.84, fill=False, edgecolor=LIGHT, linewidth=1.6)
            axes.add_patch(frame)
    axes.tick_params(length=0)
    bare(axes, "top", "right", "left", "bottom")


def say_share(share: float) -> str:
    """Return a share in per cent; what is neither none nor all is not rounded to it."""
    if not np.isfinite(share):
        return "–"
    percent = 100 * share
    if 0 < percent < 1:
        return "<1"
    return ">99" if 99 < percent < 100 else f"{percent:.0f}"
