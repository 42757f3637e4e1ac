"""Hamming distances of codes: a heat map of mean distances between classes, and a histogram over pairs."""

from collections.abc import Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from reluscope.analyses.codespace.class_distances import MEAN_DISTANCE
from reluscope.arguments import read_drawn
from reluscope.errors import ShapeError
from reluscope.findings import Findings
from reluscope.plots.style import CATEGORIES, INK, bare, canvas, figure_of, legend, say, scale_beside

BINS = 60


@read_drawn
def class_distances(found: Findings, *, names: Sequence[str] | None = None, axes: Axes | None = None) -> Figure:
    """Draw the mean distances between classes as a table of coloured cells.

    Parameters
    ----------
    found : Findings
        From `codespace.class_distances`.
    names : sequence of str, optional
        Names of the classes in the table; by default their numbers.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        Numbers in the cells are in units; a class of one sample has no distance within.
    """
    classes = np.unique(found.keys["class"])
    number = len(classes)
    means = found[MEAN_DISTANCE].value.reshape(number, number)
    side = 1.6 + 0.42 * max(number, 3)
    axes = canvas(axes, (side + 1.0, side))
    finite = means[np.isfinite(means)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    norm = Normalize(low, high if high > low else low + 1.0)
    colors = colormaps["cividis"]
    axes.imshow(np.ma.masked_invalid(means), cmap=colors, norm=norm, interpolation="none")
    digits = 1 if high < 100 else 0
    size = 8.5 if number <= 12 else 7.0
    for row in range(number):
        for column in range(number):
            value = means[row, column]
            shade = INK if not np.isfinite(value) else "#14181d" if norm(value) > 0.55 else "#ffffff"
            text = f"{value:.{digits}f}" if np.isfinite(value) else "–"
            axes.text(column, row, text, ha="center", va="center", color=shade, fontsize=size)
    labels = [str(int(one)) for one in classes] if names is None else list(names)
    if len(labels) != number:
        raise ShapeError(f"expected one name for each of {number} classes, got {len(labels)}")
    axes.set_xticks(range(number), labels)
    axes.set_yticks(range(number), labels)
    axes.tick_params(length=0)
    axes.set_xlabel("class")
    axes.set_ylabel("class")
    bare(axes, "top", "right", "left", "bottom")
    if high > low:
        scale_beside(axes, norm, colors, "mean distance in units")
    return figure_of(axes)


@read_drawn
def distance_histogram(found: Findings, *, grouped: bool = True, axes: Axes | None = None) -> Figure:
    """Draw the distribution of the distances of pairs of samples.

    Parameters
    ----------
    found : Findings
        From `codespace.pair_distances`.
    grouped : bool
        Distinguish pairs within and between classes.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        Each kind of pair sums to 100 %, so that the many pairs between classes do not hide pairs within classes.
    """
    axes = canvas(axes, (5.4, 3.3))
    within, between, every = found.details["histogram"]
    kinds = [("within a class", within, CATEGORIES[0]), ("between classes", between, CATEGORIES[1])]
    if not grouped:
        kinds = [("all pairs", every, CATEGORIES[0])]
    kinds = [kind for kind in kinds if kind[1].sum()]
    reached = np.flatnonzero(every)
    last = int(reached[-1]) if len(reached) else 1
    first = int(reached[0]) if len(reached) else 0
    width = max(1, -(-(last + 1 - first) // BINS))
    edges = np.arange(first, last + width + 1, width)
    handles: list[Artist] = []
    for name, counts, color in kinds:
        padded = np.concatenate([counts, np.zeros(width + 1, dtype=counts.dtype)])
        sums = np.add.reduceat(padded, edges[:-1])
        sums[-1] = padded[edges[-2] :].sum()
        share = 100 * sums / counts.sum()
        axes.stairs(share, edges - 0.5, fill=True, color=color, alpha=0.45)
        axes.stairs(share, edges - 0.5, color=color, linewidth=1.4)
        handles.append(Patch(facecolor=color, alpha=0.7, label=f"{name} ({int(counts.sum()):,} pairs)"))
    if not kinds:
        say(axes, "there are no pairs")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("units on which two codes differ")
    axes.set_ylabel("% of pairs")
    bare(axes, "top", "right")
    legend(axes, handles, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure_of(axes)
