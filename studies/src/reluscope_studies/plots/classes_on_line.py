"""Functions of one input over intervals of two classes, which they tell apart by their sign."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float, Int
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from reluscope.plots.style import CATEGORIES, INK, canvas, legend_below, tint

PANEL, COLUMNS = (2.9, 1.9), 3
CLASSES = (CATEGORIES[1], CATEGORIES[0])
NAMES = ("negative class", "positive class")


def classes_on_line(
    functions: Mapping[str, Float[np.ndarray, "v 2"] | None],
    intervals: Float[np.ndarray, "s 2"],
    classes: Int[np.ndarray, " s"],
) -> Figure:
    """Draw intervals of two classes on a line, with piecewise affine functions over them.

    Parameters
    ----------
    functions : mapping of titles to (v, 2) float64, or None
        Points (x, y) where a function begins, bends and ends; None for the intervals alone.
    intervals : (s, 2) float64
        From and to, in order.
    classes : (s,) int64
        0 or 1.

    Returns
    -------
    matplotlib.figure.Figure
        A panel for each function, with limits of its own.

    Examples
    --------
    >>> line = np.array([[0.0, -1.0], [1.0, 1.0]])
    >>> figure = classes_on_line({"one": line}, np.array([[0.0, 0.4], [0.6, 1.0]]), np.array([0, 1]))
    >>> figure.axes[0].get_title()
    'one'
    """
    columns = min(COLUMNS, max(1, len(functions)))
    rows = -(-len(functions) // columns)
    figure = Figure(figsize=(PANEL[0] * columns, PANEL[1] * max(rows, 1) + 0.5), layout="constrained")
    FigureCanvasAgg(figure)
    if not functions:
        return figure
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, (title, function) in zip(panels, functions.items(), strict=False):
        canvas(axes, (0.0, 0.0))
        for (start, end), label in zip(intervals, classes, strict=True):
            # Fainter above or below the line, on the side where the function is to be.
            axes.axvspan(start, end, *((0.5, 1.0) if label else (0.0, 0.5)), color=tint(CLASSES[label], 0.25), lw=0)
            axes.plot([start, end], [0.0, 0.0], color=CLASSES[label], linewidth=4.0, solid_capstyle="butt")
        axes.axhline(0.0, color=INK, linewidth=0.7, zorder=0)
        reach = 1.0
        if function is not None:
            axes.plot(*function.T, color=INK, linewidth=1.2, marker="o", markersize=2.5)
            reach = float(np.abs(function[:, 1]).max()) or 1.0
        axes.set_ylim(-1.15 * reach, 1.15 * reach)
        axes.set_title(title, fontsize=9.5, color=INK)
    for axes in panels[len(functions) :]:
        axes.set_axis_off()
    handles = [Patch(color=color, label=name) for color, name in zip(CLASSES, NAMES, strict=True)]
    legend_below(figure, [*handles, Line2D([], [], color=INK, linewidth=1.2, label="output of the network")])
    return figure
