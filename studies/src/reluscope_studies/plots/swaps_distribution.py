"""Number of classes of Boolean functions by their swaps value."""

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reluscope.plots.style import INK, bare, canvas, category, figure_of


def swaps_distribution(counts: Mapping[int, int], *, noun: str = "NPN classes", axes: Axes | None = None) -> Figure:
    """Draw the number of classes or functions by their swaps value.

    Parameters
    ----------
    counts : mapping of int to int
        Swaps value to number.
    noun : str
        What is counted.
    axes : matplotlib Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> figure = swaps_distribution({0: 1, 1: 2, 2: 1})
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['1', '2', '1']
    """
    axes = canvas(axes, (5.2, 3.0))
    values = sorted(counts)
    bars = axes.bar(values, [counts[value] for value in values], width=0.72, color=category(0))
    axes.bar_label(bars, labels=[f"{counts[value]:,}" for value in values], padding=2, color=INK, fontsize=8.5)
    axes.set_xticks(values)
    axes.set_xlabel("swaps value")
    axes.set_ylabel(noun)
    axes.margins(y=0.12)
    bare(axes, "top", "right")
    return figure_of(axes)
