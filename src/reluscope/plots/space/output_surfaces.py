"""The graph of an output over a plane, z = f(x, y), as an exact surface: flat over every region."""

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reluscope.arguments import read_drawn, read_position
from reluscope.errors import InputError, ShapeError
from reluscope.geometry.polyhedra.domains import Space
from reluscope.partitions.partition_in_memory import Partition
from reluscope.plots.drawing.coloring import Color, coloring
from reluscope.plots.drawing.polygon_paths import limits, why_empty
from reluscope.plots.space.painting import painted, show_scene
from reluscope.plots.space.pixels import Pixels
from reluscope.plots.space.scenes import Scene, names_of
from reluscope.plots.space.view_directions import View

# How high a picture is, as a share of how wide; and what is left free below and above the surface.
HEIGHT, FREE = 0.7, 0.04


@read_drawn
def output_surface(
    part: Partition,
    *,
    output: int = 0,
    maps: Float[np.ndarray, "r 3"] | None = None,
    color: Color = None,
    label: str = "",
    name: str = "",
    lines: bool = True,
    view: View | None = None,
    pixels: Pixels = 1000,
    axes: Axes | None = None,
) -> Figure:
    """Draw an output over the regions of a plane, as a surface that is flat over each.

    Parameters
    ----------
    part : Partition
        Partition of a bounded plane, with its network; may be empty or have stopped early.
    output : int
        Index of the output.
    maps : (r, 3) array, optional
        Two slopes and the value at the origin for every region, drawn instead of the network's own; the surface has
        steps where the maps of neighbours differ.
    color : str, callable or (r,) array, optional
        As for `reluscope.plots.partition`: ``"random"``, a quantity as ``"area"``, a callable, or values.
    label : str
        Meaning of the colours.
    name : str
        Name of the third axis, by default the output.
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
        Never shown. The third axis has its own scale.

    Raises
    ------
    InputError
        If the partition is not of a bounded plane, holds no corners or no network, or there is no such output.
    ShapeError
        If there is not one colour or one map per region.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> figure = rs.plots.output_surface(rs.partition(net, rs.Box(-1, 1, 2)), color="random")
    >>> [text.get_text() for text in figure.axes[0].texts][-1]
    'output 0'
    """
    if part.dim != 2 or isinstance(part.domain, Space) or not part.domain.is_bounded():
        raise InputError(
            "the surface of an output needs the partition of a bounded plane, got one of "
            f"{part.domain.describe()}: partition a Box of two inputs, or a Plane"
        )
    offsets, ids = part.region_vertices
    if maps is None or part.network is not None:
        output = read_position(output, "output", part.network_on_domain.num_outputs, "outputs")
    if maps is None:
        points, heights = part.vertices, part.outputs[:, output]
    else:
        if len(maps) != len(part):
            raise ShapeError(f"expected a map for each of {len(part):,} regions, (r, 3), got shape {maps.shape}")
        own = np.repeat(maps, np.diff(offsets), axis=0)
        points, ids = part.vertices[ids], np.arange(len(ids))
        heights = (points * own[:, :2]).sum(axis=1) + own[:, 2]
    colors = coloring(part, color, label)
    low, high = limits(part.domain)
    bottom, top = (float(heights.min()), float(heights.max())) if len(heights) else (0.0, 1.0)
    free = FREE * (top - bottom) or max(1.0, abs(top)) / 2
    bottom, top = bottom - free, top + free
    scene = Scene(
        np.column_stack([points, heights]),
        offsets,
        ids,
        painted(colors),
        np.append(low, bottom),
        np.append(high, top),
        (*names_of(part.domain)[:2], name or f"output {output}"),
        (1.0, 1.0, HEIGHT * float((high - low).max()) / (top - bottom)),
    )
    empty, left = why_empty(len(part), part.num_open), part.num_open
    return show_scene(axes, scene, view, colors, lines=lines, pixels=pixels, empty=empty, num_open=left)
