"""Distinct codes as bars, gate by gate."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reluscope.analyses.codespace.class_distances import ALL_GATES
from reluscope.analyses.codespace.numbers_of_codes import NUM_CODES
from reluscope.arguments import Count, read_drawn
from reluscope.findings import Findings
from reluscope.plots.style import CATEGORIES, INK, bare, canvas, figure_of

MAX_BARS = 30


@read_drawn
def distinct_codes(found: Findings, num_samples: Count, *, axes: Axes | None = None) -> Figure:
    """Draw the number of distinct codes of the samples, one bar per gate and one for all gates together.

    Parameters
    ----------
    found : Findings
        From `codespace.distinct_codes`.
    num_samples : int
        Number of samples.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        The grey bar in the background is the number of samples; of more than 30 gates the first and the last are
        shown.
    """
    rows = list(zip(found.keys["gate"].tolist(), found[NUM_CODES].value.tolist(), strict=True))
    if found.summary is not None:
        rows.append((ALL_GATES, float(found.summary[NUM_CODES].value[0])))
    if len(rows) > MAX_BARS:
        rows = [*rows[: MAX_BARS // 2], *rows[-MAX_BARS // 2 :]]
    axes = canvas(axes, (6.4, 0.62 + 0.34 * len(rows)))
    for place, (name, number) in enumerate(rows):
        is_total = name == ALL_GATES
        axes.barh(place, num_samples, height=0.62, color=INK, alpha=0.12)
        axes.barh(place, number, height=0.62, color=CATEGORIES[5] if is_total else CATEGORIES[0])
        axes.text(num_samples * 1.015, place, f"{number:,.0f}", va="center", color=INK, fontsize=9)
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    axes.set_ylim(len(rows) - 0.45, -0.55)
    axes.set_xlim(0, num_samples * 1.1)
    axes.set_xlabel(f"different codes among {num_samples:,} samples", color=INK, fontsize=9.5)
    axes.tick_params(axis="y", length=0)
    bare(axes, "top", "right", "left")
    return figure_of(axes)
