"""Outputs over positions along directions: samples as dots, and the network on the line itself."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reluscope.analyses.sensitivity.outputs_along import OutputAlong
from reluscope.arguments import read_drawn
from reluscope.errors import ShapeError
from reluscope.plots.drawing.without_axes import unmark
from reluscope.plots.figures import new_figure
from reluscope.plots.style import INK, bare, canvas, category, legend_below, say, shortened


@read_drawn
def outputs_along(
    found: Sequence[Sequence[OutputAlong]], *, rows: Sequence[str] | None = None, columns: Sequence[str] | None = None
) -> Figure:
    """Draw outputs of samples over their positions along directions, in rows and columns.

    Parameters
    ----------
    found : sequence of sequences of OutputAlong
        Rows of equal length.
    rows, columns : sequence of str, optional
        Names of rows (networks) and columns (outputs).

    Returns
    -------
    matplotlib.figure.Figure
        Dots are samples; the line is the network on the straight line through their mean. The corner shows the
        share of the variance that the position explains, with "about" if bounds on rounding are wider than this
        share.

    Raises
    ------
    ShapeError
        If rows are not equally long, or names do not match.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> along = rs.sensitivity.output_along(net, [[1.0, 1.0], [1.0, -1.0]], np.array([0.0, 1.0]))
    >>> rs.plots.outputs_along([[along]]).axes[0].get_xlabel()
    'position along the direction'
    """
    number, across = len(found), len(found[0]) if found else 0
    if any(len(row) != across for row in found):
        raise ShapeError("expected as many outputs in each row, got rows of different lengths")
    for names, size in ((rows, number), (columns, across)):
        if names is not None and len(names) != size:
            raise ShapeError(f"expected {size} names, got {len(names)}")
    if not number or not across:
        axes = canvas(None, (4.0, 2.0))
        axes.set_axis_off()
        say(axes, "there are no outputs")
        return axes.figure  # pyright: ignore[reportReturnType]
    figure = new_figure((max(4.2, 1.35 * across + 0.6), max(2.6, 1.15 * number + 0.7)))
    grid = figure.subplots(number, across, squeeze=False)
    for row, several in enumerate(found):
        for column, one in enumerate(several):
            axes = canvas(grid[row, column], (0, 0))
            axes.plot(one.positions, one.values, ".", color=category(0), markersize=2.5, alpha=0.5, rasterized=True)
            axes.plot(one.line_positions, one.line_values, color=category(5), linewidth=1.2)
            share = one.explained()
            text = f"{100 * share.value:.0f} %"
            if share.interval is not None:
                text = f"about {text}" if share.value else "constant"
            axes.text(0.04, 0.95, text, transform=axes.transAxes, ha="left", va="top", fontsize=8, color=INK)
            axes.margins(y=0.18)
            if number * across > 1:
                unmark(axes)
            if row == 0 and columns is not None:
                axes.set_title(shortened(columns[column], 16), fontsize=9.5, color=INK)
            if column == 0 and rows is not None:
                axes.set_ylabel(shortened(rows[row], 18), fontsize=9, color=INK)
            bare(axes, "top", "right")
    if number * across == 1:
        grid[0, 0].set_xlabel("position along the direction")
        grid[0, 0].set_ylabel(f"output {found[0][0].output}")
    else:
        middle = grid[-1, across // 2]
        middle.set_xlabel("position along the direction, each on its own scale", fontsize=9, color=INK)
    dots = {"color": category(0), "marker": ".", "linestyle": "none", "markersize": 6}
    handles = [Line2D([], [], label="samples; variance explained", **dots)]
    if any(len(one.line_positions) for several in found for one in several):
        label = "the network on the line through their mean"
        handles.append(Line2D([], [], color=category(5), linewidth=1.4, label=label))
    legend_below(figure, handles)
    return figure
