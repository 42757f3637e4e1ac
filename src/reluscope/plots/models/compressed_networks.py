"""Accuracy of networks reduced to a few affine maps per output, over their number, one panel per network."""

from collections.abc import Mapping

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reluscope.analyses.compression.curve import NETWORK_ACCURACY
from reluscope.arguments import Count, read_drawn
from reluscope.findings import Findings
from reluscope.plots.figures import new_figure
from reluscope.plots.models.accuracy_curves import draw_accuracies
from reluscope.plots.style import INK, canvas, legend_below

COLUMN, ROW = 2.9, 2.5


@read_drawn
def curves_of_networks(curves: Mapping[str, Findings], *, columns: Count) -> Figure:
    """Draw the accuracies of networks reduced to a few affine maps, one network per panel.

    Parameters
    ----------
    curves : mapping of names to Findings
        As `reluscope.compression.accuracy_curve` returns them.
    columns : int
        Panels in a row.

    Returns
    -------
    matplotlib.figure.Figure
        The line across a panel is the accuracy of the network itself, which is also in the title.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.ones((1, 2)), np.array([-1.0]))])
    >>> matrices = rs.coefficients.matrix(net, [[-2.0], [-0.5], [0.5], [2.0]])
    >>> curve = rs.compression.accuracy_curve(matrices, matrices, np.array([1, 0, 0, 1]), (1, 2))
    >>> [axes.get_title() for axes in rs.plots.curves_of_networks({"one": curve, "same": curve}, columns=2).axes]
    ['one, 100.0%', 'same, 100.0%']
    """
    rows = -(-len(curves) // columns)
    figure = new_figure((COLUMN * columns, ROW * max(1, rows) + 0.5))
    if not curves:
        return figure
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    named: dict[object, Line2D] = {}
    for place, (name, curve) in enumerate(curves.items()):
        axes = canvas(grid.flat[place], (0.0, 0.0))
        handles = draw_accuracies(axes, curve)
        handles[0].set_label("the network itself")
        # One panel may have bars where another has none.
        named = {handle.get_label(): handle for handle in handles} | named
        axes.set_title(f"{name}, {100 * float(curve.finding(NETWORK_ACCURACY)):.1f}%", fontsize=9.5, color=INK)
        axes.tick_params(axis="x", labelsize=7.0)
        axes.label_outer()
    for axes in grid.flat[len(curves) :]:
        axes.set_visible(False)
    legend_below(figure, list(named.values()))
    return figure
