"""Histograms of the norms of local affine maps over samples."""

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reluscope.analyses.coefficients.jacobian_norms import FROBENIUS_NORM, SPECTRAL_NORM
from reluscope.analyses.coefficients.margins import MARGIN_SLOPE
from reluscope.arguments import read_drawn
from reluscope.findings import Findings
from reluscope.plots.drawing.outlines import edges_of_equal_ratio
from reluscope.plots.style import bare, canvas, category, dashes, figure_of, legend, number_logarithmically, say

BINS = 40
NAMES = {
    "spectral_norm": "spectral norm",
    "frobenius_norm": "Frobenius norm",
    "margin_slope": "slope of the margin",
}


@read_drawn
def norms(found: Findings, *, axes: Axes | None = None) -> Figure:
    """Draw the distribution of the spectral and the Frobenius norm and of the margin's slope.

    Parameters
    ----------
    found : Findings
        From `reluscope.coefficients.local_norms`.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        Outlines of histograms of positive norms in bins of equal ratio; thin lines mark the medians.
    """
    axes = canvas(axes, (6.4, 3.0))
    there = [quantity for quantity in (SPECTRAL_NORM, FROBENIUS_NORM, MARGIN_SLOPE) if quantity in found]
    kinds = [(NAMES[quantity.name], found[quantity].value[found.is_done]) for quantity in there or [SPECTRAL_NORM]]
    every = np.concatenate([values[values > 0] for _, values in kinds])
    if not len(every):
        say(axes, "all maps are constant")
        return figure_of(axes)
    edges = edges_of_equal_ratio(every, BINS)
    handles: list[Artist] = []
    for index, (name, values) in enumerate(kinds):
        counts, _ = np.histogram(values, edges)
        style = dashes(index)
        axes.stairs(counts, edges, color=category(index), linewidth=1.6, linestyle=style)
        median = float(np.median(values))
        axes.axvline(median, color=category(index), linewidth=0.9, alpha=0.8)
        label = f"{name}\nmedian {median:.3g}"
        handles.append(Line2D([], [], color=category(index), linewidth=1.8, linestyle=style, label=label))
    number_logarithmically(axes, edges[-1] / edges[0])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("size of the local map")
    axes.set_ylabel("samples")
    bare(axes, "top", "right")
    legend(axes, handles, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure_of(axes)
