"""Pictures of a Boolean function: its values on the cube, and along a direction."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reluscope.arguments import read_drawn
from reluscope.errors import InputError
from reluscope.extending.pictures import new_figure
from reluscope.plots.style import DARK, INK, NEUTRAL, bare, canvas, category, legend_below
from reluscope_studies.boolean.directions import Direction, levels
from reluscope_studies.boolean.function import BooleanFunction, all_inputs

_MAX_CUBE = 4
# Where the coordinate axes of the cube go in the picture.
_AXES = np.array([[1.0, 0.0], [0.0, 1.0], [0.42, 0.3], [1.95, 0.3]])


@read_drawn
def boolean_direction(function: BooleanFunction, direction: Direction) -> Figure:
    """Draw the values of a function on the cube, and along a direction.

    Parameters
    ----------
    function : BooleanFunction
        The cube is drawn up to four inputs.
    direction : (n,) whole numbers
        For instance that of `boolean.swaps` or `boolean.small_direction`.

    Returns
    -------
    matplotlib.figure.Figure
        Filled dots are ones, hollow squares zeros. Inputs at the same place have the same value; where there are
        several, numbers above say how many. A dashed line stands where the value changes.

    Raises
    ------
    InputError
        If two inputs of different values are at the same place.

    Examples
    --------
    >>> from reluscope_studies.boolean import BooleanFunction
    >>> figure = boolean_direction(BooleanFunction.of_formula("x1 ^ x2"), [1, 1])
    >>> figure.axes[-1].get_xlabel(), figure.axes[-1].get_title()
    ('x1 + x2', '2 changes')
    """
    found = levels(function, direction)
    if found is None:
        raise InputError("expected a direction along which inputs at one place have one value, got another: use swaps")
    n = function.num_inputs
    figure = new_figure((7.2, 2.9) if n <= _MAX_CUBE else (7.2, 2.0))
    if 0 < n <= _MAX_CUBE:
        left, right = figure.subplots(1, 2, width_ratios=(1.0, 1.7))
        _draw_cube(canvas(left, (3.0, 2.9)), function)
    else:
        right = figure.add_subplot()
    _draw_line(canvas(right, (4.2, 2.9)), function, direction, *found)
    handles = [_mark(value, linestyle="none", label=f"value {value}") for value in (0, 1)]
    legend_below(figure, handles)
    return figure


def _mark(value: int, **options: object) -> Line2D:
    face = category(0) if value else "white"
    settings = {"marker": "o" if value else "s", "markersize": 7.5, "markerfacecolor": face, "markeredgecolor": DARK}
    return Line2D([], [], **{**settings, **options})  # pyright: ignore[reportArgumentType]


def _dots(axes: Axes, places: np.ndarray, values: np.ndarray) -> None:
    for value in (0, 1):
        some = places[values == value]
        face, marker = (category(0), "o") if value else ("white", "s")
        axes.scatter(*some.T, s=58, c=face, marker=marker, edgecolors=DARK, linewidths=0.9, zorder=3, clip_on=False)


def _draw_cube(axes: Axes, function: BooleanFunction) -> None:
    n = function.num_inputs
    inputs = all_inputs(n)
    places = inputs @ _AXES[:n] if n > 1 else np.column_stack([inputs[:, 0], np.zeros(2)])
    pairs = [(i, i | 1 << bit) for i in range(1 << n) for bit in range(n) if not i >> bit & 1]
    axes.add_collection(
        LineCollection([places[list(pair)] for pair in pairs], colors=NEUTRAL, linewidths=1.3, zorder=1)
    )
    _dots(axes, places, function.values)
    for place, row in zip(places, inputs, strict=True):
        text = "".join(map(str, row))
        axes.annotate(text, place, xytext=(0, -12), textcoords="offset points", ha="center", fontsize=7, color=INK)
    axes.set_aspect("equal")
    axes.margins(0.16)
    axes.set_xticks([])
    axes.set_yticks([])
    bare(axes, "top", "right", "left", "bottom")


def _draw_line(
    axes: Axes, function: BooleanFunction, direction: Direction, places: np.ndarray, values: np.ndarray
) -> None:
    changes = np.flatnonzero(np.diff(values))
    for one in changes:
        axes.axvline((places[one] + places[one + 1]) / 2, color=INK, linewidth=0.8, linestyle=(0, (3, 2)), zorder=1)
    axes.axhline(0.0, color=NEUTRAL, linewidth=1.3, zorder=0)
    _dots(axes, np.column_stack([places, np.zeros(len(places))]), values)
    where, numbers = np.unique(all_inputs(function.num_inputs) @ np.asarray(direction), return_counts=True)
    if len(where) <= 20 and numbers.max() > 1:
        for place, number in zip(where, numbers, strict=True):
            axes.annotate(
                str(number), (place, 0.0), xytext=(0, 9), textcoords="offset points", ha="center", fontsize=8, color=INK
            )
    axes.set_ylim(-1.0, 1.0)
    axes.set_yticks([])
    whole = np.asarray(direction).tolist()
    terms = [
        f"{'+' if weight >= 0 else '−'} {abs(weight) if abs(weight) != 1 else ''} x{i + 1}".replace("  ", " ")
        for i, weight in enumerate(whole)
        if weight
    ]
    text = " ".join(terms)
    axes.set_xlabel((text[2:] if text.startswith("+") else text) or "0")
    axes.set_title(f"{len(changes)} change{'s' * (len(changes) != 1)}", fontsize=9.5, color=INK)
    bare(axes, "top", "right", "left")
