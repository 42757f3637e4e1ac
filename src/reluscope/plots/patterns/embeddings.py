"""Embeddings of codes as a grid of scatter plots, classes by colour and mark.

Reference: Shepeleva, Zellinger, Lewandowski and Moser, "ReLU code space: a basis for rating network quality besides
accuracy", 2020, Figures 2 to 6: one row per epoch, one column per layer.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reluscope.arguments import read_drawn
from reluscope.errors import ShapeError
from reluscope.plots.drawing.without_axes import frame_image
from reluscope.plots.figures import new_figure
from reluscope.plots.style import INK, RASTER_ABOVE, category, legend_below, say, shortened

SIDE = 1.55
# Shapes tell classes apart where colours do not.
MARKS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")


@read_drawn
def embeddings(
    grid: Sequence[Sequence[Float[np.ndarray, "_ 2"] | None]],
    labels: Int[np.ndarray, " s"],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    names: Sequence[str] | None = None,
) -> Figure:
    """Draw embeddings of the same samples beside each other.

    Parameters
    ----------
    grid : sequence of sequences of (s, 2) arrays
        Rows of equal length; None leaves a panel empty.
    labels : (s,) int
        Classes of the samples.
    rows, columns : sequences of str
        Labels beside the rows and above the columns.
    names : sequence of str, optional
        Names of the classes, by number.

    Returns
    -------
    matplotlib.figure.Figure
        Both axes of a panel have one scale, which differs between panels: embeddings show which codes are near each
        other, and sizes of different layers are not comparable.

    Raises
    ------
    ShapeError
        If names or labels do not match the grid.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> figure = rs.plots.embeddings([[np.eye(2), None]], np.array([4, 9]), rows=["epoch 1"], columns=["fc0", "fc1"])
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['4', '9']
    """
    _check(grid, labels, rows, columns)
    width, height = SIDE * max(1, len(columns)) + 0.4, SIDE * max(1, len(rows)) + 0.6
    figure = new_figure((max(3.4, width), height))
    if not rows or not columns:
        return figure
    kinds = np.unique(labels)
    for index, line in enumerate(figure.subplots(len(rows), len(columns), squeeze=False)):
        for place, axes in enumerate(line):
            _frame(axes)
            _scatter(axes, grid[index][place], labels, kinds, many=len(labels) * len(rows) * len(columns))
            if index == 0:
                axes.set_title(shortened(columns[place], 24), fontsize=9.5, color=INK)
            if place == 0:
                axes.set_ylabel(shortened(rows[index], 24), fontsize=9.5, color=INK)
    handles: list[Artist] = [
        Line2D([], [], linestyle="none", marker=_mark(place), color=category(place), markersize=5, label=label)
        for place, label in enumerate(str(kind) if names is None else names[kind] for kind in kinds)
    ]
    legend_below(figure, handles, handlelength=1.0, handletextpad=0.3, columnspacing=1.1)
    return figure


def _check(
    grid: Sequence[Sequence[np.ndarray | None]], labels: np.ndarray, rows: Sequence[str], columns: Sequence[str]
) -> None:
    if len(grid) != len(rows) or any(len(line) != len(columns) for line in grid):
        raise ShapeError(
            f"expected a grid of {len(rows)} rows and {len(columns)} columns as the names say, got rows of "
            f"{[len(line) for line in grid]}"
        )
    for line in grid:
        for points in line:
            if points is not None and np.shape(points) != (len(labels), 2):
                raise ShapeError(f"expected embeddings of shape ({len(labels)}, 2), got {np.shape(points)}")


def _frame(axes: Axes) -> None:
    frame_image(axes, 0.5, 0.35)
    axes.set_aspect("equal", adjustable="datalim")


def _scatter(axes: Axes, points: np.ndarray | None, labels: np.ndarray, kinds: np.ndarray, *, many: int) -> None:
    if points is None or not len(points):
        say(axes, "nothing\nto draw")
        return
    size = float(np.clip(1500 / len(points), 2.0, 14.0))
    for place, kind in enumerate(kinds):
        own = points[labels == kind]
        axes.scatter(
            own[:, 0],
            own[:, 1],
            s=size,
            marker=_mark(place),
            color=category(place),
            alpha=0.75,
            linewidths=0,
            rasterized=many > RASTER_ABOVE,
        )


def _mark(index: int) -> str:
    return MARKS[index % len(MARKS)]
