"""Distinct codes as bars, gate by gate."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reluscope.analyses.codespace.distinct import DistinctCodes
from reluscope.arguments import read_drawn
from reluscope.plots.style import CATEGORIES, INK, bare, canvas, figure_of

MOST_BARS = 30


@read_drawn
def distinct_codes(found: DistinctCodes, *, axes: Axes | None = None) -> Figure:
    """Draw how many different codes the samples have, one bar per gate and one for all gates together.

    Parameters
    ----------
    found : DistinctCodes
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        The grey bar behind is the number of samples; of more than 30 gates the first and the last are shown.
    """
    rows = [(finding.name.removeprefix("distinct codes of "), finding) for finding in (*found.by_gate, found.total)]
    if len(rows) > MOST_BARS:
        rows = [*rows[: MOST_BARS // 2], *rows[-MOST_BARS // 2 :]]
    axes = canvas(axes, (6.4, 0.62 + 0.34 * len(rows)))
    most = found.num_points
    for place, (_, finding) in enumerate(rows):
        total = finding is found.total
        color = CATEGORIES[5] if total else CATEGORIES[0]
        axes.barh(place, most, height=0.62, color=INK, alpha=0.12)
        axes.barh(place, finding.value, height=0.62, color=color)
        axes.text(most * 1.015, place, f"{int(finding):,}", va="center", color=INK, fontsize=9)
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    axes.set_ylim(len(rows) - 0.45, -0.55)
    axes.set_xlim(0, most * 1.1)
    axes.set_xlabel(f"different codes among {most:,} samples", color=INK, fontsize=9.5)
    axes.tick_params(axis="y", length=0)
    bare(axes, "top", "right", "left")
    return figure_of(axes)
