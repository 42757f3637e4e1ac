"""The boundaries between the regions of a network in space, as bent surfaces in the colours of their gates."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from reluscope.arguments import Share, read_drawn
from reluscope.codes.differences import differences
from reluscope.partitions.partition_in_memory import Partition
from reluscope.plots.drawing.polygon_paths import limits, why_empty
from reluscope.plots.space.facet_polygons import check_space, region_facets
from reluscope.plots.space.painting import Key, show_scene
from reluscope.plots.space.pixels import Pixels
from reluscope.plots.space.scenes import Scene, names_of
from reluscope.plots.space.view_directions import View
from reluscope.plots.style import depth_colors, shortened, tint

WALL_TINT = 0.75


@read_drawn
def boundaries_3d(
    part: Partition,
    *,
    fade: Share = 0.0,
    lines: bool = True,
    view: View | None = None,
    pixels: Pixels = 1000,
    axes: Axes | None = None,
) -> Figure:
    """Draw the boundaries between regions in space, coloured by the gate whose units change piece there.

    Parameters
    ----------
    part : Partition
        Of three dimensions, with corners; may be empty or have stopped early.
    fade : float
        Transparency of boundaries, from 0 to 1.
    lines : bool
        Draw the edges of facets.
    view : View, optional
        Direction of view.
    pixels : int
        Pixels along the longer side, at most 2,800.
    axes : matplotlib axes, optional
        Axes to draw in; by default a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        Never shown. Planes of the first gate are straight; those of later gates bend where they cross earlier ones.

    Raises
    ------
    InputError
        If the partition is not of a bounded part of space, or holds no corners.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(3), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))])
    >>> figure = rs.plots.boundaries_3d(rs.partition(net, rs.Box(-1, 1, 3)))
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['1. relu 0 (12)']
    """
    check_space(part)
    facets = region_facets(part)
    pairs = facets.pairs()
    offsets, units = differences(part.codes, *facets.regions[pairs].T)
    gates, _ = part.codes.layout.locate_units(units[offsets[:-1]])
    names = [shortened(gate.name) for gate in part.codes.layout]
    colors = depth_colors(len(names))
    shades = np.array([(*to_rgb(tint(color, WALL_TINT)), 1.0 - fade) for color in colors])[gates]
    chosen, counts = pairs[:, 0], np.diff(facets.offsets)
    starts = np.concatenate([[0], np.cumsum(counts[chosen])])
    ids = facets.ids[np.repeat(facets.offsets[chosen] - starts[:-1], counts[chosen]) + np.arange(starts[-1])]
    scene = Scene(facets.points, starts, ids, shades, *limits(part.domain), names_of(part.domain))
    numbers = np.bincount(gates, minlength=len(names))
    handles = [
        Patch(color=tint(color, WALL_TINT), label=f"{index + 1}. {name} ({number:,})")
        for index, (name, color, number) in enumerate(zip(names, colors, numbers.tolist(), strict=True))
    ]
    empty = why_empty(len(part), part.num_open)
    if not empty and not len(pairs):
        empty = "one region, without boundaries inside"
    key = Key(handles, "gate (pieces of boundary)")
    return show_scene(axes, scene, view, key, lines=lines, pixels=pixels, empty=empty)
