"""Losses of many networks over the epochs of their training, one line per network, in groups."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reluscope.plots.style import INK, bare, canvas, category, dashes, figure_of, legend

# Below it a loss is as good as none; a logarithmic axis needs an end.
MIN_LOSS = 1e-6


def losses_in_training(losses: Mapping[str, Float[np.ndarray, "k e"]], *, axes: Axes | None = None) -> Figure:
    """Draw how the losses of networks fall.

    Parameters
    ----------
    losses : mapping of names to (k, e) arrays
        Of the k networks of a group, before every epoch and after the last.
    axes : matplotlib axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        Groups by colour and dashes, on a logarithmic axis that ends at 1e-6.

    Examples
    --------
    >>> figure = losses_in_training({"1 unit": np.array([[0.7, 0.6], [0.7, 0.1]]), "2 units": np.array([[0.7, 0.0]])})
    >>> len(figure.axes[0].lines), figure.axes[0].get_yscale()
    (3, 'log')
    """
    axes = canvas(axes, (6.4, 3.6))
    handles = []
    for index, (name, group) in enumerate(losses.items()):
        look = {"color": category(index), "linestyle": dashes(index)}
        for line in group:
            axes.plot(np.arange(len(line)), np.maximum(line, MIN_LOSS), linewidth=0.9, alpha=0.8, **look)
        handles.append(Line2D([], [], linewidth=1.5, label=name, **look))
    axes.set_yscale("log")
    axes.set_xlabel("epoch")
    axes.set_ylabel("loss")
    axes.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
    bare(axes, "top", "right")
    legend(axes, handles)
    return figure_of(axes)
