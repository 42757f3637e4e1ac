"""Functions of two inputs on a grid, above the slopes that they have there; they need not be continuous."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reluscope.plots.style import CATEGORIES, DARK, INK, SIGNED, canvas, legend_below

COLUMN = 2.7


@dataclass(frozen=True, eq=False)
class OnGrid:
    """A function of two inputs on a square grid.

    Parameters
    ----------
    values : (p, p) float64
        The first row is the lowest.
    slopes : (p * p, 2) float64
        Along both inputs.
    marked : (k, 2) float64
        Slopes at some points of interest.
    """

    values: Float[np.ndarray, "p p"]
    slopes: Float[np.ndarray, "s 2"]
    marked: Float[np.ndarray, "k 2"]


def functions_on_plane(
    functions: Mapping[str, OnGrid], *, reach: float, marked: str = "at the marked points"
) -> Figure:
    """Draw functions over the square from -reach to reach with the lines where they are zero; below, their slopes.

    Parameters
    ----------
    functions : mapping of titles to OnGrid
    reach : float
    marked : str
        What the marked slopes are called.

    Returns
    -------
    matplotlib.figure.Figure
        One scale of colours, and one of slopes, for all.

    Examples
    --------
    >>> line = np.linspace(-1, 1, 5)
    >>> one = OnGrid(np.add.outer(line, line), np.ones((25, 2)), np.ones((1, 2)))
    >>> [axes.get_xlabel() for axes in functions_on_plane({"sum": one}, reach=1.0).axes][:2]
    ['input 0', 'slope along input 0']
    """
    figure = Figure(figsize=(COLUMN * max(1, len(functions)) + 0.6, 2 * COLUMN + 0.7), layout="constrained")
    FigureCanvasAgg(figure)
    if not functions:
        return figure
    grid = figure.subplots(2, len(functions), squeeze=False)
    largest = max(float(np.abs(one.values).max()) for one in functions.values()) or 1.0
    steepest = 1.1 * (max(float(np.abs(one.slopes).max()) for one in functions.values()) or 1.0)
    norm, extent = Normalize(-largest, largest), (-reach, reach, -reach, reach)
    for column, (title, one) in enumerate(functions.items()):
        above, below = (canvas(axes, (0.0, 0.0)) for axes in grid[:, column])
        above.imshow(one.values, origin="lower", extent=extent, cmap=SIGNED, norm=norm, interpolation="none")
        if one.values.min() < 0 < one.values.max():
            above.contour(one.values, [0.0], extent=extent, colors=DARK, linewidths=1.4)
        above.set_title(title, fontsize=9.5, color=INK)
        above.set_xticks([-reach, 0.0, reach])
        above.set_yticks([-reach, 0.0, reach])
        above.set_xlabel("input 0")
        below.scatter(*one.slopes.T, s=9, c=CATEGORIES[0], linewidths=0, alpha=0.5, rasterized=True)
        below.scatter(*one.marked.T, s=42, c=CATEGORIES[1], edgecolors=DARK, linewidths=0.7, marker="D", zorder=3)
        below.set_xlim(-steepest, steepest)
        below.set_ylim(-steepest, steepest)
        below.set_aspect("equal")
        below.set_xlabel("slope along input 0")
        for axes, label in ((above, "input 1"), (below, "slope along input 1")):
            axes.set_ylabel("" if column else label)
    scale = figure.colorbar(ScalarMappable(norm, SIGNED), ax=list(grid[0]), fraction=0.04)
    scale.set_label("output", color=INK, fontsize=9.5)
    scale.ax.tick_params(colors=INK, labelsize=8.5)
    handles = [
        Line2D([], [], color=DARK, linewidth=1.4, label="where the output is 0"),
        Line2D([], [], color=CATEGORIES[0], marker="o", linestyle="", markersize=4, label="at a point of the grid"),
        Line2D([], [], color=CATEGORIES[1], marker="D", linestyle="", markeredgecolor=DARK, label=marked),
    ]
    legend_below(figure, handles)
    return figure
