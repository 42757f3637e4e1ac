"""How samples use the units of each gate, as stacked bars of shares."""

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from reluscope.analyses.codespace.usage import UnitUsage
from reluscope.arguments import read_drawn
from reluscope.plots.style import CATEGORIES, INK, bare, canvas, figure_of, legend, shortened

MOST_BARS = 30
KINDS = (("changing", CATEGORIES[0], 1.0), ("always on", CATEGORIES[1], 1.0), ("dead", INK, 0.45))


@read_drawn
def unit_usage(usage: UnitUsage, *, axes: Axes | None = None) -> Figure:
    """Draw which share of each gate's units changes, is always on or is dead on the samples.

    Parameters
    ----------
    usage : UnitUsage
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        One bar per gate, numbers of units inside where they fit; of more than 30 gates the first and the last.
    """
    rows = list(usage.by_gate)
    if len(rows) > MOST_BARS:
        rows = [*rows[: MOST_BARS // 2], *rows[-MOST_BARS // 2 :]]
    axes = canvas(axes, (6.4, 1.15 + 0.34 * len(rows)))
    for place, gate in enumerate(rows):
        counts = [int(gate.changing), int(gate.always_on), int(gate.dead)]
        start = 0.0
        for count, (_, color, alpha) in zip(counts, KINDS, strict=True):
            share = count / gate.num_units if gate.num_units else 0.0
            axes.barh(place, share, left=start, height=0.62, color=color, alpha=alpha)
            if share > 0.06:
                shade = "#ffffff" if color == CATEGORIES[0] else INK if color == INK else "#14181d"
                axes.text(start + share / 2, place, f"{count:,}", ha="center", va="center", color=shade, fontsize=8.5)
            start += share
    axes.set_yticks(range(len(rows)), [shortened(gate.name) for gate in rows])
    axes.set_ylim(len(rows) - 0.45, -0.55)
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
    axes.set_xlabel("share of the gate's units", color=INK, fontsize=9.5)
    axes.tick_params(axis="y", length=0)
    bare(axes, "top", "right", "left")
    handles: list[Artist] = [Patch(color=color, alpha=alpha, label=kind) for kind, color, alpha in KINDS]
    legend(axes, handles, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure_of(axes)
