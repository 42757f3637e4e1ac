"""Numbers of linear regions on segments as strips of dots, one row for each kind of pair of samples."""

import numpy as np
from jaxtyping import Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from reluscope.analyses.counting.segment_counts import NUM_REGIONS_ON_SEGMENT
from reluscope.arguments import read_drawn
from reluscope.findings import Findings
from reluscope.plots.style import INK, bare, canvas, category, figure_of


@read_drawn
def segment_counts(
    counts: Findings, groups: Int[np.ndarray, " k"], names: list[str], *, axes: Axes | None = None
) -> Figure:
    """Draw one dot per segment, at its number of regions, and the median of every group.

    Parameters
    ----------
    counts : Findings
        As `reluscope.counting.count_along_segments` returns them.
    groups : (k,) int
        Group of each segment.
    names : list of str
        Names of the groups.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        Hollow dots are lower bounds.
    """
    column = counts[NUM_REGIONS_ON_SEGMENT]
    axes = canvas(axes, (6.4, 0.8 + 0.62 * len(names)))
    for group in range(len(names)):
        chosen = np.flatnonzero(groups == group)
        color = category(group)
        where = column.value[chosen]
        height = group + 0.27 * _spread(len(chosen))
        faces = np.where(column.is_exact[chosen], color, "none")
        axes.scatter(where, height, s=18, facecolors=list(faces), edgecolors=color, linewidths=0.9, alpha=0.75)
        if len(where):
            median = float(np.median(where))
            axes.plot([median, median], [group - 0.36, group + 0.36], color=INK, linewidth=2.0, solid_capstyle="butt")
            axes.annotate(
                f"median {median:g}",
                (median, group - 0.38),
                ha="center",
                va="bottom",
                color=INK,
                fontsize=8.5,
            )
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.72)
    if len(counts):
        axes.set_xlim(left=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
    axes.set_xlabel("regions along the segment", color=INK, fontsize=9.5)
    axes.tick_params(axis="y", length=0)
    bare(axes, "top", "right", "left")
    return figure_of(axes)


def _spread(number: int) -> np.ndarray:
    """Return offsets in [-1, 1] that look random and are not: multiples of the golden ratio."""
    return 2.0 * ((np.arange(number) * 0.6180339887) % 1.0) - 1.0
