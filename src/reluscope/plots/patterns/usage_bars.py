"""Shares of units of each gate that change, are always on, or are dead on the samples, as stacked bars."""

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from reluscope.analyses.codespace.usage_of_units import NUM_ALWAYS_ON, NUM_CHANGING, NUM_DEAD
from reluscope.arguments import read_drawn
from reluscope.findings import Findings
from reluscope.plots.style import CATEGORIES, INK, bare, canvas, figure_of, legend, shortened

MAX_BARS = 30
KINDS = ((NUM_CHANGING, CATEGORIES[0], 1.0), (NUM_ALWAYS_ON, CATEGORIES[1], 1.0), (NUM_DEAD, INK, 0.45))
NAMES = ("changing", "always on", "dead")


@read_drawn
def unit_usage(usage: Findings, *, axes: Axes | None = None) -> Figure:
    """Draw the shares of each gate's units that change, are always on or are dead on the samples.

    Parameters
    ----------
    usage : Findings
        From `codespace.unit_usage`.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        One bar per gate, with numbers of units if they fit; of more than 30 gates the first and the last.
    """
    rows = np.arange(len(usage))
    if len(rows) > MAX_BARS:
        rows = np.concatenate([rows[: MAX_BARS // 2], rows[-MAX_BARS // 2 :]])
    axes = canvas(axes, (6.4, 1.15 + 0.34 * len(rows)))
    for place, row in enumerate(rows.tolist()):
        start, units = 0.0, int(usage.keys["units"][row])
        for quantity, color, alpha in KINDS:
            count = int(usage[quantity].value[row])
            share = count / units if units else 0.0
            axes.barh(place, share, left=start, height=0.62, color=color, alpha=alpha)
            if share > 0.06:
                shade = "#ffffff" if color == CATEGORIES[0] else INK if color == INK else "#14181d"
                axes.text(start + share / 2, place, f"{count:,}", ha="center", va="center", color=shade, fontsize=8.5)
            start += share
    axes.set_yticks(range(len(rows)), [shortened(name) for name in usage.keys["gate"][rows].tolist()])
    axes.set_ylim(len(rows) - 0.45, -0.55)
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
    axes.set_xlabel("share of the gate's units", color=INK, fontsize=9.5)
    axes.tick_params(axis="y", length=0)
    bare(axes, "top", "right", "left")
    handles: list[Artist] = [
        Patch(color=color, alpha=alpha, label=name) for name, (_, color, alpha) in zip(NAMES, KINDS, strict=True)
    ]
    legend(axes, handles, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure_of(axes)
