"""Number of transitions between linear regions along trajectories, over the distance covered."""

from collections.abc import Mapping

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reluscope.analyses.sensitivity.region_changes import TRANSITIONS
from reluscope.arguments import read_drawn
from reluscope.findings import Claim, Findings
from reluscope.plots.style import bare, canvas, category, dashes, figure_of, legend, say


@read_drawn
def transitions(found: Mapping[str, Findings], *, axes: Axes | None = None) -> Figure:
    """Draw the number of transitions along trajectories, over the distance covered.

    Parameters
    ----------
    found : mapping of names to Findings
        From `reluscope.sensitivity.transitions`. One per trajectory, or one per network on the same trajectory.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        Steps over the distance covered; names contain the number, with "at least" if it is a lower bound.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> found = rs.sensitivity.transitions(net, [[-1.0, -2.0], [2.0, 1.0]])
    >>> rs.plots.transitions({"diagonal": found}).axes[0].get_ylabel()
    'transitions so far'
    """
    axes = canvas(axes, (6.4, 3.4))
    handles: list[Artist] = []
    for index, (name, one) in enumerate(found.items()):
        number = one.total(TRANSITIONS)
        starts = np.concatenate([[0.0], np.cumsum(one.details["lengths"])])
        inside = [start + places for start, places in zip(starts, one.details["places"], strict=False)]
        corners = np.repeat(starts[1:], one.details["corner_transitions"])
        where = np.sort(np.concatenate([*inside, corners, np.zeros(0)]))
        steps = np.concatenate([[0.0], where, starts[-1:]])
        counts = np.concatenate([np.arange(len(where) + 1), [len(where)]])
        style = {"color": category(index), "linestyle": dashes(index)}
        axes.step(steps, counts, where="post", linewidth=1.4, **style)
        least = "" if number.claim is Claim.EXACT else "at least "
        handles.append(Line2D([], [], linewidth=1.8, label=f"{name}: {least}{int(number):,}", **style))
    if not handles:
        say(axes, "there are no trajectories")
        return figure_of(axes)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("distance along the segment")
    axes.set_ylabel("transitions so far")
    bare(axes, "top", "right")
    legend(axes, handles)
    return figure_of(axes)
