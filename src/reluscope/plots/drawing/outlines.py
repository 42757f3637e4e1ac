"""Histograms of several groups as outlines on common bins, as shares, so that groups of different sizes compare."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from reluscope.plots.style import category, dashes, shortened

# Relative to the ends of the values: bins begin and end this far outside.
OUTSIDE = 1e-9


def outlines(
    axes: Axes,
    groups: Mapping[str, Float[np.ndarray, " _"]],
    edges: Float[np.ndarray, " b1"],
) -> list[Line2D]:
    """Draw the share of each group's values in every bin, with a mark on the axis at its median.

    Values must be within the edges; empty groups are not drawn. Returns one line for the legend per group, drawn or
    not.
    """
    handles = []
    for index, (name, values) in enumerate(groups.items()):
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
    """Return edges of bins around positive values, each as many times the one before.

    The bins are wide enough where all values are equal.
    """
    low, high = float(values.min()), float(values.max())
    if high < 1.05 * low:
        low, high = low / 1.1, high * 1.1
    return np.geomspace(low * (1 - OUTSIDE), high * (1 + OUTSIDE), bins + 1)
