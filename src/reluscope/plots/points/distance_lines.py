"""Distances of samples to their nearest facet and to the decision boundary, one line per sample."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reluscope.analyses.robustness.distance_quantities import (
    BOUNDARY_DISTANCE,
    DECISION_DISTANCE,
    DECISION_DISTANCE_WITHIN,
)
from reluscope.arguments import read_drawn
from reluscope.findings import Findings
from reluscope.plots.drawing.without_axes import say_alone
from reluscope.plots.figures import new_figure
from reluscope.plots.style import INK, bare, canvas, category, legend_below, number_logarithmically, say, shortened

BENDS, KNOWN, WITHIN = category(0), category(5), category(2)


def _mark(label: str, marker: str, color: str, face: str, size: float) -> dict[str, Any]:
    return {
        "linestyle": "",
        "marker": marker,
        "color": color,
        "markerfacecolor": face,
        "markersize": size,
        "markeredgewidth": 1.3,
        "label": label,
    }


# In the order of the legend.
MARKS = {
    "bends": _mark("the first unit bends", "|", BENDS, BENDS, 9),
    "known": _mark("the class changes", "o", KNOWN, KNOWN, 6),
    "range": {"color": KNOWN, "linewidth": 5.0, "alpha": 0.55, "label": "the class changes in this range"},
    "within": _mark("the class changes within the region", "D", WITHIN, "none", 6.5),
}


@read_drawn
def robustness(
    facets: Sequence[Findings],
    within: Sequence[Findings],
    whole: Sequence[Findings],
    names: Sequence[str],
) -> Figure:
    """Draw the distances of samples to the closest facet and the decision boundary, one panel per norm.

    Parameters
    ----------
    facets, within, whole : sequences of Findings
        One for each norm, in the same order: with ``boundary_distance``, ``decision_distance_within`` and
        ``decision_distance``.
    names : sequence of str
        Names of the samples.

    Returns
    -------
    matplotlib.figure.Figure
        Zero and infinite distances are omitted from the logarithmic scale. An arrow to the right marks distances of
        which only the lower end is known.
    """
    figure = new_figure((3.4 * max(1, len(whole)) + 0.9, 0.32 * max(4, len(names)) + 1.5))
    panels = figure.subplots(1, max(1, len(whole)), squeeze=False, sharey=True)[0]
    for axes in panels:
        canvas(axes, (0.0, 0.0))
        bare(axes, "top", "right")
    if not len(whole) or not len(names):
        for axes in panels:
            say_alone(axes, "there are no samples")
        return figure
    kinds: set[str] = set()
    for axes, one, inside, found in zip(panels, facets, within, whole, strict=True):
        there = inside[DECISION_DISTANCE_WITHIN]
        within_region = np.where(np.isfinite(there.upper), there.value, np.inf)
        kinds |= _panel(axes, one[BOUNDARY_DISTANCE].value, within_region, found)
        axes.set_xlabel(f"distance from the sample {there.given}")
        axes.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
    panels[0].set_ylim(len(names) - 0.4, -0.6)
    panels[0].set_yticks(range(len(names)), [shortened(name, 24) for name in names])
    legend_below(figure, [Line2D([], [], **mark) for kind, mark in MARKS.items() if kind in kinds])
    return figure


def _panel(axes: Axes, facets: Float[np.ndarray, " s"], within: Float[np.ndarray, " s"], found: Findings) -> set[str]:
    """Draw one panel; return which kinds of marks are in it."""
    whole = found[DECISION_DISTANCE]
    # A search that came to its end without a change of class has no distance that could be drawn.
    nowhere = np.isinf(whole.upper) & (np.char.str_len(found.details["stopped"]) == 0)
    lowest = np.where(nowhere, np.inf, whole.lower)
    ends = [facets, within, lowest, whole.upper]
    every = np.concatenate([values[np.isfinite(values) & (values > 0)] for values in ends])
    if not len(every):
        say(axes, "no distance is finite and positive")
        axes.set_xticks([])
        return set()
    low, high = float(every.min()) / 1.3, float(every.max()) * 1.3
    number_logarithmically(axes, (high / low) ** 1.6)
    axes.set_xlim(low, high)
    kinds = set()

    def mark(kind: str, row: int, value: float) -> None:
        if np.isfinite(value) and value > 0:
            axes.plot(value, row, zorder=3, **MARKS[kind])
            kinds.add(kind)

    for row in range(len(facets)):
        mark("bends", row, float(facets[row]))
        mark("within", row, float(within[row]))
        if nowhere[row] or not found.is_done[row]:
            continue
        lower, upper = float(whole.lower[row]), float(whole.upper[row])
        if whole.is_exact[row]:
            mark("known", row, float(whole.value[row]))
        else:
            start, stop = max(lower, low), min(upper, high)
            axes.plot([start, stop], [row, row], solid_capstyle="butt", zorder=2, **MARKS["range"])
            kinds.add("range")
            if not np.isfinite(upper):
                axes.plot(stop, row, ">", color=KNOWN, markersize=8, clip_on=False, zorder=3)
    return kinds
