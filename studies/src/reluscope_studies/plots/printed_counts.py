"""Counts beside those that a paper prints: rows of dots."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Num
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import reluscope as rs
from reluscope.plots.style import DARK, INK, bare, canvas, category, figure_of, legend_below

MARKS = ("o", "s", "^", "v")


def counts_beside(
    printed: Num[np.ndarray, " k"],
    found: Mapping[str, Num[np.ndarray, " k"]],
    *,
    rows: Sequence[str],
    label: str,
) -> Figure:
    """Draw a row of dots for every count: a bar at the printed number, marks at others.

    Parameters
    ----------
    printed : (k,) numbers
    found : mapping of names to (k,) numbers
    rows : sequence of k str
        What is counted, from the top.
    label : str
        What the numbers are.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ShapeError
        If there are not as many numbers as rows.

    Examples
    --------
    >>> figure = counts_beside(np.array([3, 4]), {"here": np.array([2, 5])}, rows=["a", "b"], label="networks")
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['a', 'b']
    """
    if any(len(values) != len(rows) for values in (printed, *found.values())):
        raise rs.errors.ShapeError(f"expected {len(rows)} numbers, one for every row, got others")
    axes = canvas(None, (6.8, 1.3 + 0.27 * len(rows)))
    places = np.arange(len(rows))
    axes.plot(printed, places, linestyle="none", marker="|", markersize=13, markeredgewidth=2.4, color=DARK)
    for index, values in enumerate(found.values()):
        axes.plot(values, places, linestyle="none", clip_on=False, zorder=3, **_look(index))
    axes.set_yticks(places, rows)
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel(label)
    axes.grid(axis="y", color=INK, alpha=0.15, linewidth=0.6)
    bare(axes, "top", "right", "left")
    axes.tick_params(axis="y", length=0)
    bar = Line2D([], [], linestyle="none", marker="|", markersize=11, markeredgewidth=2.4, color=DARK, label="printed")
    figure = figure_of(axes)
    marks = [Line2D([], [], linestyle="none", label=name, **_look(index)) for index, name in enumerate(found)]
    legend_below(figure, [bar, *marks])
    return figure


def _look(index: int) -> dict[str, Any]:
    return {"marker": MARKS[index % 4], "markersize": 5.5, "color": category(index), "markeredgewidth": 0.0}
