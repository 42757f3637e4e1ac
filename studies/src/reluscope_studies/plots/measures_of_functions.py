"""Several numbers of many functions, a row of dots each, all in one order."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Int, Num
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from reluscope.plots.style import INK, bare, canvas, category, legend_below

MARKS = ("o", "s", "D", "^", "v", "P", "X")


def sorted_measures(
    measures: Mapping[str, Num[np.ndarray, " k"]],
    *,
    order: Int[np.ndarray, " k"],
    groups: Int[np.ndarray, " k"],
    names: Sequence[str],
    noun: str = "functions",
) -> Figure:
    """Draw one panel per measure, one dot per function.

    Parameters
    ----------
    measures : mapping of names to (k,) numbers
    order : (k,) int
        Positions of the functions from left to right.
    groups : (k,) int
        Which of the names a function has; it decides on colour and mark.
    names : sequence of str
    noun : str
        What the horizontal axis counts.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> figure = sorted_measures({"degree": np.array([2, 1])}, order=np.array([1, 0]), groups=np.array([0, 0]),
    ...                          names=["all"])
    >>> figure.axes[0].lines[0].get_ydata().tolist()
    [1, 2]
    """
    number = max(1, len(measures))
    figure = Figure(figsize=(7.6, 0.7 + 1.05 * number), layout="constrained")
    FigureCanvasAgg(figure)
    panels = np.atleast_1d(figure.subplots(number, 1, sharex=True))
    present = [group for group in range(len(names)) if (groups == group).any()]
    for axes, (name, values) in zip(panels, measures.items(), strict=False):
        canvas(axes, (7.6, 1.05))
        for group in present:
            places = np.flatnonzero(groups[order] == group)
            axes.plot(places, values[order][places], linestyle="none", **_look(group))
        axes.set_ylabel(name, rotation=0, ha="right", va="center")
        axes.margins(x=0.012, y=0.12)
        axes.yaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 5, 10]))
        axes.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
        bare(axes, "top", "right")
    panels[-1].set_xlabel(noun)
    legend_below(figure, [Line2D([], [], linestyle="none", label=names[group], **_look(group)) for group in present])
    return figure


def _look(group: int) -> dict[str, Any]:
    return {"marker": MARKS[group % len(MARKS)], "markersize": 3.4, "color": category(group), "markeredgewidth": 0.0}
