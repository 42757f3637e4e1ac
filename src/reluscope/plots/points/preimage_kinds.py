"""The kinds of preimages over the number of units that are equations: figure 4 of Behrmann et al. 2018."""

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from reluscope.analyses.preimages.kinds import PreimageKind, Preimages
from reluscope.arguments import read_drawn
from reluscope.plots.style import INK, bare, canvas, category, dashes, figure_of, legend, say

BINS = 40
HATCHES = ("", "///", "...", "\\\\\\")
# In the order of the paper's question: from what is given away least.
ORDER = (PreimageKind.SINGLETON, PreimageKind.COMPACT, PreimageKind.UNBOUNDED, PreimageKind.EMPTY)


@read_drawn
def preimages(found: Preimages, *, axes: Axes | None = None) -> Figure:
    """Draw how many preimages are of each kind over the number of units that are equations.

    Parameters
    ----------
    found : Preimages
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        A stacked histogram, kinds told apart by colour and hatching; a line at as many equations as inputs if it is
        within reach.
    """
    axes = canvas(axes, (6.4, 3.0))
    if not len(found):
        say(axes, "no outputs")
        return figure_of(axes)
    low, high = int(found.num_equations.min()), int(found.num_equations.max())
    step = max(1, -(-(high - low + 1) // BINS))
    size = found.points.shape[1]
    # As many equations as inputs begin a bin: full rank takes so many.
    first = size - step * -(-(size - low) // step)
    edges = first - 0.5 + step * np.arange((high - first) // step + 2)
    below = np.zeros(len(edges) - 1)
    handles: list[Artist] = []
    for index, kind in enumerate(ORDER):
        counts, _ = np.histogram(found.num_equations[found.kinds == kind], edges)
        if not counts.any():
            continue
        label = f"{kind.name.lower()} {counts.sum():,}"
        style = {"facecolor": category(index), "edgecolor": "#ffffff", "hatch": HATCHES[index], "linewidth": 0.4}
        axes.bar(edges[:-1], counts, width=step, bottom=below, align="edge", **style)
        below += counts
        handles.append(Patch(label=label, **style))
    if edges[0] <= size <= edges[-1] + 0.1 * (edges[-1] - edges[0]):
        axes.axvline(size - 0.5, color=INK, linewidth=1.0, linestyle=dashes(1))
        handles.append(Line2D([], [], color=INK, linewidth=1.0, linestyle=dashes(1), label=f"{size:,} inputs"))
    axes.set_ylim(bottom=0)
    axes.set_xlabel(f"units of {found.gate} with a positive output" if _is_relu(found) else "units that are equations")
    axes.set_ylabel("outputs")
    bare(axes, "top", "right")
    legend(axes, handles, ncols=len(handles), loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure_of(axes)


def _is_relu(found: Preimages) -> bool:
    return found.gate.startswith("relu") and "relu6" not in found.gate
