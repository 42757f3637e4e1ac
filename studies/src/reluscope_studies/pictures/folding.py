"""A line mapped by a hidden layer of two units, which separates an interval from its surroundings by folding."""

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reluscope.arguments import read_drawn, read_labels
from reluscope.errors import InputError
from reluscope.extending.pictures import new_figure
from reluscope.plots.style import INK, bare, canvas, category
from reluscope_studies.annulus.shallow import ShallowNetwork

MARKS = ("o", "s")


@read_drawn
def folding(network: ShallowNetwork, points: Float[np.ndarray, " s"], labels: Int[np.ndarray, " s"]) -> Figure:
    """Draw points of a line on their way through a network of one input and two units.

    Parameters
    ----------
    network : ShallowNetwork
    points : (s,) array
    labels : (s,) array
        Their classes.

    Returns
    -------
    matplotlib.figure.Figure
        Above, the points, their pre-activations and what the units make of them; below, the decision boundary seen from
        there back to the line.

    Raises
    ------
    InputError
        If the network has another number of inputs or units.

    Examples
    --------
    >>> from reluscope_studies import annulus
    >>> layers = [([[1.0], [-1.0]], [0.0, 1.0]), ([[2.0, 1.0]], [-2.0])]
    >>> figure = folding(annulus.read_shallow(layers), np.array([-2.0, 0.0, 2.0]), np.array([1, 0, 1]))
    >>> len(figure.axes)
    6
    """
    if (network.num_inputs, network.num_units) != (1, 2):
        raise InputError(f"expected one input and two units, got {network.num_inputs} and {network.num_units}")
    figure = new_figure((9.0, 5.4))
    panels = [canvas(axes, (3.0, 2.7)) for axes in figure.subplots(2, 3).ravel()]
    pre = points[:, None] @ network.weight.T + network.bias
    # Gates have the slope 1 where they are active, so that this is the output's weight.
    output = network.high
    after = np.where(pre > 0, 1.0, network.low / np.where(output == 0, 1.0, output)) * pre
    line = np.stack([points, np.zeros_like(points)], axis=1)
    titles = (
        "points of the line",
        "pre-activations of both units",
        "outputs of both units",
        "decision boundary there",
        "decision boundary before the units",
        "decision boundary on the line",
    )
    labels = read_labels(labels, num_samples=len(points))
    for axes, places, title in zip(panels, (line, pre, after, after, pre, line), titles, strict=True):
        for one in np.unique(labels):
            chosen = places[labels == one]
            index = int(one) % 2
            axes.scatter(*chosen.T, s=18, color=category(index * 5), marker=MARKS[index], linewidths=0, zorder=3)
        axes.set_title(title, fontsize=9.5)
        bare(axes, "top", "right")
    lows, highs = np.minimum(pre.min(axis=0), -0.5) - 0.3, np.maximum(pre.max(axis=0), 0.5) + 0.3
    ticks = [np.linspace(low, high, 400) for low, high in zip(lows, highs, strict=True)]
    grid = np.stack(np.meshgrid(*ticks), axis=-1)
    folded = network.constant + (np.where(grid > 0, network.high, network.low) * grid).sum(axis=-1)
    straight = network.constant + (grid * output).sum(axis=-1)
    for axes, values in ((panels[3], straight), (panels[4], folded)):
        axes.contour(*ticks, values, levels=[0.0], colors=INK, linewidths=1.6)
    for axes in panels[1:5]:
        axes.axhline(0, color=INK, linewidth=0.6, alpha=0.5)
        axes.axvline(0, color=INK, linewidth=0.6, alpha=0.5)
        axes.set(xlim=(lows[0], highs[0]), ylim=(lows[1], highs[1]), xlabel="unit 1", ylabel="unit 2")
    for axes in (panels[0], panels[5]):
        axes.set(xlabel="x", yticks=[], ylim=(-1, 1))
        bare(axes, "left")
    _mark_zeros(panels[5], network, points)
    return figure


def _mark_zeros(axes: Axes, network: ShallowNetwork, points: np.ndarray) -> None:
    ticks = np.linspace(points.min(), points.max(), 4001)
    values = network(ticks[:, None])
    for index in np.flatnonzero((values[:-1] > 0) != (values[1:] > 0)):
        axes.axvline(ticks[index : index + 2].mean(), color=INK, linewidth=1.6)
