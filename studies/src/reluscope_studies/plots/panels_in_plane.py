"""Simple pictures of the plane: points of two classes, lines that bend, and points of a grid that are compared."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float, Int
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reluscope.plots.style import CATEGORIES, DARK, INK, canvas, category, legend_below, tint

SIDE = 3.0
Segments = Float[np.ndarray, "_ 2 2"]


def _panels(number: int) -> tuple[Figure, list]:
    figure = Figure(figsize=(SIDE * max(1, number), SIDE + 0.5), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, [] if not number else list(figure.subplots(1, number, squeeze=False)[0])


def classes_in_plane(problems: Mapping[str, tuple[Float[np.ndarray, "_ 2"], Int[np.ndarray, " _"]]]) -> Figure:
    """Draw points of two classes, a panel for each problem; classes differ in colour and in mark.

    Examples
    --------
    >>> figure = classes_in_plane({"two points": (np.eye(2), np.array([0, 1]))})
    >>> len(figure.axes)
    1
    """
    figure, panels = _panels(len(problems))
    for axes, (title, (points, labels)) in zip(panels, problems.items(), strict=True):
        canvas(axes, (0.0, 0.0))
        for label, mark in ((0, "o"), (1, "s")):
            axes.scatter(*points[labels == label].T, s=9, marker=mark, color=category(label), linewidths=0)
        axes.set_title(title, fontsize=9.5, color=INK)
        axes.set_aspect("equal")
    return figure


def bending_lines(layers: Sequence[tuple[Mapping[str, Segments], Segments]], *, reach: float) -> Figure:
    """Draw where units of a layer are zero, over the lines of the layers before it, a panel for each layer.

    Parameters
    ----------
    layers : sequence of pairs
        Segments of each unit by its name, and those of all earlier units.
    reach : float
        The square from -reach to reach.

    Examples
    --------
    >>> one = {"unit 1": np.array([[[-1.0, 0.0], [1.0, 0.0]]])}
    >>> figure = bending_lines([(one, np.zeros((0, 2, 2)))], reach=1.0)
    >>> figure.axes[0].get_title()
    'layer 1'
    """
    figure, panels = _panels(len(layers))
    names: dict[str, None] = {}
    for number, (axes, (units, before)) in enumerate(zip(panels, layers, strict=True), start=1):
        canvas(axes, (0.0, 0.0))
        axes.add_collection(LineCollection(list(before), colors=tint(INK, 0.45), linewidths=1.0))
        for place, (name, segments) in enumerate(units.items()):
            axes.add_collection(LineCollection(list(segments), colors=category(place), linewidths=2.0))
            names[name] = None
        axes.set_title(f"layer {number}", fontsize=9.5, color=INK)
        axes.set_xlim(-reach, reach)
        axes.set_ylim(-reach, reach)
        axes.set_aspect("equal")
    handles = [Line2D([], [], color=category(place), linewidth=2.0, label=name) for place, name in enumerate(names)]
    legend_below(figure, [*handles, Line2D([], [], color=tint(INK, 0.45), linewidth=1.0, label="of earlier layers")])
    return figure


KINDS = {
    "done": ("regions known", DARK),
    "compared": ("known, and compared with", CATEGORIES[1]),
    "own": ("looked at", CATEGORIES[5]),
    "later": ("not yet", CATEGORIES[2]),
}


def compared_points(kinds: Sequence[Sequence[str]]) -> Figure:
    """Draw a grid of points, the first row at the top, each in the colour of its kind.

    Parameters
    ----------
    kinds : rows of str
        Of `KINDS`.

    Examples
    --------
    >>> figure = compared_points([["done", "compared"], ["own", "later"]])
    >>> [text.get_text() for text in figure.legends[0].get_texts()][2]
    'looked at'
    """
    figure, (axes,) = _panels(1)
    canvas(axes, (0.0, 0.0))
    for row, line in enumerate(kinds):
        for column, kind in enumerate(line):
            axes.plot(column, -row, marker="o", markersize=9, color=KINDS[kind][1])
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])
    legend_below(
        figure,
        [Line2D([], [], color=color, marker="o", linestyle="", label=name) for name, color in KINDS.values()],
    )
    return figure
