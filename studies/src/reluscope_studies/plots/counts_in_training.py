"""Number of regions, and accuracy, of a network over the epochs of its training."""

from collections.abc import Mapping, Sequence

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

import reluscope as rs
from reluscope.plots.style import INK, bare, canvas, category, dashes, legend_below, say, shortened


def counts_in_training(
    epochs: Sequence[float],
    counts: Mapping[str, Sequence[rs.Finding]],
    accuracies: Mapping[str, Sequence[rs.Finding]] | None = None,
) -> Figure:
    """Draw numbers of regions over epochs, and below them accuracies, where there are any.

    Parameters
    ----------
    epochs : sequence of float
        Ascending.
    counts : mapping of names to findings
        One number per epoch.
    accuracies : mapping of names to findings, optional
        One share per epoch.

    Returns
    -------
    matplotlib.figure.Figure
        A number that is only a LOWER bound has a hollow mark.

    Raises
    ------
    ShapeError
        If there is not one number per epoch.

    Examples
    --------
    >>> found = [rs.Finding(4, rs.Claim.EXACT), rs.Finding(7, rs.Claim.EXACT)]
    >>> counts_in_training([0, 1], {"regions": found}).axes[0].get_ylabel()
    'regions'
    """
    rows = [("regions", counts), *([("accuracy", accuracies)] if accuracies else [])]
    for _, curves in rows:
        for name, found in curves.items():
            if len(found) != len(epochs):
                raise rs.errors.ShapeError(f"expected one number per epoch for {name}, {len(epochs)}, got {len(found)}")
    figure = Figure(figsize=(6.4, 1.2 + 2.3 * len(rows)), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(len(rows), 1, sharex=True, squeeze=False)[:, 0]
    handles: dict[str, Line2D] = {}
    for axes, (label, curves) in zip(grid, rows, strict=True):
        canvas(axes, (0.0, 0.0))
        axes.set_ylabel(label)
        axes.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
        bare(axes, "top", "right")
        for index, (name, found) in enumerate(curves.items()):
            if name in handles:
                index = list(handles).index(name)
            color, style = category(index), dashes(index)
            axes.plot(epochs, [float(one) for one in found], color=color, linewidth=1.6, linestyle=style)
            handles[name] = Line2D([], [], color=color, linewidth=1.8, linestyle=style, label=shortened(name, 40))
            lower = [place for place, one in enumerate(found) if one.claim is rs.Claim.LOWER]
            if lower:
                where, height = [epochs[one] for one in lower], [float(found[one]) for one in lower]
                axes.plot(where, height, "o", color=color, markerfacecolor="none", markersize=4)
                handles["LOWER"] = Line2D(
                    [], [], color=INK, marker="o", markerfacecolor="none", linestyle="none", label="lower bound"
                )
    if not len(epochs):
        say(grid[0], "no numbers yet")
    grid[0].set_ylim(bottom=0)
    grid[0].yaxis.set_major_locator(MaxNLocator(integer=True))
    grid[-1].set_xlabel("epoch")
    if len(handles) > 1:
        legend_below(figure, list(handles.values()))
    return figure
