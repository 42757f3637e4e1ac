"""Mean and largest absolute cosines between n random directions in n dimensions."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from reluscope.plots.style import INK, bare, canvas, category, dashes, figure_of, legend
from reluscope_studies import annulus


def cosines(
    found: Mapping[int, annulus.Orthogonality],
    *,
    expected: Mapping[int, float] | None = None,
    axes: Axes | None = None,
) -> Figure:
    """Draw averages of means and of largest values, with their intervals.

    Parameters
    ----------
    found : mapping of dimensions to Orthogonality
    expected : mapping of dimensions to numbers, optional
        What the mean tends to.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import reluscope as rs
    >>> figure = cosines({dim: annulus.random_orthogonality(dim) for dim in (2, 3, 4)})
    >>> len(figure.axes[0].lines)
    2
    """
    axes = canvas(axes, (5.2, 3.6))
    dims, handles = [*found], []
    for index, (name, which) in enumerate((("largest", "largest"), ("mean", "mean"))):
        findings = [getattr(one, which) for one in found.values()]
        values = [one.value for one in findings]
        color, dash = category(index), dashes(index)
        axes.plot(dims, values, color=color, linestyle=dash, marker="os"[index], markersize=4.5)
        bounds = np.array([one.interval or (one.value, one.value) for one in findings]).reshape(-1, 2)
        axes.fill_between(dims, bounds[:, 0], bounds[:, 1], color=color, alpha=0.2, linewidth=0)
        handles.append(Line2D([], [], color=color, linestyle=dash, marker="os"[index], markersize=4.5, label=name))
    if expected:
        axes.scatter([*expected], [*expected.values()], marker="x", s=30, color=INK, linewidths=1.0, zorder=3)
        handles.append(Line2D([], [], color=INK, marker="x", linestyle="none", label="expected mean"))
    axes.set_xlabel("number of dimensions and of directions")
    axes.set_ylabel("absolute cosine")
    axes.set_ylim(0, 1)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    bare(axes, "top", "right")
    legend(axes, handles)
    return figure_of(axes)
