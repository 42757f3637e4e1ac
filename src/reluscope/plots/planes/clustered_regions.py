"""Regions of a plane and the coefficients of their maps, coloured by clusters of the latter."""

import numpy as np
from jaxtyping import Float, Int
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reluscope.arguments import read_drawn
from reluscope.errors import InputError, ShapeError
from reluscope.partitions.partition_in_memory import Partition
from reluscope.plots.drawing.polygon_paths import Pen, frame, region_polygons
from reluscope.plots.figures import new_figure
from reluscope.plots.planes.coefficient_scatter import Output, dots_of, frame_dots
from reluscope.plots.planes.region_colors import SHADES, RegionColors
from reluscope.plots.planes.region_pictures import facet_ends
from reluscope.plots.style import DARK, canvas, legend_below

SIDE = 4.4
LARGEST, SMALLEST = 700.0, 6.0


@read_drawn
def region_clusters(
    part: Partition, labels: Int[np.ndarray, " r"], centers: Float[np.ndarray, "k c"], *, output: Output = None
) -> Figure:
    """Draw the cluster of every region of a plane, and beside it the clusters of the coefficients.

    Parameters
    ----------
    part : Partition
        Partition of a bounded plane, with its network.
    labels : (r,) int
        Cluster of every region, at most 20 clusters.
    centers : (k, 3) float64
        Coefficients and constant of every centre.
    output : int or pair of int, optional
        As for `reluscope.plots.coefficient_scatter`.

    Returns
    -------
    matplotlib.figure.Figure
        The area of a dot grows with that of its region; crosses are the centres.

    Raises
    ------
    InputError
        If the partition is not of a plane, or there are too many clusters.
    ShapeError
        If there is not one label per region.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> part = rs.partition(net, rs.Box(-1, 1, 2))
    >>> figure = rs.plots.region_clusters(part, np.array([0, 1, 1, 1]), np.array([[0.0, 0.0, 0.0], [0.5, 0.5, 0.0]]))
    >>> figure.axes[0].get_title()
    '4 regions, 2 clusters'
    """
    if part.dim != 2:
        raise InputError(f"a picture of clusters needs the partition of a plane, got one of {part.domain.describe()}")
    if len(centers) > len(SHADES):
        raise InputError(f"expected at most {len(SHADES)} clusters, to be told apart by colour, got {len(centers)}")
    if labels.shape != (len(part),):
        raise ShapeError(f"expected one label per region, ({len(part)},), got {labels.shape}")
    dots = dots_of(part, output, RegionColors())
    figure = new_figure((2 * SIDE + 0.6, SIDE + 0.5))
    left, right = (canvas(axes, (0.0, 0.0)) for axes in figure.subplots(1, 2))
    frame(left, part.bounded_domain)
    pen = Pen(left, len(part))
    pen.fill_each(region_polygons(part), labels, SHADES)
    pen.stroke(facet_ends(part), DARK, 0.4)
    left.set_title(f"{len(part):,} regions, {len(centers)} clusters", fontsize=9.5)
    frame_dots(right, [dots], is_plane=True)
    order = np.argsort(-dots.shares, kind="stable")
    right.scatter(
        *dots.places[order].T,
        s=np.maximum(SMALLEST, LARGEST * dots.shares[order]),
        c=[SHADES[label] for label in labels[order]],
        edgecolors=DARK,
        linewidths=0.5,
        rasterized=pen.is_raster,
        zorder=3,
    )
    right.scatter(*centers[:, :2].T, s=46, c=DARK, marker="x", linewidths=1.4, zorder=4)
    handles = [Line2D([], [], color=DARK, marker="x", linestyle="", label="centre of a cluster")]
    legend_below(figure, handles)
    return figure
