"""Number of linear regions by the number of classes within them: exact, and by the test at likeliest points."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from reluscope.analyses.local.classes_of_regions import NUM_AT_LIKELIEST, NUM_CLASSES
from reluscope.arguments import read_drawn
from reluscope.findings import Findings
from reluscope.plots.drawing.without_axes import say_alone
from reluscope.plots.style import INK, bare, canvas, category, figure_of, legend

WIDTH = 0.38


@read_drawn
def class_numbers(found: Findings, *, axes: Axes | None = None) -> Figure:
    """Draw the number of regions with points of one, two, three and more classes.

    Parameters
    ----------
    found : Findings
        From `local.region_classes`.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        Two bars for each number: classes with a point in the region, and (hatched) at their likeliest points.
    """
    axes = canvas(axes, (6.4, 2.8))
    bare(axes, "top", "right")
    if not found.is_done.any():
        say_alone(axes, "no region has an interior")
        return figure_of(axes)
    exact, tested = (found[name].value[found.is_done].astype(int) for name in (NUM_CLASSES, NUM_AT_LIKELIEST))
    numbers = np.arange(min(exact.min(), tested.min()), max(exact.max(), tested.max()) + 1)
    handles = []
    for side, values, label, hatch in (
        (-1, exact, "classes with a point of the region", ""),
        (1, tested, "classes that own their likeliest point", "////"),
    ):
        heights = [int((values == number).sum()) for number in numbers]
        color = category(0 if side < 0 else 1)
        bars = axes.bar(
            numbers + side * WIDTH / 2, heights, WIDTH, facecolor=color, edgecolor="#ffffff", hatch=hatch, label=label
        )
        axes.bar_label(bars, [str(height) if height else "" for height in heights], fontsize=8.5, padding=1, color=INK)
        handles.append(bars)
    axes.set_xticks(numbers)
    axes.set_xlim(numbers[0] - 0.6, numbers[-1] + 0.6)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.margins(y=0.12)
    axes.set_xlabel("classes in one region")
    axes.set_ylabel("regions")
    legend(axes, handles, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure_of(axes)
