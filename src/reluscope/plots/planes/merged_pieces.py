"""Pieces into which regions of a plane were merged, and the regions they consist of."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reluscope.analyses.compression.merged_regions import MergedRegions
from reluscope.arguments import read_drawn
from reluscope.errors import InputError
from reluscope.plots.drawing.marks import outline
from reluscope.plots.drawing.polygon_paths import Pen, frame, plane_size, region_polygons
from reluscope.plots.planes.region_pictures import facet_ends
from reluscope.plots.style import DARK, canvas, category, figure_of, legend, tint


@read_drawn
def merged_regions(merged: MergedRegions, *, axes: Axes | None = None) -> Figure:
    """Draw the pieces of a plane, with thick lines between pieces and thin lines between their regions.

    Parameters
    ----------
    merged : MergedRegions
        Of two dimensions.
    axes : matplotlib axes, optional
        Axes to draw in; by default a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        Colours only distinguish neighbouring pieces.

    Raises
    ------
    InputError
        If the partition is not of a plane.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> merged = rs.compression.merge_regions(rs.partition(net, rs.Box(-1, 1, 2)), 0.6)
    >>> rs.plots.merged_regions(merged).axes[0].get_xlabel()
    'input 0'
    """
    part = merged.partition
    if part.dim != 2:
        raise InputError(f"a picture of pieces needs the partition of a plane, got one of {part.domain.describe()}")
    axes = canvas(axes, plane_size(part.bounded_domain))
    frame(axes, part.bounded_domain)
    left, right = part.facets.left, part.facets.right
    across = merged.labels[left] != merged.labels[right]
    colors = _colors(merged.labels[left[across]], merged.labels[right[across]], len(merged))[merged.labels]
    pen, ends = Pen(axes, len(part)), facet_ends(part)
    shades = [tint(category(color), 0.45) for color in range(int(colors.max(initial=0)) + 1)]
    pen.fill_each(region_polygons(part), colors, shades)
    pen.stroke(ends[~across], DARK, 0.4, alpha=0.35)
    pen.stroke(ends[across], DARK, 1.4)
    handles = [
        Line2D([], [], color=DARK, linewidth=1.4, label=f"{len(merged):,} pieces"),
        Line2D([], [], color=DARK, linewidth=0.4, alpha=0.6, label=f"{len(part):,} regions"),
    ]
    legend(axes, [*handles, *outline(axes, part)])
    return figure_of(axes)


def _colors(left: np.ndarray, right: np.ndarray, number: int) -> np.ndarray:
    """Return one colour per piece, the lowest that no earlier neighbour has, pieces with most neighbours first."""
    neighbors: list[set[int]] = [set() for _ in range(number)]
    for a, b in zip(left.tolist(), right.tolist(), strict=True):
        neighbors[a].add(b)
        neighbors[b].add(a)
    colors = np.full(number, -1)
    for piece in sorted(range(number), key=lambda one: -len(neighbors[one])):
        taken = {int(colors[other]) for other in neighbors[piece]}
        colors[piece] = next(color for color in range(number) if color not in taken)
    return colors
