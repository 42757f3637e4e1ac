"""Histograms of several groups as outlines on common bins, as shares, so that groups of different sizes compare."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from reluscope.plots.style import category, dashes, shortened


def outlines(
    axes: Axes,
    groups: Mapping[str, Float[np.ndarray, " _"]],
    edges: Float[np.ndarray, " b1"],
    *,
    first: int = 0,
) -> list[Line2D]:
    """Draw the share of each group's values in every bin, with a mark on the axis at its median.

    Parameters
    ----------
    axes : matplotlib axes
    groups : mapping of names to values
        Within the edges; empty ones are not drawn.
    edges : (b1,) float64
    first : int
        Where in the order of colours and dashes to begin.

    Returns
    -------
    list of Line2D
        For the legend, one for each group, drawn or not.
    """
    handles = []
    for index, (name, values) in enumerate(groups.items(), start=first):
        color, style = category(index), dashes(index)
        handles.append(Line2D([], [], color=color, linewidth=1.8, linestyle=style, label=shortened(name, 40)))
        if not len(values):
            continue
        counts, _ = np.histogram(values, edges)
        axes.stairs(100 * counts / len(values), edges, color=color, linewidth=1.6, linestyle=style)
        axes.plot(np.median(values), 0.0, "^", color=color, markersize=6, clip_on=False, zorder=4)
    axes.set_ylim(bottom=0)
    return handles


def edges_of_equal_ratio(values: Float[np.ndarray, " _"], bins: int) -> Float[np.ndarray, " b1"]:
    """Return edges of bins around positive values, each as many times the one before; wide enough for equal values.

    Examples
    --------
    >>> edges_of_equal_ratio(np.array([1.0, 100.0]), 2).round(3)
    array([  1.,  10., 100.])
    """
    low, high = float(values.min()), float(values.max())
    if high < 1.05 * low:
        low, high = low / 1.1, high * 1.1
    return np.geomspace(low * (1 - 1e-9), high * (1 + 1e-9), bins + 1)
