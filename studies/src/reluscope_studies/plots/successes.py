"""Shares of networks that reach given accuracies, by dimension."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from reluscope.plots.style import INK, bare, canvas, category, dashes, legend_below

MARKS = ("o", "s", "D", "^")


def successes(
    accuracies: Mapping[str, Mapping[int, Float[np.ndarray, " k"]]], *, thresholds: Sequence[float]
) -> Figure:
    """Draw the share of networks whose accuracy is at least a threshold.

    Parameters
    ----------
    accuracies : mapping of names to mappings of dimensions to (k,) arrays
        One panel per name; the accuracies of k networks in every dimension.
    thresholds : sequence of float
        One line each.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> figure = successes({"ReLU": {2: np.array([0.9, 1.0]), 3: np.array([1.0, 1.0])}}, thresholds=[0.95])
    >>> figure.axes[0].lines[0].get_ydata().tolist()
    [0.5, 1.0]
    """
    number = max(1, len(accuracies))
    figure = Figure(figsize=(4.2 * number, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    panels = np.atleast_1d(figure.subplots(1, number, sharey=True))
    for axes, (name, by_dimension) in zip(panels, accuracies.items(), strict=False):
        canvas(axes, (4.2, 3.6))
        for index, threshold in enumerate(thresholds):
            shares = [float((found >= threshold).mean()) for found in by_dimension.values()]
            look = {"color": category(index), "linestyle": dashes(index), "marker": MARKS[index % 4], "markersize": 4.5}
            axes.plot([*by_dimension], shares, **look)
        axes.set_title(name)
        axes.set_xlabel("dimension")
        axes.set_ylim(-0.03, 1.03)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
        bare(axes, "top", "right")
    panels[0].set_ylabel("share of networks")
    handles = [
        Line2D([], [], color=category(index), linestyle=dashes(index), marker=MARKS[index % 4], markersize=4.5)
        for index in range(len(thresholds))
    ]
    for handle, threshold in zip(handles, thresholds, strict=True):
        handle.set_label(f"at least {100 * threshold:g} % right")
    legend_below(figure, handles)
    return figure
