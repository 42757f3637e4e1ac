"""Rows that satisfy the correlation condition of a lemma, over its constant."""

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reluscope.arguments import read_drawn
from reluscope.plots.style import INK, bare, canvas, category, dashes, figure_of, legend
from reluscope_studies.lemmas import CorrelationCounts


@read_drawn
def correlation_counts(found: CorrelationCounts, *, axes: Axes | None = None) -> Figure:
    """Draw the number of rows that satisfy the correlation condition of Lemma 9, over its constant.

    Parameters
    ----------
    found : CorrelationCounts
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        A dashed line marks all remaining rows, which the lemma requires, a thin one the constant that reaches them.
    """
    axes = canvas(axes, (6.4, 3.2))
    color = category(0)
    axes.plot(found.constants, found.counts, color=color, linewidth=1.6)
    axes.axhline(found.num_left, color=category(5), linewidth=1.2, linestyle=dashes(1))
    handles: list[Artist] = [
        Line2D([], [], color=color, linewidth=1.6, label="rows that meet the condition"),
        Line2D([], [], color=category(5), linewidth=1.2, linestyle=dashes(1), label=f"rows left: {found.num_left:,}"),
    ]
    if np.isfinite(found.all_from):
        axes.axvline(found.all_from, color=INK, linewidth=0.7)
        handles.append(Line2D([], [], color=INK, linewidth=0.7, label=f"all from c = {found.all_from:.3g}"))
    axes.set_ylim(bottom=0)
    axes.set_xlabel("constant c")
    axes.set_ylabel("rows")
    bare(axes, "top", "right")
    legend(axes, handles)
    return figure_of(axes)
