"""Accuracy of pruned networks over the share of weights that remain, with the channels that remain."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from reluscope import Claim
from reluscope.arguments import read_drawn
from reluscope.extending.analyses import ACCURACY
from reluscope.plots.style import INK, bare, canvas, category, dashes, figure_of, legend
from reluscope_studies.pruning.pruning_curve import SHARE_OF_WEIGHTS, PruningCurve

MARKS = ("o", "s", "D", "^")
# Names of steps would lie over each other.
MAX_NAMED = 12
# Names of smaller shares would reach across the vertical axis.
LEAST_NAMED = 0.04


@read_drawn
def pruning_curves(curves: Mapping[str, PruningCurve], *, axes: Axes | None = None) -> Figure:
    """Draw the accuracies of pruned networks over the share of their weights.

    Parameters
    ----------
    curves : mapping of names to PruningCurve
    axes : matplotlib axes, optional
        Axes to draw in; by default a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        One line per curve. If steps remove channels, some steps are labelled with the remaining channels, layer by
        layer. If rounding leaves an accuracy open, its interval is a bar.

    Examples
    --------
    >>> from reluscope_studies import pruning
    >>> import torch, reluscope as rs
    >>> module = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    >>> curve = pruning.prune_by_magnitude(module, [0.5], fine_tune=lambda module: None, test_x=torch.eye(2),
    ...                                           test_labels=[0, 1])
    >>> pruning_curves({"weights": curve}).axes[0].get_xlabel()
    'weights that are left'
    """
    axes = canvas(axes, (7.2, 4.2))
    handles = []
    for index, (name, curve) in enumerate(curves.items()):
        shares, accuracies = curve.findings[SHARE_OF_WEIGHTS].value, curve.findings[ACCURACY]
        order = np.argsort(shares, kind="stable")
        look = {"color": category(index), "linestyle": dashes(index), "marker": MARKS[index % len(MARKS)]}
        axes.plot(100 * shares[order], 100 * accuracies.value[order], linewidth=1.5, markersize=3.5, **look)
        for share, low, high, claim in zip(shares, accuracies.lower, accuracies.upper, accuracies.claims, strict=True):
            if claim is not Claim.EXACT:
                axes.plot([100 * share] * 2, [100 * low, 100 * high], color=category(index), linewidth=1.2)
        _name_channels(axes, curve, category(index))
        handles.append(Line2D([], [], linewidth=1.5, markersize=3.5, label=name, **look))
    axes.xaxis.set_major_formatter(PercentFormatter())
    axes.yaxis.set_major_formatter(PercentFormatter())
    axes.set_xlim(left=0)
    axes.set_xlabel("weights that are left")
    axes.set_ylabel("accuracy")
    axes.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
    bare(axes, "top", "right")
    legend(axes, handles)
    return figure_of(axes)


def _name_channels(axes: Axes, curve: PruningCurve, color: str) -> None:
    """Write the channels that are left below some of the steps at which they change, evenly over the shares."""
    channels = curve.findings.details["channels"].tolist()
    if all(one == channels[0] for one in channels):
        return
    last = None
    shares, accuracies = curve.findings[SHARE_OF_WEIGHTS].value, curve.findings[ACCURACY].value
    for share, accuracy, left in zip(shares, accuracies, channels, strict=True):
        if share < LEAST_NAMED or (last is not None and last - share < 1 / MAX_NAMED):
            continue
        last = share
        axes.annotate(
            "-".join(map(str, left)),
            (100 * share, 100 * accuracy),
            xytext=(0, -7),
            textcoords="offset points",
            fontsize=7,
            color=color,
            rotation=60,
            ha="right",
            va="top",
        )
