"""Sizes of regions: samples in order of their distance to the nearest facet, and inscribed balls above them."""

import numpy as np
from jaxtyping import Int
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reluscope.analyses.bodies.inscribed_balls import INRADIUS
from reluscope.analyses.robustness.distance_quantities import BOUNDARY_DISTANCE
from reluscope.arguments import read_drawn
from reluscope.findings import Findings
from reluscope.plots.style import INK, bare, canvas, depth_colors, figure_of, legend, say, shortened


@read_drawn
def radii(
    facets: Findings,
    names: list[str],
    *,
    balls: Findings | None = None,
    axes: Axes | None = None,
) -> Figure:
    """Draw the distance of every sample to its closest facet, in order, and known inscribed radii.

    Parameters
    ----------
    facets : Findings
        With ``boundary_distance``, as from `robustness.boundary_distance`.
    names : list of str
        Names of the gates.
    balls : Findings, optional
        With ``inradius``, for the first of the same samples.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        Dots have the colour of the gate that bends first; diamonds, joined to their sample's dot, are inscribed
        radii. Zero and infinite distances are omitted from the logarithmic scale.
    """
    axes = canvas(axes, (6.4, 3.7))
    distances, gates = facets[BOUNDARY_DISTANCE].value, facets.details["sources"][:, 0]
    shown = np.isfinite(distances) & (distances > 0)
    rank = np.empty(len(distances), dtype=np.int64)
    rank[np.argsort(distances, kind="stable")] = np.arange(1, len(distances) + 1)
    colors = depth_colors(len(names))
    handles: list[Artist] = []
    for gate in _present(gates[shown]):
        chosen = shown & (gates == gate)
        axes.plot(rank[chosen], distances[chosen], "o", color=colors[gate], markersize=3.2, alpha=0.9)
        label = f"{shortened(names[gate])} bends first ({int(chosen.sum()):,})"
        handles.append(Line2D([], [], marker="o", linestyle="", color=colors[gate], markersize=5, label=label))
    if len(handles) > 10:
        handles = [*handles[:5], *handles[-5:]]
    drawn = shown.any()
    if balls is not None:
        inradii = balls[INRADIUS].value
        rows = np.flatnonzero(np.isfinite(inradii) & (inradii > 0))
        places, low, sizes = rank[rows], distances[rows], inradii[rows]
        for place, start, size in zip(places, low, sizes, strict=True):
            if 0 < start < np.inf:
                axes.plot([place, place], [start, size], color=INK, linewidth=0.7, alpha=0.4, zorder=1)
        axes.plot(places, sizes, "D", markerfacecolor="none", color=INK, markersize=4.6, markeredgewidth=1.1)
        if len(places):
            drawn = True
            diamond = Line2D([], [], marker="D", linestyle="", markerfacecolor="none", color=INK)
            diamond.set_label("radius of inscribed ball")
            handles.append(diamond)
    if drawn:
        axes.set_yscale("log")
    else:
        axes.set_yticks([])
        say(axes, "no distance is finite and positive")
    axes.set_xlim(0, len(distances) + 1)
    axes.set_xlabel("samples, by their distance to the nearest facet")
    axes.set_ylabel("distance in input space")
    axes.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
    bare(axes, "top", "right")
    legend(axes, handles)
    return figure_of(axes)


def _present(gates: Int[np.ndarray, " s"]) -> list[int]:
    return [int(gate) for gate in np.unique(gates) if gate >= 0]
