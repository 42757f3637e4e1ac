"""Accuracy of a network whose outputs are reduced to a few affine maps, over their number, for each rule of choice."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, PercentFormatter

from reluscope.analyses.classification.class_predictions import ACCURACY
from reluscope.analyses.compression.curve import NETWORK_ACCURACY
from reluscope.arguments import read_drawn
from reluscope.findings import Claim, Findings
from reluscope.plots.style import INK, bare, canvas, category, dashes, figure_of, legend

# What a rule reads, as a reader would say it.
RULE_NAMES = {
    "own_map": "nearest map (needs the Jacobian)",
    "mean_input": "nearest mean input",
    "nearest_sample": "nearest training sample",
    "logistic": "logistic regression on the input",
}
MARKS = ("o", "D", "s", "^")
BAR, OPEN = 1.2, "left open by rounding or ties"


@read_drawn
def accuracy_curve(curve: Findings, *, axes: Axes | None = None) -> Figure:
    """Draw the accuracies of a network reduced to a few affine maps, and of the network itself.

    Parameters
    ----------
    curve : Findings
        As `reluscope.compression.accuracy_curve` returns it.
    axes : matplotlib axes, optional
        Axes to draw in; by default a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        If rounding or ties leave an accuracy open, its interval is a bar.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.ones((1, 2)), np.array([-1.0]))])
    >>> matrices = rs.coefficients.matrix(net, [[-2.0], [-0.5], [0.5], [2.0]])
    >>> curve = rs.compression.accuracy_curve(matrices, matrices, np.array([1, 0, 0, 1]), (1, 2))
    >>> rs.plots.accuracy_curve(curve).axes[0].get_xlabel()
    'affine functions per output'
    """
    axes = canvas(axes, (5.6, 3.6))
    handles = draw_accuracies(axes, curve)
    legend(axes, handles, ncols=2 if len(handles) > 2 else 1)
    return figure_of(axes)


def draw_accuracies(axes: Axes, curve: Findings) -> list[Line2D]:
    """Draw the accuracies, and return what the legend says of the network, of every rule and of what is open."""
    level = 100 * float(curve.finding(NETWORK_ACCURACY))
    axes.axhline(level, color=INK, linewidth=1.0, alpha=0.7)
    handles = [Line2D([], [], color=INK, linewidth=1.0, alpha=0.7, label=f"the network, {level:.1f}%")]
    bars: list[Line2D] = []
    for index, rule in enumerate(dict.fromkeys(curve.keys["rule"].tolist())):
        color, mark = category(index), MARKS[index % len(MARKS)]
        found = curve.where(rule=rule)
        numbers, shares = found.keys["num_clusters"], found[ACCURACY]
        axes.plot(
            numbers, 100 * shares.value, mark, color=color, linestyle=dashes(index), linewidth=1.5, markersize=4.5
        )
        for number, low, high, claim in zip(numbers, shares.lower, shares.upper, shares.claims, strict=True):
            if claim is not Claim.EXACT:
                axes.plot([number] * 2, [100 * low, 100 * high], color=color, linewidth=BAR)
                bars = [
                    Line2D([], [], color=INK, linewidth=BAR, marker="|", linestyle="none", markersize=9, label=OPEN)
                ]
        label = RULE_NAMES.get(rule, rule)
        handles.append(
            Line2D(
                [], [], color=color, marker=mark, markersize=4.5, linestyle=dashes(index), linewidth=1.5, label=label
            )
        )
    axes.set_xscale("log")
    # Few numbers are named one by one; a logarithmic axis would name powers of ten alone.
    named = np.unique(curve.keys["num_clusters"])
    axes.set_xticks(named, [f"{number:,}" for number in named])
    axes.tick_params(axis="x", which="minor", bottom=False)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(PercentFormatter())
    axes.set_xlabel("affine functions per output")
    axes.set_ylabel("accuracy")
    axes.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
    bare(axes, "top", "right")
    return [*handles, *bars]
