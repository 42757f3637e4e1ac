"""The regions of a network in space as solids: whole, pulled apart, or large ones faded so that small ones are seen."""

from typing import Literal

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reluscope.arguments import NonNegative, Share, read_drawn
from reluscope.partitions.partition_in_memory import Partition
from reluscope.plots.drawing.coloring import Color, coloring
from reluscope.plots.drawing.polygon_paths import limits, why_empty
from reluscope.plots.space.facet_polygons import check_space, region_facets
from reluscope.plots.space.painting import painted, show_scene
from reluscope.plots.space.pixels import Pixels
from reluscope.plots.space.scenes import Scene, names_of
from reluscope.plots.space.view_directions import View

# Opacities of the largest and the smallest region where they fade by volume.
FAINTEST, FULL = 0.015, 0.95


@read_drawn
def solid(
    part: Partition,
    *,
    explode: NonNegative = 0.0,
    color: Color = None,
    label: str = "",
    fade: Literal["volume"] | Share = 0.0,
    lines: bool = True,
    view: View | None = None,
    pixels: Pixels = 1000,
    axes: Axes | None = None,
) -> Figure:
    """Draw the regions of a bounded part of space as solids.

    Parameters
    ----------
    part : Partition
        Of three dimensions, with corners; may be empty or have stopped early.
    explode : float
        Shift of regions away from the middle, as a multiple of their distance from it; the sides then have no
        numbers.
    color : str, callable or (r,) array, optional
        As for `reluscope.plots.partition`: ``"random"``, a quantity as ``"volume"``, a callable, or values.
    label : str
        Meaning of the colours.
    fade : float or "volume"
        Transparency of facets, from 0 to 1; with ``"volume"`` it grows with the region, and the smallest are
        practically opaque.
    lines : bool
        Draw the edges of regions.
    view : View, optional
        Direction of view.
    pixels : int
        Pixels along the longer side, at most 2,800.
    axes : matplotlib axes, optional
        Axes to draw in; by default a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        Never shown.

    Raises
    ------
    InputError
        If the partition is not of a bounded part of space, holds no corners, or the colour is unknown.
    ShapeError
        If there is not one colour per region.

    Notes
    -----
    Qhull computes facets, in a tenth of a millisecond for each region. Transparent facets are sorted for every
    pixel.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(3), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))])
    >>> part = rs.partition(net, rs.Box(-1, 1, 3))
    >>> figure = rs.plots.solid(part, explode=0.4, color="random")
    >>> len(figure.axes[0].images)
    1
    """
    check_space(part)
    colors = coloring(part, color, label)
    facets = region_facets(part)
    low, high = limits(part.domain)
    middle = (low + high) / 2
    points, ids = facets.points, facets.ids
    if explode > 0:
        # Corners of their own, which move with their regions.
        owners = np.repeat(facets.regions, np.diff(facets.offsets))
        keys, ids = np.unique(owners * max(1, len(points)) + ids, return_inverse=True)
        owner, corner = np.divmod(keys, max(1, len(points)))
        points = points[corner] + explode * (part.witnesses[owner] - middle)
        low, high = middle + (1 + explode) * (low - middle), middle + (1 + explode) * (high - middle)
    shades = painted(colors)
    shades[:, 3] = _opacities(part, fade)
    scene = Scene(
        points, facets.offsets, ids, shades[facets.regions], low, high, names_of(part.domain) if not explode else None
    )
    empty, left = why_empty(len(part), part.num_open), part.num_open
    return show_scene(axes, scene, view, colors, lines=lines, pixels=pixels, empty=empty, num_open=left)


def _opacities(part: Partition, fade: str | float) -> Float[np.ndarray, " r"]:
    """Return the opacity of every region."""
    if not isinstance(fade, str):
        return np.full(len(part), 1.0 - fade)
    rank = np.argsort(np.argsort(part.volumes(), kind="stable"), kind="stable") / max(1, len(part) - 1)
    return FULL * (FAINTEST / FULL) ** rank
