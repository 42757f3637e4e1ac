"""Errors of networks over their numbers of regions, one panel per kind of error."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

import reluscope as rs
from reluscope.plots.style import INK, bare, canvas, legend_below, number_logarithmically, say, scale_beside

# Room above the largest error, so that its mark does not touch the frame.
ABOVE = 1.08


def errors_and_counts(
    counts: Sequence[rs.Finding],
    errors: Mapping[str, Sequence[float]],
    values: Sequence[float],
    *,
    label: str,
) -> Figure:
    """Draw one mark per network at its number of regions and its error.

    Parameters
    ----------
    counts : sequence of Finding
        Numbers of regions, positive.
    errors : mapping of names to numbers
        Not negative; one panel each.
    values : sequence of numbers
        What the colours mean, one per network.
    label : str
        What they are called.

    Returns
    -------
    matplotlib.figure.Figure
        Hollow marks are LOWER bounds of the number of regions.
    """
    figure = Figure(figsize=(3.5 * max(1, len(errors)) + 0.6, 3.2), layout="constrained")
    FigureCanvasAgg(figure)
    panels = np.atleast_1d(figure.subplots(1, max(1, len(errors)), squeeze=True))
    numbers = np.array([float(int(count)) for count in counts])
    is_lower = np.array([count.claim is rs.Claim.LOWER for count in counts], dtype=bool)
    span = (float(min(values)), float(max(values))) if len(values) else (0.0, 1.0)
    # The darkest and the lightest colours would vanish on dark and light pages.
    shades = ListedColormap(colormaps["viridis"](np.linspace(0.14, 0.9, 256)))
    norm = Normalize(*span)  # of one value alone all marks are dark, and there is no scale beside them
    colors = shades(norm(np.asarray(values, dtype=float)))
    for axes, (name, heights) in zip(panels, errors.items(), strict=False):
        canvas(axes, (3.5, 3.2))
        if not len(counts):
            say(axes, "no numbers yet")
            continue
        y = np.asarray(heights, dtype=float)
        axes.scatter(numbers[~is_lower], y[~is_lower], s=26, c=colors[~is_lower], linewidths=0, alpha=0.9)
        axes.scatter(
            numbers[is_lower], y[is_lower], s=26, facecolors="none", edgecolors=colors[is_lower], linewidths=1.1
        )
        number_logarithmically(axes, numbers.max() / numbers.min())
        axes.tick_params(axis="x", which="minor", colors=INK, length=1.8, width=0.6)
        axes.set_ylim(0, ABOVE * float(y.max()) or 1)
        axes.set_xlabel("regions")
        axes.set_ylabel(name)
        axes.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
        bare(axes, "top", "right")
    if len(counts) and errors:
        if span[0] < span[1]:
            scale_beside(panels[-1], norm, shades, label)
            if all(float(value).is_integer() for value in values):
                panels[-1].child_axes[-1].yaxis.set_major_locator(MaxNLocator(integer=True))
        if is_lower.any():
            hollow = Line2D([], [], color=INK, marker="o", markersize=5, linestyle="none", markerfacecolor="none")
            hollow.set_label("lower bound")
            legend_below(figure, [hollow])
    return figure
