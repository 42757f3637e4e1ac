"""Distances of samples to the nearest occupied code: the share of samples within each distance."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reluscope.plots.style import INK, bare, canvas, category, dashes, legend_below, say


def novelty(scores: Mapping[str, Mapping[str, Mapping[str, Float[np.ndarray, " _"]]]]) -> Figure:
    """Draw distributions of distances to the nearest occupied code.

    Parameters
    ----------
    scores : mapping of networks to mappings of gates to mappings of kinds of samples to scores
        One row per network, one column per gate. The first kind is that of the domain itself, in ink.

    Returns
    -------
    matplotlib.figure.Figure
        Steps from 0 to 100 %: at a distance, the share of samples that are not farther away. What stands at distance 0
        lies in occupied cells.

    Examples
    --------
    >>> figure = novelty({"dense": {"fc0": {"in domain": np.array([0.0, 1.0]), "noise": np.array([5.0])}}})
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['in domain', 'noise']
    """
    columns = list(dict.fromkeys(gate for row in scores.values() for gate in row))
    kinds = list(dict.fromkeys(kind for row in scores.values() for panel in row.values() for kind in panel))
    size = (2.7 * max(1, len(columns)) + 0.7, 2.1 * max(1, len(scores)) + 0.7)
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    if not kinds:
        say(canvas(figure.add_subplot(), size), "no samples")
        return figure
    grid = figure.subplots(len(scores), len(columns), squeeze=False, sharey=True)
    for index, (network, row) in enumerate(scores.items()):
        for place, gate in enumerate(columns):
            axes = canvas(grid[index][place], size)
            bare(axes, "top", "right")
            for kind, values in row.get(gate, {}).items():
                color, style = _look(kinds.index(kind))
                heights = np.arange(len(values) + 1) / max(1, len(values)) * 100
                # Where distances are equal the steps are one, which its last height is.
                axes.step(np.sort(np.r_[0.0, values]), heights, where="post", color=color, linestyle=style, lw=1.5)
            axes.set_ylim(0, 103)
            axes.set_xlim(left=0)
            if index == 0:
                axes.set_title(gate, fontsize=9.5, color=INK)
            if index == len(scores) - 1:
                axes.set_xlabel("distance of codes (units)", fontsize=9.5, color=INK)
            if place == 0:
                axes.set_ylabel(f"{network}\nsamples within (%)", fontsize=9.5, color=INK)
    handles: list[Artist] = []
    for place, kind in enumerate(kinds):
        color, style = _look(place)
        handles.append(Line2D([], [], color=color, linestyle=style, linewidth=1.6, label=kind))
    legend_below(figure, handles)
    return figure


def _look(place: int) -> tuple[str, Any]:
    """Return colour and dashes of a kind; only the domain itself is a whole line."""
    return (INK, "-") if place == 0 else (category(place - 1), dashes(1 + (place - 1) % 3))
