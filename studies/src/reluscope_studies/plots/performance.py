"""Rates at which networks learn functions, over measures of the functions."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Num
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reluscope.plots.style import INK, bare, canvas, category, dashes, legend_below

MARKS = ("o", "s", "D", "^")

# Performance and measures of some functions of one kind.
Kind = tuple[Num[np.ndarray, " k"], Mapping[str, Num[np.ndarray, " k"]]]


def performance_by_measure(kinds: Mapping[str, Kind], *, measures: Sequence[str], label: str) -> Figure:
    """Draw one panel per measure, one dot per function.

    Parameters
    ----------
    kinds : mapping of names to pairs
        Performance (k,), and measures (k,) by their names, of the functions of a kind.
    measures : sequence of str
    label : str
        What performance is.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> kinds = {"parity": (np.array([0.9]), {"degree": np.array([10])})}
    >>> len(performance_by_measure(kinds, measures=["degree"], label="right").axes[0].lines)
    1
    """
    figure, panels = _panels(kinds, measures, label, is_joined=False)
    for axes, measure in zip(panels, measures, strict=False):
        for index, (values, by_measure) in enumerate(kinds.values()):
            # The first kind may have few dots: it lies over the others.
            axes.plot(by_measure[measure], values, linestyle="none", alpha=0.75, zorder=3 - 0.1 * index, **_look(index))
    return figure


def performance_by_dimension(
    kinds: Mapping[str, Kind], *, measures: Sequence[str], dimensions: Sequence[int], label: str
) -> Figure:
    """Draw one panel per measure, and in it one line per kind of functions, with a dot per dimension.

    Parameters
    ----------
    kinds : mapping of names to pairs
        Performance (k,), and measures (k,) by their names, in the k dimensions.
    measures : sequence of str
    dimensions : sequence of int
        First and last stand beside the ends of the lines.
    label : str
        What performance is.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> kinds = {"parity": (np.array([1.0, 0.9]), {"degree": np.array([1.0, 1.0])})}
    >>> figure = performance_by_dimension(kinds, measures=["degree"], dimensions=[5, 6], label="solved")
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['5', '6']
    """
    figure, panels = _panels(kinds, measures, label, is_joined=True)
    for axes, measure in zip(panels, measures, strict=False):
        for index, (values, by_measure) in enumerate(kinds.values()):
            axes.plot(by_measure[measure], values, linestyle=dashes(index), linewidth=1.2, **_look(index))
            for end in {0, len(dimensions) - 1} if len(dimensions) else ():
                place = (by_measure[measure][end], values[end])
                settings = {"xytext": (5, 3), "textcoords": "offset points", "fontsize": 7.5, "color": INK}
                axes.annotate(str(dimensions[end]), place, **settings)
    return figure


def _panels(
    kinds: Mapping[str, Kind], measures: Sequence[str], label: str, *, is_joined: bool
) -> tuple[Figure, Sequence[Axes]]:
    number = max(1, len(measures))
    figure = Figure(figsize=(2.9 * number, 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    panels = np.atleast_1d(figure.subplots(1, number, sharey=True)).tolist()
    for axes, measure in zip(panels, measures, strict=False):
        canvas(axes, (2.9, 3.4))
        axes.set_xlabel(measure)
        axes.margins(0.1)
        axes.grid(color=INK, alpha=0.12, linewidth=0.6)
        bare(axes, "top", "right")
    panels[0].set_ylabel(label)
    handles = [
        Line2D([], [], label=name, linestyle=dashes(index) if is_joined else "none", **_look(index))
        for index, name in enumerate(kinds)
    ]
    legend_below(figure, handles)
    return figure, panels


def _look(index: int) -> dict[str, Any]:
    return {"marker": MARKS[index % 4], "markersize": 4.5, "color": category(index), "markeredgewidth": 0.0}
