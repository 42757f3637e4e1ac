"""Regions of a plane as pixels, from a file: one region for each pixel, however many there are."""

from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from reluscope.arguments import Count, read_drawn
from reluscope.codes.activation_rate import activation_rate
from reluscope.codes.packed import Codes
from reluscope.codes.random_kinds import random_kinds
from reluscope.errors import InputError
from reluscope.geometry.polyhedra.domains import Box, Slice
from reluscope.partitions.streamed_partition import StreamedPartition, rows_of_pixels
from reluscope.plots.drawing.coloring import Kinds, Scale
from reluscope.plots.drawing.marks import draw_window, unreached_handle
from reluscope.plots.drawing.polygon_paths import frame, limits, plane_size, say_empty
from reluscope.plots.style import canvas, figure_of, legend

# Where in its pixel a point is asked for: in the middle, and on no line that networks are likely to have.
PLACE = 0.5 + 1e-3 / np.pi, 0.5 - 1e-3 / np.e


@read_drawn
def raster(
    part: StreamedPartition,
    *,
    color: Literal["activation_rate", "area", "random"] | None = None,
    pixels: Count = 400,
    axes: Axes | None = None,
) -> Figure:
    """Draw the regions of a plane in a file: every pixel has the colour of the region at its centre.

    Parameters
    ----------
    part : StreamedPartition
        Of a plane or a box of two dimensions, with its network.
    color : str, optional
        ``"activation_rate"``: share of active units, over gates of two pieces (the default if there are such
        gates); ``"area"``, on a logarithmic scale; ``"random"``: six tints without meaning, those of `partition`.
    pixels : int
        Pixels along the longer side. Regions without a pixel centre are invisible.
    axes : matplotlib axes, optional
        Axes to draw in; by default a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        Never shown. If work stopped early, the part that was not reached is hatched.

    Raises
    ------
    InputError
        If the partition is not of a bounded plane, was loaded without its network, or lacks the data for the
        colour.

    Notes
    -----
    The network is evaluated at every pixel; only row groups that contain pixels are read.

    Examples
    --------
    >>> import numpy as np, reluscope as rs, tempfile
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     part = rs.stream(net, rs.Box(-1, 1, 2), f"{folder}/regions.parquet")
    ...     figure = rs.plots.raster(part, pixels=20)
    >>> figure.axes[0].images[0].get_array().shape
    (20, 20, 4)
    """
    domain = part.domain
    if part.dim != 2 or not isinstance(domain, Slice | Box):
        raise InputError(
            f"a raster shows a bounded plane, got a partition of {domain.describe()}: partition a Plane, or a Box of "
            "two dimensions"
        )
    low, high = limits(domain)
    number = np.maximum(1, np.round(pixels * (high - low) / (high - low).max())).astype(int)
    x, y = (low[i] + (high[i] - low[i]) * (np.arange(number[i]) + PLACE[i]) / number[i] for i in (0, 1))
    rows = rows_of_pixels(part, np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2))
    known = np.unique(rows[rows >= 0])
    colors = _colors(part, known, color)
    axes = canvas(axes, plane_size(domain, 0.8 if isinstance(colors, Scale) else 0.0))
    frame(axes, domain)
    handles: list[Patch] = []
    if not len(known):
        say_empty(axes, part.num_open)
    else:
        shades, handles = np.array(colors.palette)[colors.group], colors.explain(axes)
        # Behind the last one is what no region is known for: nothing is painted there.
        picture = np.concatenate([shades, np.zeros((1, 4))])[
            np.where(rows < 0, len(known), np.searchsorted(known, rows))
        ]
        extent = (low[0], high[0], low[1], high[1])
        picture = picture.reshape(len(y), len(x), 4)
        axes.imshow(picture, origin="lower", extent=extent, interpolation="nearest", aspect=axes.get_aspect(), zorder=1)
    is_hatched = bool(part.num_open) and len(known) > 0
    draw_window(axes, domain, is_hatched=is_hatched)
    legend(axes, [*handles, *([unreached_handle()] if is_hatched else [])])
    return figure_of(axes)


def _colors(part: StreamedPartition, rows: np.ndarray, color: str | None) -> Kinds | Scale:
    """Return the groups or the scale of some regions."""
    found = part.take(rows)
    codes = Codes(found.words, part.layout)
    rate = activation_rate(codes)
    if color is None:
        color = "random" if rate is None else "activation_rate"
    if color == "random":
        return Kinds(random_kinds(codes), ())
    if color == "activation_rate":
        if rate is None:
            raise InputError(
                'an activation rate needs gates of two pieces, and this network has none: use color="random" or "area"'
            )
        return Scale(rate, "share of active units")
    if found.volumes is None:
        raise InputError(
            f"{part.path} holds no areas, because regions were found by {part.method}: leave method out, or use "
            "another color"
        )
    return Scale(found.volumes, "area", True)
