"""Linear regions around points, for several networks: their number, and the cosines of their decision directions.

Reference: Zhang and Wu, "Empirical studies on the properties of linear regions in deep neural networks", 2020, Figures
6 and 12.
"""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from reluscope.arguments import read_drawn
from reluscope.plots.drawing.outlines import outlines
from reluscope.plots.drawing.without_axes import say_alone
from reluscope.plots.figures import new_figure
from reluscope.plots.style import INK, bare, canvas, category, legend_below, shortened, tint

# Of cosines: bins begin and end this far outside.
OUTSIDE = 1e-9
BINS = 40
HATCHES = ("", "////", "....")


@read_drawn
def surrounding_regions(
    numbers: Mapping[str, Mapping[str, Int[np.ndarray, " _"]]],
    cosines: Mapping[str, Mapping[str, Float[np.ndarray, " _"]]],
) -> Figure:
    """Draw numbers of regions around points, and cosines of decision directions with the points' own.

    Parameters
    ----------
    numbers : mapping of settings to mappings of networks to numbers
        Distinct regions around every point. Settings are, for instance, learning rates.
    cosines : mapping of settings to mappings of networks to cosines
        Cosines for all regions around all points; NaN if there is no direction. Without any setting only boxes are
        drawn.

    Returns
    -------
    matplotlib.figure.Figure
        Left: boxes from the first to the third quartile with the median; whiskers reach to the last point within
        1.5 times the box, dots are points beyond. Boxes of one network are adjacent, one for each setting. Right: a
        panel of cosines for each setting, as shares in bins of equal width; triangles mark the medians.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> figure = rs.plots.surrounding_regions({"": {"a": np.array([3, 4, 9])}}, {"": {"a": np.array([0.9, 1.0])}})
    >>> [axes.get_xlabel() for axes in figure.axes]
    ['', 'cosine of decision directions']
    """
    names = list(dict.fromkeys(name for table in (numbers, cosines) for group in table.values() for name in group))
    widths = [1.1, *([1.0] * len(cosines))]
    figure = new_figure((3.0 * len(widths) + 0.5, 3.3))
    left, *panels = figure.subplots(1, len(widths), width_ratios=widths, squeeze=False)[0]
    for axes in (left, *panels):
        canvas(axes, (0.0, 0.0))
        bare(axes, "top", "right")
    handles = _boxes(left, numbers, names)
    lines = _cosines(panels, cosines, names)
    if len(names) > 1 or len(handles) > 1:
        legend_below(figure, [*(handles if len(handles) > 1 else ()), *(lines if len(names) > 1 else ())])
    return figure


def _boxes(axes: Axes, numbers: Mapping[str, Mapping[str, np.ndarray]], names: list[str]) -> list[Patch]:
    axes.set_ylabel("distinct regions around a point")
    handles = []
    width = 0.7 / max(1, len(numbers))
    drawn = False
    for index, (setting, group) in enumerate(numbers.items()):
        face, hatch = tint(INK, (0.12, 0.3, 0.45)[index % 3]), HATCHES[index % len(HATCHES)]
        handles.append(Patch(facecolor=face, edgecolor=INK, hatch=hatch, linewidth=0.8, label=shortened(setting, 40)))
        for place, name in enumerate(names):
            values = np.asarray(group.get(name, np.zeros(0)))
            if not len(values):
                continue
            drawn = True
            axes.boxplot(
                values,
                positions=[place + (index - (len(numbers) - 1) / 2) * width],
                widths=min(0.82 * width, 0.3 * len(names)),
                patch_artist=True,
                manage_ticks=False,
                boxprops={"facecolor": face, "edgecolor": INK, "linewidth": 0.8, "hatch": hatch},
                whiskerprops={"color": INK, "linewidth": 0.8},
                capprops={"color": INK, "linewidth": 0.8},
                medianprops={"color": category(5), "linewidth": 1.8},
                flierprops={"marker": ".", "markersize": 2.5, "markeredgecolor": INK, "alpha": 0.5},
            )
    if not drawn:
        say_alone(axes, "there are no points")
        return []
    axes.set_xticks(range(len(names)), [shortened(name, 14) for name in names])
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
    return handles


def _cosines(panels: list[Axes], cosines: Mapping[str, Mapping[str, np.ndarray]], names: list[str]) -> list[Line2D]:
    known = {
        setting: {name: _known(group.get(name, np.zeros(0))) for name in names} for setting, group in cosines.items()
    }
    every = np.concatenate([np.zeros(0), *(values for group in known.values() for values in group.values())])
    if not len(every):
        for axes in panels:
            say_alone(axes, "no region lies around")
        return []
    low = min(float(every.min()), 0.9)
    edges = np.linspace(low - OUTSIDE, 1.0 + OUTSIDE, BINS + 1)
    handles = []
    highest = 0.0
    for axes, (setting, group) in zip(panels, known.items(), strict=True):
        handles = outlines(axes, group, edges)
        axes.set_title(setting, fontsize=9.5, color=INK)
        axes.set_xlabel("cosine of decision directions")
        axes.set_xlim(low, 1.0)
        highest = max(highest, axes.get_ylim()[1])
    for axes in panels:
        axes.set_ylim(0, highest)
    panels[0].set_ylabel("share of regions (%)")
    return handles


def _known(values: np.ndarray) -> np.ndarray:
    values = np.asarray(values, dtype=np.float64)
    # Rounding may take a cosine of parallel directions just beyond 1.
    return np.clip(values[np.isfinite(values)], -1.0, 1.0)
