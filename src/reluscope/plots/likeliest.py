"""Where each class is likeliest in a region, as images: a row for each region, a column for each class.

Reference: Zhang and Wu, "Empirical studies on the properties of linear regions in deep neural networks", 2020, Figures
5 and 11.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from reluscope.errors import InputError
from reluscope.plots.images import images_of
from reluscope.plots.shapes import say
from reluscope.plots.style import INK, LIGHT, canvas, legend_below, shortened

OWN, OTHER = "#009E73", "#D55E00"
SIDE = 0.78
MOST_ROWS, MOST_COLUMNS = 12, 20


def likeliest(
    points: Float[np.ndarray, "r c n"],
    classes: Int[np.ndarray, "r c"],
    own: Int[np.ndarray, " r"],
    *,
    x: Float[np.ndarray, "r n"] | None = None,
    shape: Sequence[int],
    rows: Sequence[str],
    columns: Sequence[str] | None = None,
) -> Figure:
    """Draw the likeliest point of every class in some regions, and whether it has the class of the region's point.

    Parameters
    ----------
    points : (r, c, n) float64
        Of every region the likeliest point of every class; NaN where there is none.
    classes : (r, c) int
        The class that each of these points belongs to.
    own : (r,) int
        The class of the point whose region it is.
    x : (r, n) float64, optional
        The points whose regions these are, drawn first.
    shape : sequence of int
        Of an image; see `images.is_image`.
    rows : sequence of str
        What regions are called, for instance by network.
    columns : sequence of str, optional
        What classes are called; by default 0, 1, 2, and so on.

    Returns
    -------
    matplotlib.figure.Figure
        Green frames have the class of the region's point; red ones, with a cross in their corner, another class, whose
        name stands below where it is not that of the column. One grey scale for all.

    Raises
    ------
    InputError
        If there are too many, or they are no images.

    Examples
    --------
    >>> points = np.zeros((1, 2, 4))
    >>> figure = likeliest(points, np.array([[0, 1]]), np.array([0]), shape=(2, 2), rows=["a"])
    >>> [axes.spines["top"].get_edgecolor() == figure.axes[0].spines["top"].get_edgecolor() for axes in figure.axes]
    [True, False]
    """
    number, width = points.shape[:2]
    if number > MOST_ROWS or width > MOST_COLUMNS:
        raise InputError(
            f"at most {MOST_ROWS} regions with {MOST_COLUMNS} classes can be looked at together, got {number:,} with "
            f"{width:,}: choose some"
        )
    names = [str(label) for label in range(width)] if columns is None else list(columns)
    figure = Figure(
        figsize=(SIDE * max(4, width + (x is not None)) + 1.3, (SIDE + 0.12) * max(1, number) + 0.7),
        layout="constrained",
    )
    FigureCanvasAgg(figure)
    if not number or not width:
        axes = canvas(figure.add_subplot(), (0.0, 0.0))
        axes.set_axis_off()
        say(axes, "there are no regions")
        return figure
    before = 0 if x is None else 1
    if x is not None:
        points = np.concatenate([x[:, None], points], axis=1)
        classes = np.concatenate([own[:, None], classes], axis=1)
        names = ["the point", *names]
    pixels = images_of(points.reshape(number * (width + before), -1), shape)
    pixels = pixels.reshape(number, width + before, *pixels.shape[1:])
    grid = figure.subplots(number, width + before, squeeze=False)
    for axes, name in zip(grid[0], names, strict=True):
        axes.set_title(shortened(name, 12), fontsize=8.5, color=INK)
    for line, name in zip(grid, rows, strict=True):
        label = line[0].set_ylabel(shortened(name, 20), fontsize=8.5, color=INK, rotation=0)
        label.set_ha("right")
        label.set_va("center")
    kinds = set()
    for (row, column), axes in np.ndenumerate(grid):
        axes.set_xticks([])
        axes.set_yticks([])
        if not np.isfinite(pixels[row, column]).all():
            for side in axes.spines.values():
                side.set_visible(False)
            say(axes, "–")
            continue
        axes.imshow(pixels[row, column], cmap="gray", vmin=0.0, vmax=1.0, interpolation="nearest")
        label = int(classes[row, column])
        kinds.add(_frame(axes, label == int(own[row])))
        if label not in (int(own[row]), column - before):
            axes.set_xlabel(shortened(names[label + before], 12), fontsize=8, color=OTHER, labelpad=1.5)
    legend_below(figure, _handles(kinds))
    return figure


def _frame(axes: Axes, is_own: bool) -> bool:
    for side in axes.spines.values():
        side.set_color(OWN if is_own else OTHER)
        side.set_linewidth(2.2)
    if not is_own:  # told without colour, too
        axes.plot(0.87, 0.87, "X", transform=axes.transAxes, color=OTHER, markersize=8, markeredgecolor=LIGHT, zorder=5)
    return is_own


def _handles(kinds: set[bool]) -> list[Artist]:
    own = Patch(facecolor="none", edgecolor=OWN, linewidth=2.2, label="has the class of the region's point")
    other = Line2D(
        [],
        [],
        marker="X",
        linestyle="",
        color=OTHER,
        markersize=8,
        label="has another class: that of the column, or the one below",
    )
    return [handle for kind, handle in ((True, own), (False, other)) if kind in kinds]
