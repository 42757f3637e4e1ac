"""Numbers of regions under their bounds, over a size of the network: powers of ten upwards."""

from collections.abc import Mapping, Sequence
from math import floor, log10

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator

import reluscope as rs
from reluscope.plots.style import INK, bare, canvas, category, figure_of, legend, say

DASHES = ("-", (0, (6, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)), (0, (3, 1)))
MARKS = ("o", "D", "s", "^")
MAX_MINOR = 8

# Saved pictures read no formulas between dollar signs.
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def bounds_and_counts(
    where: Sequence[float],
    bounds: Mapping[str, Sequence[rs.Finding | None]],
    counts: Mapping[str, Sequence[Sequence[rs.Finding]]] | None = None,
    *,
    xlabel: str,
    axes: Axes | None = None,
) -> Figure:
    """Draw bounds as curves, and numbers of several networks as their mean and their range.

    Parameters
    ----------
    where : sequence of numbers
        Places on the axis.
    bounds : mapping of names to findings
        One per place, None where there is none. Positive whole numbers of any size.
    counts : mapping of names to lists of findings
        One list per place, which may be empty.
    xlabel : str
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        A mark is hollow if a number in it is a LOWER bound.
    """
    axes = canvas(axes, (6.4, 4.2))
    handles: list[Artist] = []
    heights: list[float] = []
    for index, (name, found) in enumerate(bounds.items()):
        level = np.array([np.nan if one is None else log10(int(one)) for one in found])
        style = DASHES[index % len(DASHES)]
        line = axes.plot(where, level, color=category(index), linestyle=style, linewidth=1.6, label=name)
        handles += line
        heights += level[~np.isnan(level)].tolist()
    for index, (name, groups) in enumerate((counts or {}).items()):
        color = category(len(bounds) + index)
        mark = MARKS[index % len(MARKS)]
        for place, group in zip(where, groups, strict=True):
            if group:
                values = [int(one) for one in group]
                low, mean, high = log10(min(values)), log10(sum(values) / len(values)), log10(max(values))
                is_lower = any(one.claim is rs.Claim.LOWER for one in group)
                axes.plot([place, place], [low, high], color=color, linewidth=1.4)
                face = "none" if is_lower else color
                axes.plot(place, mean, mark, color=color, markersize=4.6, markerfacecolor=face, zorder=3)
                heights += [low, high]
        label = f"{name}: mean and range" if any(len(group) > 1 for group in groups) else name
        handles.append(Line2D([], [], color=color, marker=mark, markersize=4.6, linewidth=1.4, label=label))
        if any(one.claim is rs.Claim.LOWER for group in groups for one in group):
            handles.append(
                Line2D([], [], color=color, marker=mark, markersize=4.6, markerfacecolor="none", linestyle="none",
                       label=f"{name}: lower bound")
            )  # fmt: skip
    if not heights:
        say(axes, "no numbers yet")
        return figure_of(axes)
    low, high = min(heights), max(heights)
    room = 0.05 * max(high - low, 1.0)
    axes.set_ylim(low - room, high + room)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
    axes.yaxis.set_major_formatter(lambda level, _: f"10{f'{level:.0f}'.translate(RAISED)}")
    if high - low < MAX_MINOR:
        steps = np.log10(np.arange(2, 10))
        axes.yaxis.set_minor_locator(FixedLocator([k + s for k in range(floor(low), floor(high) + 1) for s in steps]))
        axes.tick_params(axis="y", which="minor", colors=INK, length=1.8, width=0.6)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=12))
    axes.set_xlabel(xlabel)
    axes.set_ylabel("regions")
    axes.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
    bare(axes, "top", "right")
    legend(axes, handles, ncols=2)
    return figure_of(axes)
