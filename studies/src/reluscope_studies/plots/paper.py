"""What a paper prints, in pictures of ours: bars at its numbers, lines or strips at its places, always called "paper".

It is drawn in ink, which follows the page, and told from ours by form: no colour has to be known to read it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Num
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from reluscope.plots.style import INK, legend

Numbers = Sequence[float] | Num[np.ndarray, " k"]
LABEL = "paper"
BAR: dict[str, Any] = {"linestyle": "none", "markeredgewidth": 2.4, "color": INK}
DOTS: dict[str, Any] = {"color": INK, "linewidth": 1.8, "linestyle": (0, (1.0, 1.3))}
STRIP: dict[str, Any] = {"facecolor": INK, "alpha": 0.22, "linewidth": 0.0}


def draw_printed(
    axes: Axes, x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray, *, across: bool = False
) -> None:
    """Draw a bar at every printed number; ``across`` where numbers go upwards."""
    axes.plot(x, y, marker="_" if across else "|", markersize=13, zorder=2, **BAR)


def printed_bar(*, across: bool = False) -> Line2D:
    """Return the entry of the legend for printed numbers."""
    return Line2D([], [], marker="_" if across else "|", markersize=11, label=LABEL, **BAR)


def with_paper(
    figure: Figure, *, at: Sequence[float] = (), strip: tuple[float, float] | None = None, said: str = ""
) -> Figure:
    """Draw dotted lines at places that a paper prints, or a strip between two, and add it to the legend.

    Parameters
    ----------
    figure : Figure
        Its first axes are meant, and there the horizontal one.
    at : sequence of float
        Places of lines.
    strip : pair of float, optional
        Where a strip begins and ends.
    said : str
        What the legend says of it behind "paper".

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> figure = Figure()
    >>> axes = figure.add_subplot()
    >>> figure = with_paper(figure, at=[0.2], said="20 %")
    >>> axes.get_legend().get_texts()[0].get_text()
    'paper: 20 %'
    """
    axes = figure.axes[0]
    label = f"{LABEL}: {said}" if said else LABEL
    handles: list[Artist] = []
    if strip is not None:
        axes.axvspan(*strip, zorder=4, **STRIP)
        for end in strip:
            axes.axvline(end, zorder=4, **{**DOTS, "linewidth": 1.2})
        handles.append(Patch(label=label, **STRIP))
    for place in at:
        axes.axvline(place, zorder=1, **DOTS)
    if at:
        handles.append(Line2D([], [], label=label, **DOTS))
    _say(axes, handles)
    return figure


def _say(axes: Axes, handles: list[Artist]) -> None:
    """Put entries behind those of the legend that is there."""
    old = axes.get_legend()
    earlier: list[Artist] = []
    if old is not None:
        for handle, text in zip(old.legend_handles, old.get_texts(), strict=True):
            assert handle is not None
            handle.set_label(text.get_text())
            earlier.append(handle)
    legend(axes, [*earlier, *handles])
