"""Numbers over the epochs of training: one row per number, one column per setting, one line per network and part.

Reference: Shepeleva, Zellinger, Lewandowski and Moser, "ReLU code space: a basis for rating network quality besides
accuracy", 2020, Figure 1.
"""

from collections.abc import Mapping, Sequence

from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from reluscope.plots.style import INK, bare, canvas, category, dashes, legend_below, say

# Epochs and values.
Line = tuple[Sequence[float], Sequence[float]]


def training_curves(panels: Mapping[str, Mapping[str, Mapping[tuple[str, str], Line]]]) -> Figure:
    """Draw how numbers change in training.

    Parameters
    ----------
    panels : mapping of numbers to mappings of settings to mappings of (network, part) to lines
        A line is its epochs and its values; a panel may be empty.

    Returns
    -------
    matplotlib.figure.Figure
        Networks by colour, parts of the samples by dashes, in the order in which they first come. Panels of a row share
        their axis, so that settings can be compared.

    Examples
    --------
    >>> line = {("small", "training"): ([0, 1], [0.1, 0.9]), ("small", "validation"): ([0, 1], [0.1, 0.8])}
    >>> figure = training_curves({"accuracy": {"rate 0.1": line}})
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['small', 'training', 'validation']
    """
    columns = list(dict.fromkeys(column for row in panels.values() for column in row))
    keys = [key for row in panels.values() for lines in row.values() for key in lines]
    networks, parts = (list(dict.fromkeys(key[place] for key in keys)) for place in (0, 1))
    size = (2.7 * max(1, len(columns)) + 0.7, 1.75 * max(1, len(panels)) + 0.7)
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    if not keys:
        say(canvas(figure.add_subplot(), size), "no numbers yet")
        return figure
    grid = figure.subplots(len(panels), len(columns), squeeze=False, sharex=True, sharey="row")
    for index, (number, row) in enumerate(panels.items()):
        for place, column in enumerate(columns):
            axes = canvas(grid[index][place], size)
            bare(axes, "top", "right")
            axes.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
            for (network, part), (epochs, values) in row.get(column, {}).items():
                axes.plot(
                    epochs,
                    values,
                    color=category(networks.index(network)),
                    linestyle=dashes(parts.index(part)),
                    linewidth=1.4,
                    marker="o",
                    markersize=2.4,
                )
            axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
            if index == 0:
                axes.set_title(column, fontsize=9.5, color=INK)
            if index == len(panels) - 1:
                axes.set_xlabel("epoch", fontsize=9.5, color=INK)
            if place == 0:
                axes.set_ylabel(number, fontsize=9.5, color=INK)
    handles: list[Artist] = [
        Line2D([], [], color=category(place), linewidth=1.6, label=name) for place, name in enumerate(networks)
    ]
    handles += [
        Line2D([], [], color=INK, linestyle=dashes(place), linewidth=1.2, label=part)
        for place, part in enumerate(parts)
    ]
    legend_below(figure, handles)
    return figure
