"""Eigenvalues of the mean products of gradients, in descending order: the share of variation of each direction."""

from collections.abc import Mapping

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reluscope.analyses.sensitivity.gradient_covariance import ActiveSubspaces
from reluscope.arguments import read_drawn
from reluscope.plots.outlines import number_logarithmically
from reluscope.plots.style import bare, canvas, category, dashes, figure_of, legend, say


@read_drawn
def gradient_eigenvalues(found: Mapping[str, ActiveSubspaces], *, axes: Axes | None = None) -> Figure:
    """Draw the eigenvalues of networks as shares of their sums, on a logarithmic axis.

    Parameters
    ----------
    found : mapping of names to ActiveSubspaces
        One per network.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        Medians over outputs, with bands from the least to the largest; of each network as far as eigenvalues are above
        their rounding.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> found = rs.sensitivity.active_subspaces(net, [[1.0, 1.0], [1.0, -1.0]])
    >>> gradient_eigenvalues({"two units": found}).axes[0].get_xlabel()
    'direction, from the largest eigenvalue'
    """
    axes = canvas(axes, (6.4, 3.6))
    handles: list[Artist] = []
    for index, (name, one) in enumerate(found.items()):
        shares = _shares(one)
        if not shares.size:
            continue
        where = np.arange(1, shares.shape[1] + 1)
        color, style = category(index), dashes(index)
        if len(shares) > 1:
            # Beyond its rank an output has no place on a logarithmic axis: bands end where one does.
            axes.fill_between(where, shares.min(axis=0), shares.max(axis=0), color=color, alpha=0.15, lw=0)
        mark = "o" if len(where) == 1 else None
        axes.plot(where, np.median(shares, axis=0), color=color, ls=style, lw=1.5, marker=mark, markersize=4)
        handles.append(Line2D([], [], color=color, ls=style, lw=1.8, marker=mark, markersize=4, label=name))
    if not handles:
        say(axes, "no output varies beyond rounding")
        return figure_of(axes)
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    number_logarithmically(axes, high / low, along="y")
    axes.set_xlabel("direction, from the largest eigenvalue")
    axes.set_ylabel("share of the variation")
    bare(axes, "top", "right")
    legend(axes, handles if len(handles) > 1 else [])
    return figure_of(axes)


def _shares(one: ActiveSubspaces) -> np.ndarray:
    """Return eigenvalues by their sums, of the outputs that vary, as far as all of these are above their rounding."""
    ranks = one.ranks
    chosen = ranks > 0
    if not chosen.any():
        return np.zeros((0, 0))
    return one.eigenvalues[chosen, : int(ranks[chosen].min())] / one.traces[chosen, None]
