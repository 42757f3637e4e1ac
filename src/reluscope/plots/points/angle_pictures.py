"""Angles between the hyperplanes of a region: a matrix of all pairs, and the distribution of the angles.

Right angles are white, narrow angles (parallel hyperplanes that bound alike) orange, wide ones blue. Gates are apart,
and so are the counts: one curve for the pairs within each gate, one for all pairs.
"""

from typing import Any

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch

from reluscope.analyses.local.hyperplane_angles import Directions
from reluscope.arguments import read_drawn
from reluscope.plots.drawing.without_axes import unmark
from reluscope.plots.figures import new_figure
from reluscope.plots.style import INK, bare, canvas, depth_colors, legend, say, scale_beside, shortened

TURNS = LinearSegmentedColormap.from_list("turns", ["#7f2704", "#E69F00", "#ffffff", "#56B4E9", "#08306b"])
MAX_CURVES = 7
NEARLY_ALL, LEAST_REACH = 0.999, 1.0


@read_drawn
def directions(found: Directions) -> Figure:
    """Draw the angles between all hyperplanes at a point, and their distribution within gates.

    Parameters
    ----------
    found : Directions
        May have no row; without an image (``pixels=0``) only the curves are drawn.

    Returns
    -------
    matplotlib.figure.Figure
        Left: each cell is the mean angle over a block of rows and columns. Blocks do not cross gates; the number of
        rows is beside each gate's name. The colour scale extends as far from a right angle as nearly all cells do.
        Right: the share of pairs per bin, on a logarithmic scale, with the mean of all pairs.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0.0, 0.0, 0.0]), ([[1.0, 1.0, 1.0]], [0.0])])
    >>> figure = rs.plots.directions(rs.local.directions(net, [[2.0, 1.0]])[0])
    >>> figure.axes[1].get_title()
    'mean angle 60.0°'
    """
    figure = new_figure((9.2, 4.3))
    left, right = (canvas(axes, (0.0, 0.0)) for axes in figure.subplots(1, 2, width_ratios=(1.25, 1.0)))
    _image(left, found)
    _curves(right, found)
    return figure


def _image(axes: Axes, found: Directions) -> None:
    unmark(axes)
    bare(axes, "top", "right", "left", "bottom")
    if not found.image.size:
        say(axes, "there is no image" if len(found) else "no unit has a hyperplane here")
        return
    reach = _reach(found.image)
    norm = Normalize(90.0 - reach, 90.0 + reach)
    axes.imshow(found.image, norm=norm, cmap=TURNS, interpolation="none")
    edges = np.searchsorted(found.pixels, found.rows)
    sizes = np.diff(found.rows)
    shown = np.flatnonzero(sizes)
    for edge in edges[shown[1:]]:
        axes.axhline(edge - 0.5, color=INK, linewidth=0.8)
        axes.axvline(edge - 0.5, color=INK, linewidth=0.8)
    middle = (edges[:-1] + edges[1:] - 1) / 2
    # Names of narrow gates would lie on each other.
    room = [gate for gate in shown.tolist() if sizes[gate] >= len(found) / 24]
    axes.set_yticks([middle[gate] for gate in room],
                    [f"{shortened(found.gates[gate], 14)} ({sizes[gate]:,})" for gate in room])  # fmt: skip
    axes.tick_params(length=0)
    block = int(np.diff(found.pixels).max())
    cell = "a cell is one pair of rows" if block == 1 else f"a cell is the mean over up to {block:,} × {block:,} pairs"
    left_out = f"; {found.num_constant:,} constant rows left out" if found.num_constant else ""
    axes.set_xlabel(cell + left_out)
    scale_beside(axes, norm, TURNS, "angle in degrees", extend="neither" if reach == 90.0 else "both")


def _reach(image: Float[np.ndarray, "p p"]) -> float:
    """Return how far from a right angle colours reach, in degrees.

    As far as nearly all cells do, or nothing would be seen of the means over thousands of pairs, which are close to it;
    those on the diagonal hold the angles of rows to themselves.
    """
    away = np.abs(image - 90.0)[~np.eye(len(image), dtype=bool)]
    return float(np.clip(np.quantile(away, NEARLY_ALL), LEAST_REACH, 90.0)) if len(away) else 90.0


def _curves(axes: Axes, found: Directions) -> None:
    axes.set_xlabel("angle in degrees")
    axes.set_ylabel("share of pairs per bin")
    axes.set_xlim(0.0, 180.0)
    axes.set_xticks(range(0, 181, 45))
    bare(axes, "top", "right")
    if not found.all_counts.any():
        axes.set_yticks([])
        say(axes, "there are no pairs of hyperplanes")
        return
    present = [gate for gate in range(len(found.gates)) if found.counts[gate, gate].any()]
    if len(present) > MAX_CURVES:
        present = [present[place] for place in np.linspace(0, len(present) - 1, MAX_CURVES).round().astype(int)]
    handles = []
    for gate, color in zip(present, depth_colors(len(present)), strict=True):
        counts = found.counts[gate, gate]
        label = f"within {shortened(found.gates[gate], 18)}"
        handles.append(_curve(axes, counts, found.edges, color=color, linewidth=1.4, label=label))
    every = _curve(axes, found.all_counts, found.edges, color=INK, linewidth=1.0, alpha=0.6, label="all pairs")
    axes.set_yscale("log")
    axes.set_title(f"mean angle {found.mean:.1f}°")
    legend(axes, [*handles, every])


def _curve(axes: Axes, counts: Int[np.ndarray, " b"], edges: Float[np.ndarray, " b1"], **style: Any) -> StepPatch:
    """Draw the share of every bin; empty ones have no place on a logarithmic scale."""
    return axes.stairs(np.where(counts > 0, counts / counts.sum(), np.nan), edges, baseline=None, **style)
