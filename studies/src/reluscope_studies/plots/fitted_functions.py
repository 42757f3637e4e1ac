"""Piecewise affine functions of one variable beside the smooth one that they approximate, in panels of a grid.

A function is seen twice: as a curve, and as a dot per region at its slope and intercept, where the tangents of a smooth
function form a curve. Figures 5.4 and 5.5 of Sattelberg 2026 are of this kind.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import reluscope as rs
from reluscope.plots.style import DARK, INK, canvas, category, legend_below, tint

Grid = Sequence[Sequence[rs.Partition | None]]

SIDE, WIDEST = (1.05, 2.7), 11.5
# Of the range of the smooth function, on every side.
MARGIN = 0.2
# From so many regions on, kinks get smaller dots.
MANY = 40


def fitted_curves(
    parts: Grid,
    target: Float[np.ndarray, "t 2"],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    notes: Sequence[Sequence[str]],
) -> Figure:
    """Draw functions over a smooth one, with their kinks.

    Parameters
    ----------
    parts : rows of Partition or None
        Of an interval, by networks with one output, which are attached. None leaves a panel to its note.
    target : (t, 2) float64
        Points (x, y) of the smooth function, along the interval.
    rows, columns : sequence of str
        What stands beside the rows and above the columns.
    notes : rows of str
        What stands in each panel.

    Returns
    -------
    matplotlib.figure.Figure
        All panels have the same limits; what leaves them is cut off.

    Raises
    ------
    InputError
        If a partition is of a plane, or its network has several outputs or is missing.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[1.0]], [0.0]), ([[1.0]], [0.0])])
    >>> part, x = rs.partition(net, rs.Box(-1, 1, 1)), np.linspace(-1, 1)
    >>> figure = fitted_curves([[part]], np.column_stack([x, x**2]), rows=["1"], columns=["1"], notes=[["0.2"]])
    >>> len(figure.axes)
    1
    """
    figure, grid = _panels(parts, rows, columns, notes, ("input", "output"))
    for axes, part in _each(grid, parts):
        axes.plot(*target.T, color=tint(INK, 0.45), linewidth=1.0)
        if part is not None and len(part):
            order = np.argsort(part.vertices[:, 0], kind="stable")
            axes.plot(
                part.vertices[order, 0],
                part.outputs[order, 0],
                color=category(0),
                linewidth=1.0,
                marker="o",
                markersize=1.8 if len(part) <= MANY else 1.2,
            )
        _limit(axes, target)
    names = {"linewidth": 1.1, "color": category(0), "marker": "o", "markersize": 2.5}
    _legend(figure, "the function", Line2D([], [], label="the network and its kinks", **names))
    return figure


def fitted_coefficients(
    parts: Grid,
    tangents: Float[np.ndarray, "t 2"],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    notes: Sequence[Sequence[str]],
) -> Figure:
    """Draw a dot per region at its slope and intercept over the tangents of a smooth function.

    Parameters
    ----------
    parts, rows, columns, notes
        As for `fitted_curves`.
    tangents : (t, 2) float64
        Slopes and intercepts of the tangents of the smooth function.

    Returns
    -------
    matplotlib.figure.Figure
        All panels have the same limits; hollow dots at the edge are of regions beyond them.

    Raises
    ------
    InputError
        As `fitted_curves`.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[1.0]], [0.0]), ([[1.0]], [0.0])])
    >>> part, x = rs.partition(net, rs.Box(-1, 1, 1)), np.linspace(-1, 1)
    >>> tangents = np.column_stack([2 * x, -x**2])
    >>> figure = fitted_coefficients([[part]], tangents, rows=["1"], columns=["1"], notes=[["2"]])
    >>> len(figure.axes)
    1
    """
    figure, grid = _panels(parts, rows, columns, notes, ("slope", "intercept"))
    size, is_cut = 9.0 if len(columns) > 5 else 26.0, False
    for axes, part in _each(grid, parts):
        axes.plot(*tangents.T, color=tint(INK, 0.45), linewidth=1.0)
        low, high = _limit(axes, tangents)
        if part is not None and len(part):
            weight, bias = (one.cpu().numpy() for one in (part.maps.weight, part.maps.bias))
            places = np.column_stack([weight[:, 0, 0], bias[:, 0]])
            shown = np.clip(places, low, high)
            inside = (shown == places).all(axis=1)
            is_cut |= not inside.all()
            axes.scatter(
                *shown.T,
                s=size,
                c=[category(0) if one else "none" for one in inside],
                edgecolors=[DARK if one else category(5) for one in inside],
                linewidths=0.4 if size < 10 else 0.7,
                clip_on=False,
                zorder=3,
            )
    dot = {"linestyle": "none", "marker": "o", "markersize": 4}
    handles = [Line2D([], [], label="regions", color=category(0), **dot)]
    if is_cut:
        handles.append(Line2D([], [], label="regions beyond", color=category(5), markerfacecolor="none", **dot))
    _legend(figure, "tangents of the function", *handles)
    return figure


def _panels(
    parts: Grid,
    rows: Sequence[str],
    columns: Sequence[str],
    notes: Sequence[Sequence[str]],
    labels: tuple[str, str],
) -> tuple[Figure, np.ndarray]:
    if not rows or not columns:
        raise rs.errors.InputError("expected at least one row and one column of panels")
    for name, lines in (("parts", parts), ("notes", notes)):
        if [len(line) for line in lines] != [len(columns)] * len(rows):
            raise rs.errors.ShapeError(
                f"{name} must have {len(rows)} rows of {len(columns)}, as many as names, got others"
            )
    for part in (part for line in parts for part in line if part is not None):
        if part.dim != 1 or part.network_on_domain.num_outputs != 1:
            raise rs.errors.InputError("expected partitions of intervals by networks with one output")
    side = float(np.clip(WIDEST / len(columns), *SIDE))
    figure = Figure(figsize=(side * len(columns) + 0.6, side * len(rows) + 0.8), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(len(rows), len(columns), squeeze=False, sharex=True, sharey=True)
    for (row, column), axes in np.ndenumerate(grid):
        canvas(axes, (side, side))
        axes.tick_params(labelsize=6.5 if side < 1.6 else 8, length=2)
        if row == 0:
            axes.set_title(columns[column], fontsize=8.5, color=INK)
        if column == 0:
            axes.set_ylabel(f"{rows[row]}\n{labels[1]}", fontsize=8.5, color=INK)
        if row == len(rows) - 1:
            axes.set_xlabel(labels[0], fontsize=8.5, color=INK)
        axes.text(
            0.04,
            0.95,
            notes[row][column],
            transform=axes.transAxes,
            va="top",
            fontsize=6.5 if side < 1.6 else 8.5,
            color=INK,
            zorder=5,
        )
    return figure, grid


def _each(grid: np.ndarray, parts: Grid) -> list[tuple[Axes, rs.Partition | None]]:
    return [(axes, part) for line, row in zip(grid, parts, strict=True) for axes, part in zip(line, row, strict=True)]


def _limit(axes: Axes, curve: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = curve.min(axis=0), curve.max(axis=0)
    margin = MARGIN * np.where(high > low, high - low, 1.0)
    low, high = low - margin, high + margin
    axes.set_xlim(low[0], high[0])
    # Room for the note.
    axes.set_ylim(low[1], high[1] + margin[1])
    return low, high


def _legend(figure: Figure, name: str, *handles: Line2D) -> None:
    legend_below(figure, [Line2D([], [], color=tint(INK, 0.45), linewidth=1.0, label=name), *handles])
