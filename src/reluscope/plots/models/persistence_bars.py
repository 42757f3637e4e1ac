"""Persistence: when pieces, tunnels and hollows of sublevel sets begin and end, as bars or as points."""

from typing import Literal

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reluscope.analyses.topology.persistence import BIRTH, DEATH
from reluscope.arguments import read_drawn
from reluscope.findings import Findings
from reluscope.plots.style import INK, bare, canvas, category, figure_of, legend, say

NAMES = ("pieces", "tunnels", "hollows", "hollows of dimension 3")
MARKS = ("o", "s", "^", "D")


@read_drawn
def persistence(found: Findings, *, kind: Literal["bars", "diagram"] = "bars", axes: Axes | None = None) -> Figure:
    """Draw the levels at which pieces, tunnels and hollows of sublevel sets exist.

    Parameters
    ----------
    found : Findings
        From `reluscope.topology.persistence`.
    kind : {"bars", "diagram"}
        A bar from beginning to end for each, the longest of each kind at the bottom; or a point for each, beginning
        to the right and end up: points far from the diagonal last long.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        Features that never end have an arrow, or lie on the dashed line at the top.
    """
    axes = canvas(axes, (6.4, 3.2) if kind == "bars" else (4.4, 4.2))
    if not len(found):
        say(axes, "no sublevel set is known")
        return figure_of(axes)
    dimension = np.asarray(found.keys["dimension"])
    births, deaths = found[BIRTH].value, found[DEATH].value
    ends = np.concatenate([births, deaths[np.isfinite(deaths)]])
    low, high = float(ends.min()), float(ends.max())
    room = 0.08 * (high - low or 1.0)
    shown = np.where(np.isfinite(deaths), deaths, high + room)
    handles: list[Artist] = []
    for one in sorted(set(dimension.tolist())):
        rows, color = np.flatnonzero(dimension == one), category(one)
        label = f"{NAMES[one]} ({len(rows):,})"
        if kind == "bars":
            axes.hlines(rows, births[rows], shown[rows], color=color, linewidth=max(0.8, min(4.0, 160 / len(found))))
            endless = rows[np.isinf(deaths[rows])]
            axes.plot(shown[endless], endless, ">", color=color, markersize=5, linestyle="none")
            handles.append(Line2D([], [], color=color, label=label, linewidth=2.5))
        else:
            axes.plot(births[rows], shown[rows], MARKS[one], color=color, markersize=4.5, alpha=0.8, linestyle="none")
            handles.append(Line2D([], [], color=color, label=label, marker=MARKS[one], linestyle="none", markersize=5))
    if kind == "bars":
        axes.set_yticks([])
        axes.set_xlabel("level")
        bare(axes, "left", "top", "right")
    else:
        axes.plot([low, high], [low, high], color=INK, linewidth=0.8, alpha=0.5)
        if np.isinf(deaths).any():
            axes.axhline(high + room, color=INK, linewidth=0.8, alpha=0.5, linestyle=(0, (4, 3)))
        axes.set_xlabel("begins at level")
        axes.set_ylabel("ends at level")
        axes.set_aspect("equal", adjustable="datalim")
        bare(axes, "top", "right")
    legend(axes, handles, ncols=len(handles), loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure_of(axes)
