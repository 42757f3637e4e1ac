"""Regions of a line or a plane, coloured by any quantity."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from reluscope.analyses.planes.class_areas import ClassAreas
from reluscope.arguments import holds_across_jumps, read_drawn, refuse_jumps
from reluscope.errors import InputError
from reluscope.networks.graph.points import Points
from reluscope.partitions.ask.enclosing_windows import in_enclosing_window
from reluscope.partitions.partition_in_memory import Partition
from reluscope.plots.drawing.coloring import Color, Scale, coloring
from reluscope.plots.drawing.marks import mark_labelled, mark_samples, outline
from reluscope.plots.drawing.polygon_paths import Pen, frame, plane_size, region_polygons, say_empty
from reluscope.plots.planes.class_regions import draw_classes
from reluscope.plots.planes.lines import draw_line
from reluscope.plots.style import (
    DARK,
    canvas,
    figure_of,
    legend,
)


@read_drawn
@holds_across_jumps
def partition(
    part: Partition,
    *,
    color: Color | ClassAreas = None,
    label: str = "",
    lines: bool = True,
    samples: Points | None = None,
    labels: Int[np.ndarray, " s"] | None = None,
    sample_labels: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    coarse: Partition | None = None,
    axes: Axes | None = None,
) -> Figure:
    """Draw the regions of a line or a plane.

    On a plane, each region is filled with its colour. On a line, the outputs are drawn as exact piecewise linear
    curves, with a strip of the regions below.

    Parameters
    ----------
    part : Partition
        Of one or two dimensions; may be empty or have stopped early. Of an unbounded domain (a ray, a line, a whole
        plane) the picture shows a window that meets every region and every facet.
    color : str, callable or (r,) array, optional
        ``"activation_rate"``: share of active units, over gates of two pieces (the default if it is not the same
        everywhere); ``"class"``: exact areas where each output is the largest, with the decision boundary (computed
        areas may be given instead: `ClassAreas`); ``"area"``: area, or length on a line, on a logarithmic scale;
        ``"random"``: six tints without meaning, equal for equal codes in every picture (the default otherwise);
        or the name of another quantity of regions, as ``"map_norm"`` or ``"inradius"``. A callable receives the
        partition and returns (r,) values. Text, truth values and whole numbers of up to ten different values are
        categories; other numbers are a scale.
    label : str
        Meaning of the colours; by default the name of the quantity.
    lines : bool
        Draw the boundaries between regions.
    samples : (s, *input_shape) or (s, n), optional
        Points of input space to mark; points off the line or plane are hollow circles at their projection.
    labels : (s,) int, optional
        Class of each sample on a plane, shown as colour.
    sample_labels : sequence of str, optional
        Names of the samples.
    class_names : sequence of str, optional
        Names of the classes, and of the outputs on a line; by default their numbers.
    coarse : Partition, optional
        Partition of the plane by the first gates (`coarse_partition`), drawn where regions were not reached.
    axes : matplotlib axes, optional
        Axes to draw in; by default a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        Never shown. If work stopped early, the part that was not reached is hatched.

    Raises
    ------
    InputError
        If the partition has other dimensions, the colour is unknown, or classes are requested for a partition that
        was loaded without its network.
    ShapeError
        If there is not one colour per region or one label per sample.

    Notes
    -----
    100,000 regions take about a second; above 20,000 regions vector files contain them as pixels.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> part = rs.partition(net, rs.Box(-1, 1, 2))
    >>> figure = rs.plots.partition(part, color=lambda part: np.linalg.norm(part.witnesses, axis=1), label="distance")
    >>> figure.axes[0].get_xlabel()
    'input 0'
    """
    check_dimensions(part)
    if isinstance(color, str) and color == "class":
        refuse_jumps('partition(color="class")', part)
    part, color = in_sight(part, color)
    shared: dict[str, Any] = {"lines": lines, "samples": samples, "sample_labels": sample_labels, "axes": axes}
    if part.dim == 1:
        if labels is not None:
            raise InputError("labels colour samples on a plane: on a line, name them with sample_labels")
        return draw_line(part, color, label, class_names=class_names, **shared)
    if isinstance(color, ClassAreas) or (isinstance(color, str) and color == "class"):
        return draw_classes(part, color, labels=labels, class_names=class_names, coarse=coarse, **shared)
    colors = coloring(part, color, label)
    axes = canvas(axes, plane_size(part.bounded_domain, 0.8 if isinstance(colors, Scale) else 0.0))
    frame(axes, part.bounded_domain)
    handles: list[Patch] = []
    if not len(part):
        say_empty(axes, part.num_open)
    else:
        Pen(axes, len(part)).fill_each(region_polygons(part), colors.group, colors.palette)
        handles += colors.explain(axes)
    if lines and len(part):
        draw_lines(axes, part)
    handles += outline(axes, part, coarse)
    marks = mark_labelled(axes, part, samples, labels, class_names)
    mark_samples(axes, part, samples, sample_labels, only_names=labels is not None)
    legend(axes, [*handles, *marks])
    return figure_of(axes)


def in_sight(part: Partition, values: Color | ClassAreas = None) -> tuple[Partition, Any]:
    """Return a partition with values of its rows in a window that meets all faces, where its domain is unbounded."""
    if part.window.is_bounded():
        return part, values
    shown, rows = in_enclosing_window(part)
    return shown, values[rows] if isinstance(values, np.ndarray) and len(values) == len(rows) else values


def check_dimensions(part: Partition) -> None:
    """Raise InputError unless a partition is of a line or a plane."""
    if part.dim not in (1, 2):
        raise InputError(
            f"a picture of regions needs the partition of a line or a plane, got one of {part.domain.describe()}: "
            "partition a slice of it, such as Plane(a, b, c)"
        )


def draw_lines(axes: Axes, part: Partition) -> None:
    """Draw the boundaries between regions, thin enough to leave most of the picture to the regions."""
    width = float(np.clip(18.0 / np.sqrt(len(part) + 1), 0.08, 0.8))
    Pen(axes, len(part)).stroke(facet_ends(part), DARK, width, alpha=0.55)


def facet_ends(part: Partition) -> np.ndarray:
    """Return the ends of all boundaries between two regions, (f, 2, 2); of all sides of regions where gates jump."""
    if part.jumps:
        offsets, ids = part.region_vertices
        following = np.arange(1, len(ids) + 1)
        following[offsets[1:] - 1] = offsets[:-1]
        return part.vertices[np.stack([ids, ids[following]], axis=1)]
    return part.vertices[part.facets.vertices] if len(part) else np.zeros((0, 2, 2))
