"""Eigenvalues of the mean products of gradients, in descending order: the share of variation of each direction."""

from collections.abc import Mapping

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from reluscope.analyses.sensitivity.gradient_covariance import ActiveSubspaces
from reluscope.analyses.sensitivity.gradient_spectra import EPSILON
from reluscope.arguments import read_drawn
from reluscope.plots.style import (
    INK,
    bare,
    canvas,
    category,
    dashes,
    figure_of,
    legend,
    number_logarithmically,
    say,
)

THIN = 0.7


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
        Medians over outputs, with bands from the smallest to the largest, for eigenvalues above the numerical zero.
        Lines are thin where an output's eigenvalue does not exceed its bound on rounding, which grows faster with
        depth than rounding does.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> found = rs.sensitivity.active_subspaces(net, [[1.0, 1.0], [1.0, -1.0]])
    >>> rs.plots.gradient_eigenvalues({"two units": found}).axes[0].get_xlabel()
    'direction, from the largest eigenvalue'
    """
    axes = canvas(axes, (6.4, 3.6))
    handles: list[Artist] = []
    thin: list[Artist] = []
    for index, (name, one) in enumerate(found.items()):
        shares, certain = _shares(one)
        if not shares.size:
            continue
        where, median = np.arange(1, shares.shape[1] + 1), np.median(shares, axis=0)
        color, style = category(index), dashes(index)
        if len(shares) > 1:
            # Beyond its rank an output has no place on a logarithmic axis: bands end where one does.
            axes.fill_between(where, shares.min(axis=0), shares.max(axis=0), color=color, alpha=0.15, lw=0)
        mark = "o" if len(where) == 1 else None
        looks = {"color": color, "ls": style, "marker": mark, "markersize": 4}
        axes.plot(where[:certain], median[:certain], lw=1.5, **looks)
        if certain < len(where):
            axes.plot(where[max(0, certain - 1) :], median[max(0, certain - 1) :], lw=THIN, **looks)
            thin = [Line2D([], [], color=INK, lw=THIN, label="within bounds on rounding")]
        handles.append(Line2D([], [], lw=1.8, label=name, **looks))
    if not handles:
        say(axes, "no output varies beyond rounding")
        return figure_of(axes)
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    number_logarithmically(axes, high / low, along="y")
    axes.set_xlabel("direction, from the largest eigenvalue")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylabel("share of the variation")
    bare(axes, "top", "right")
    legend(axes, [*handles, *thin] if len(handles) > 1 or thin else [])
    return figure_of(axes)


def _shares(one: ActiveSubspaces) -> tuple[np.ndarray, int]:
    """Return eigenvalues by their sums, of the outputs that vary, as far as all have some; how many are in bounds."""
    of_sums = one.eigenvalues.shape[1] * EPSILON * one.traces
    numbers = (one.eigenvalues > of_sums[:, None]).sum(axis=1)
    chosen = numbers > 0
    if not chosen.any():
        return np.zeros((0, 0)), 0
    shares = one.eigenvalues[chosen, : int(numbers[chosen].min())] / one.traces[chosen, None]
    return shares, min(int(one.ranks[chosen].min()), shares.shape[1])
