"""Counts beside those that a paper prints: rows of dots."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Num
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import reluscope as rs
from reluscope.plots.style import INK, bare, canvas, category, legend_below
from reluscope_studies.plots.paper import draw_printed, printed_bar

MARKS = ("o", "s", "^", "v")


def counts_beside(
    printed: Num[np.ndarray, " k"],
    found: Mapping[str, Num[np.ndarray, " k"]],
    *,
    rows: Sequence[str],
    label: str,
    intervals: Mapping[str, Sequence[tuple[float, float]]] | None = None,
) -> Figure:
    """Draw a row of dots for every count: a bar at the paper's number, marks at others.

    Parameters
    ----------
    printed : (k,) numbers
    found : mapping of names to (k,) numbers
    rows : sequence of k str
        What is counted, from the top.
    label : str
        What the numbers are.
    intervals : mapping of names to k pairs, optional
        Drawn as lines through the marks.

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
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()], float(figure.axes[0].get_xlim()[0])
    (['a', 'b'], 0.0)
    >>> figure = counts_beside(np.array([3, 4]), {"here": np.array([-2, 5])}, rows=["a", "b"], label="points")
    >>> bool(figure.axes[0].get_xlim()[0] < -2)
    True
    """
    figure = Figure(figsize=(6.8, 1.3 + 0.27 * len(rows)), layout="constrained")
    FigureCanvasAgg(figure)
    _draw(figure.add_subplot(), printed, found, rows, label, intervals or {})
    _legend(figure, [*found])
    return figure


def panels_beside(
    panels: Mapping[str, tuple[Num[np.ndarray, " k"], Mapping[str, Num[np.ndarray, " k"]]]], *, rows: Sequence[str]
) -> Figure:
    """Draw numbers of several kinds, a panel each with a scale of its own, in the same rows.

    Examples
    --------
    >>> panels = {"accuracy": (np.array([97.0, 98.0]), {"here": np.array([96.5, np.nan])})}
    >>> figure = panels_beside(panels, rows=["plain", "dropout"])
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['paper', 'here']
    """
    figure = Figure(figsize=(1.6 + 2.4 * len(panels), 1.3 + 0.27 * len(rows)), layout="constrained")
    FigureCanvasAgg(figure)
    grid = np.atleast_1d(figure.subplots(1, len(panels), sharey=True))
    for axes, (label, (printed, found)) in zip(grid, panels.items(), strict=True):
        _draw(axes, printed, found, rows, label, {}, from_zero=False)
    _legend(figure, list(dict.fromkeys(name for _, found in panels.values() for name in found)))
    return figure


def _draw(
    axes: Axes,
    printed: Num[np.ndarray, " k"],
    found: Mapping[str, Num[np.ndarray, " k"]],
    rows: Sequence[str],
    label: str,
    intervals: Mapping[str, Sequence[tuple[float, float]]],
    *,
    from_zero: bool = True,
) -> None:
    if any(len(values) != len(rows) for values in (printed, *found.values())):
        raise rs.errors.ShapeError(f"expected {len(rows)} numbers, one for every row, got others")
    canvas(axes, (0.0, 0.0))
    places = np.arange(len(rows))
    draw_printed(axes, printed, places)
    for index, (name, values) in enumerate(found.items()):
        for place, interval in zip(places, intervals.get(name, ()), strict=False):
            axes.plot(interval, [place, place], color=category(index), linewidth=1.4, alpha=0.75)
        axes.plot(values, places, linestyle="none", clip_on=False, zorder=3, **_look(index))
    axes.set_yticks(places, rows)
    axes.set_ylim(max(1, len(rows)) - 0.5, -0.5)
    if from_zero and not any((values < 0).any() for values in (printed, *found.values())):
        axes.set_xlim(left=0)
    axes.set_xlabel(label)
    axes.grid(axis="y", color=INK, alpha=0.15, linewidth=0.6)
    bare(axes, "top", "right", "left")
    axes.tick_params(axis="y", length=0)


def _legend(figure: Figure, names: Sequence[str]) -> None:
    marks = [Line2D([], [], linestyle="none", label=name, **_look(index)) for index, name in enumerate(names)]
    legend_below(figure, [printed_bar(), *marks])


def _look(index: int) -> dict[str, Any]:
    return {"marker": MARKS[index % 4], "markersize": 5.5, "color": category(index), "markeredgewidth": 0.0}
