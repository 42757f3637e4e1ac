"""Regions of a plane beside the coefficients of their affine maps, which are dual pictures of one function."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reluscope.arguments import read_drawn
from reluscope.networks.graph.points import Points
from reluscope.partitions.partition_in_memory import Partition
from reluscope.plots.drawing.marks import mark_classes
from reluscope.plots.drawing.polygon_paths import frame as frame_plane
from reluscope.plots.figures import new_figure
from reluscope.plots.planes.coefficient_scatter import Output, frame_dots
from reluscope.plots.planes.frames import Frame, draw_frame, frames_of, handles_of
from reluscope.plots.planes.region_colors import RegionColors
from reluscope.plots.style import INK, canvas, legend_below

SIDE, COLUMN = 4.6, 3.3


@read_drawn
def regions_and_coefficients(
    parts: Partition | Mapping[str, Partition],
    *,
    output: Output = None,
    neighbors: bool = True,
    samples: Points | None = None,
    labels: Int[np.ndarray, " s"] | None = None,
    colors: RegionColors | None = None,
) -> Figure:
    """Draw the regions of a plane, and beside or below them a dot per region at its map's coefficients.

    Parameters
    ----------
    parts : Partition or mapping of titles to Partition
        Of one bounded plane, with their networks, which have the same gates. Several form columns, with equal
        colours for equal codes, and separate limits for the coefficients.
    output : int or pair of int, optional
        As for `reluscope.plots.coefficient_scatter`.
    neighbors : bool
        Join the coefficients of regions that share a facet.
    samples : (s, *input_shape) or (s, n), optional
        Points of input space, marked small at their projection on the plane.
    labels : (s,) int, optional
        Classes of the samples, distinguished by mark and filling.
    colors : RegionColors, optional
        Colours to reuse, so that equal codes match in several pictures.

    Returns
    -------
    matplotlib.figure.Figure
        Boundaries in the colour of the gate that bends there, and the decision boundary: for one output of several,
        where any two largest outputs tie; for the difference of two, where these two tie.

    Raises
    ------
    InputError
        If there is no partition, or they are not of one bounded plane, or networks are missing.
    ShapeError
        If there is not one label per sample.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.full(1, -0.5))])
    >>> figure = rs.plots.regions_and_coefficients(rs.partition(net, rs.Box(-1, 1, 2)))
    >>> figure.get_suptitle()
    '4 regions (EXACT)'
    """
    given, titles = ([parts], None) if isinstance(parts, Partition) else (list(parts.values()), list(parts))
    frames = frames_of(given, titles, output, colors or RegionColors())
    beside = len(frames) == 1
    size = (2 * SIDE + 1.0, SIDE + 0.8) if beside else (COLUMN * len(frames) + 0.8, 2 * COLUMN + 0.9)
    figure = new_figure(size)
    grid = figure.subplots(1 if beside else 2, 2 if beside else len(frames), squeeze=False)
    pairs = [(grid[0, 0], grid[0, 1])] if beside else list(zip(*grid, strict=True))
    marks: list[Line2D] = []
    for column, (frame, (left, right)) in enumerate(zip(frames, pairs, strict=True)):
        marks = set_axes(left, right, [frame], samples, labels)
        draw_frame(left, right, frame, neighbors=neighbors)
        if beside:
            set_title(figure, frame)
        else:
            left.set_title(frame.title)
        if column:
            left.set_ylabel("")
            right.set_ylabel("")
    legend_below(figure, [*handles_of(frames), *marks])
    return figure


def set_axes(
    left: Axes,
    right: Axes,
    frames: Sequence[Frame],
    samples: Points | None,
    labels: Int[np.ndarray, " s"] | None,
) -> list[Line2D]:
    """Draw what frames on the same axes share, and return what the legend says of the samples."""
    for axes in (left, right):
        canvas(axes, (0.0, 0.0))
    frame_plane(left, frames[0].domain)
    marks = mark_classes(left, frames[0].domain, samples, labels)
    frame_dots(right, [frame.dots for frame in frames], is_plane=True)
    return marks


def set_title(figure: Figure, frame: Frame) -> None:
    """Write the title of a frame above both axes."""
    figure.suptitle(frame.title, fontsize=11, color=INK)
