"""Distributions of the sizes of linear regions: one panel per location, one outline per network.

Reference: Zhang and Wu, "Empirical studies on the properties of linear regions in deep neural networks", 2020,
Figure 3.
"""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from reluscope.arguments import read_drawn
from reluscope.plots.drawing.outlines import edges_of_equal_ratio, outlines
from reluscope.plots.drawing.without_axes import say_alone
from reluscope.plots.figures import new_figure
from reluscope.plots.style import INK, bare, canvas, legend_below, number_logarithmically

BINS = 30


@read_drawn
def size_distributions(
    sizes: Mapping[str, Mapping[str, Float[np.ndarray, " _"]]],
    *,
    label: str = "radius of the inscribed ball",
) -> Figure:
    """Draw histograms of the sizes of regions at several locations, for every network.

    Parameters
    ----------
    sizes : mapping of locations to mappings of networks to sizes
        Colours and dashes of networks follow their order of first occurrence.
    label : str
        Meaning of the sizes.

    Returns
    -------
    matplotlib.figure.Figure
        Outlines of histograms of shares in bins of equal ratio, the same in all panels; triangles mark the medians.
        Zero, infinite and missing sizes are omitted from the logarithmic scale; a panel shows their number.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> sizes = {"manifold": {"vanilla": np.array([0.1, 0.2]), "dropout": np.array([0.2, 0.4, 0.0])}}
    >>> figure = rs.plots.size_distributions(sizes)
    >>> figure.axes[0].get_title(), figure.axes[0].texts[0].get_text()
    ('manifold', '1 not shown')
    """
    names = list(dict.fromkeys(name for group in sizes.values() for name in group))
    figure = new_figure((2.9 * max(2, len(sizes)) + 0.5, 3.1))
    panels = figure.subplots(1, max(1, len(sizes)), squeeze=False, sharex=True, sharey=True)[0]
    shown = {
        location: {name: _positive(group.get(name, np.zeros(0))) for name in names} for location, group in sizes.items()
    }
    every = np.concatenate([np.zeros(0), *(values for group in shown.values() for values in group.values())])
    for axes in panels:
        canvas(axes, (0.0, 0.0))
        bare(axes, "top", "right")
    if not len(every):
        for axes in panels:
            say_alone(axes, "no size is finite and positive")
        return figure
    edges = edges_of_equal_ratio(every, BINS)
    number_logarithmically(panels[0], (edges[-1] / edges[0]) ** (1.0 if len(panels) == 1 else 2.0))
    handles = []
    for axes, (location, group) in zip(panels, shown.items(), strict=True):
        handles = outlines(axes, group, edges)
        axes.set_title(location, fontsize=9.5, color=INK)
        missing = sum(len(values) for values in sizes[location].values()) - sum(map(len, group.values()))
        if missing:
            axes.text(
                1.0,
                1.0,
                f"{missing:,} not shown",
                transform=axes.transAxes,
                ha="right",
                va="top",
                fontsize=8,
                color=INK,
            )
        axes.set_xlabel(label)
    panels[0].set_ylabel("share of regions (%)")
    if len(names) > 1:
        legend_below(figure, handles)
    return figure


def _positive(values: Float[np.ndarray, " _"]) -> Float[np.ndarray, " _"]:
    values = np.asarray(values, dtype=np.float64)
    return values[np.isfinite(values) & (values > 0)]
