"""Trials until the first success, by depth, beside those that a paper prints: a panel for every width."""

from collections.abc import Mapping, Sequence

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from reluscope.plots.style import INK, bare, canvas, category, legend_below
from reluscope_studies.plots.paper import draw_printed, printed_bar

MOST_IN_A_ROW = 5
# Above the largest number of trials, where none succeeded.
BEYOND = 1.7
Trials = Sequence[int | None]


def restarts(panels: Mapping[str, tuple[Trials, Trials]], *, depths: Sequence[int], most: tuple[int, int]) -> Figure:
    """Draw numbers of trials of networks, on a logarithmic scale.

    Parameters
    ----------
    panels : mapping of names to pairs
        Trials here and in the paper, for every depth; None where none of them succeeded.
    depths : sequence of int
    most : pair of int
        How many were tried, here and in the paper.

    Examples
    --------
    >>> figure = restarts({"width 1": ([1, 4], [1, None])}, depths=[1, 2], most=(200, 1000))
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['paper', 'here', 'more than were tried']
    """
    lines = 1 + (len(panels) > MOST_IN_A_ROW)
    columns = -(-max(1, len(panels)) // lines)
    figure = Figure(figsize=(1.75 * columns + 0.6, 1.7 * lines + 0.7), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(lines, columns, squeeze=False, sharex=True, sharey=True)
    look = {"linestyle": "none", "marker": "o", "markersize": 5.0, "color": category(0)}
    hollow = {"linestyle": "none", "marker": "^", "markersize": 5.0, "mfc": "none"}
    for axes, (name, (ours, papers)) in zip(grid.flat, panels.items(), strict=False):
        canvas(axes, (1.7, 1.7))
        axes.set_yscale("log")
        there = [(depth, tries) for depth, tries in zip(depths, papers, strict=True) if tries is not None]
        draw_printed(axes, [depth for depth, _ in there], [tries for _, tries in there], across=True)
        for trials, limit, color in ((papers, most[1], INK), (ours, most[0], category(0))):
            missing = [depth for depth, tries in zip(depths, trials, strict=True) if tries is None]
            axes.plot(missing, [BEYOND * limit] * len(missing), **hollow, color=color)
        found = [(depth, tries) for depth, tries in zip(depths, ours, strict=True) if tries is not None]
        axes.plot([depth for depth, _ in found], [tries for _, tries in found], zorder=3, **look)
        axes.set_title(name)
        axes.set_ylim(0.7, 2.0 * BEYOND * max(most))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
        bare(axes, "top", "right")
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for axes in grid[-1]:
        axes.set_xlabel("depth")
    for axes in grid[:, 0]:
        axes.set_ylabel("first weights tried")
    more = Line2D([], [], label="more than were tried", **hollow, color=INK)
    legend_below(figure, [printed_bar(across=True), Line2D([], [], label="here", **look), more])
    return figure
