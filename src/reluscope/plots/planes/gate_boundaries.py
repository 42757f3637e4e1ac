"""Boundaries between the regions of a line or a plane, coloured by the gate whose units change their piece there."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int, Shaped
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, LinearSegmentedColormap, ListedColormap, to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reluscope.arguments import read_drawn
from reluscope.codes.activation_rate import activation_rate
from reluscope.errors import InputError
from reluscope.networks.graph.points import Points
from reluscope.partitions.partition_in_memory import Partition
from reluscope.plots.drawing.coloring import Kinds, Scale, quantity
from reluscope.plots.drawing.marks import mark_samples, outline
from reluscope.plots.drawing.polygon_paths import Pen, frame, plane_size, region_polygons, say_empty
from reluscope.plots.planes.lines import draw_bends
from reluscope.plots.planes.region_pictures import check_dimensions, facet_ends, in_sight
from reluscope.plots.style import (
    DARK,
    INK,
    canvas,
    depth_colors,
    figure_of,
    legend,
    say,
    shortened,
)

LEVELS = 24
MAX_LISTED = 8
PAPER = LinearSegmentedColormap.from_list("paper", ["#ffffff", "#c3c9d1"])
By = str | Callable[[Partition], Shaped[np.ndarray, " f"]] | Shaped[np.ndarray, " f"]


@read_drawn
def boundaries(
    part: Partition,
    *,
    by: By = "gate",
    label: str = "",
    samples: Points | None = None,
    sample_labels: Sequence[str] | None = None,
    coarse: Partition | None = None,
    axes: Axes | None = None,
) -> Figure:
    """Draw the boundaries between regions in the colour of the gate whose units change their piece there.

    Parameters
    ----------
    part : Partition
        Of one or two dimensions; may be empty or have stopped early.
    by : str, callable or (f,) array
        ``"gate"``: the first gate with a unit that changes its piece across the facet. ``"flips"``: the number of
        units that do, 1 everywhere on networks in general position. A callable receives the partition and returns
        one value per facet, in the order of ``part.facets``. On a line, ``"gate"`` only.
    label : str
        Meaning of the colours.
    samples : (s, *input_shape) or (s, n), optional
        Points of input space to mark; points off the plane are hollow circles at their projection.
    sample_labels : sequence of str, optional
        One per sample.
    coarse : Partition, optional
        Partition of the plane by the first gates (`coarse_partition`), drawn where regions were not reached.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        On a plane: later gates above earlier ones, in thinner lines; regions in grey by their share of active
        units, if there are gates of two pieces. On a line: one row per gate, with a tick at every kink.

    Raises
    ------
    InputError
        If the partition has other dimensions, or ``by`` is unknown.
    ShapeError
        If there is not one value per facet or one label per sample.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> figure = rs.plots.boundaries(rs.partition(net, rs.Box(-1, 1, 2)))
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['1. relu 0 (4)']
    """
    check_dimensions(part)
    if isinstance(by, str):
        part, _ = in_sight(part)
    if isinstance(by, str) and by not in ("gate", "flips"):
        raise InputError(
            f'by must be "gate", "flips", a callable that takes the partition, or an array with one entry per facet, '
            f"got {by!r}"
        )
    if part.dim == 1:
        if not (isinstance(by, str) and by == "gate"):
            raise InputError('kinks along a line are drawn by their gate: leave out by, or say by="gate"')
        return draw_bends(part, samples, sample_labels, axes)
    axes = canvas(axes, plane_size(part.bounded_domain, 0.8))
    frame(axes, part.bounded_domain)
    if len(part):
        _fill_rate(axes, part, has_scale=isinstance(by, str) and by == "gate")
    else:
        say_empty(axes, part.num_open)
    if len(part) and not len(part.facets):
        say(axes, "one region, without boundaries inside the window", DARK)
    if isinstance(by, str):
        facets = part.facets
        handles = (
            _by_gate(axes, part)
            if by == "gate"
            else _by_quantity(axes, part, np.diff(facets.flip_offsets), label or "units that change:")
        )
    else:
        values = by(part) if callable(by) else by
        handles = _by_quantity(axes, part, np.asarray(values), label)
    handles = [*handles, *outline(axes, part, coarse)]
    mark_samples(axes, part, samples, sample_labels)
    title = {"title": "gate (pieces of boundary)"} if isinstance(by, str) and by == "gate" and handles else {}
    legend(axes, handles, **title)
    return figure_of(axes)


def _by_gate(axes: Axes, part: Partition) -> list[Artist]:
    names = [shortened(gate.name) for gate in part.codes.layout]
    gates = part.facets.gates
    stroke_gates(Pen(axes, len(part)), facet_ends(part), gates, len(names))
    width, counts = _width(len(part)), np.bincount(gates, minlength=len(names))
    handles: list[Artist] = [
        Line2D([], [], color=color, linewidth=max(1.6, 1.5 * width), label=f"{index + 1}. {name} ({count:,})")
        for index, (name, color, count) in enumerate(zip(names, depth_colors(len(names)), counts, strict=True))
    ]
    if len(handles) <= MAX_LISTED:
        return handles
    _gates_beside(axes, [str(handle.get_label()) for handle in handles], depth_colors(len(names)))
    return []


def stroke_gates(pen: Pen, ends: Float[np.ndarray, "f 2 2"], gates: Int[np.ndarray, " f"], num_gates: int) -> None:
    """Draw boundaries in the colours of their gates, later gates above earlier ones and thinner."""
    for index, color in enumerate(depth_colors(num_gates)):
        width = _width(pen.number) * (1.0 - 0.4 * index / max(1, num_gates - 1))
        pen.stroke(ends[gates == index], color, width)


def _gates_beside(axes: Axes, texts: list[str], colors: list[str]) -> None:
    """Put a stair of colours at the right, with up to twelve of its gates named."""
    norm = BoundaryNorm(np.arange(len(texts) + 1) - 0.5, len(texts))
    place = axes.inset_axes((1.025, 0.0, 0.03, 1.0))
    shown = np.unique(np.linspace(0, len(texts) - 1, min(12, len(texts))).round().astype(int))
    bar = figure_of(axes).colorbar(ScalarMappable(norm, ListedColormap(colors)), cax=place, ticks=shown)
    bar.ax.set_yticklabels([texts[index] for index in shown])
    bar.ax.tick_params(colors=INK, labelsize=8, length=3)
    bar.ax.minorticks_off()
    bar.ax.invert_yaxis()
    bar.ax.set_title("gate (pieces)", fontsize=8.5, color=INK, loc="left")
    bar.outline.set_edgecolor(INK)  # pyright: ignore[reportCallIssue]


def _by_quantity(axes: Axes, part: Partition, values: np.ndarray, label: str) -> list[Artist]:
    found = quantity(values, len(part.facets), "facet", label)
    colors = replace(found, share=1.0) if isinstance(found, Kinds) else replace(found, num_levels=LEVELS)
    ends, pen, shades = facet_ends(part), Pen(axes, len(part)), colors.palette
    for one in np.unique(colors.group):
        pen.stroke(ends[colors.group == one], to_hex(shades[one]), _width(len(part)))
    return [
        Line2D([], [], color=one.get_facecolor(), linewidth=2, label=str(one.get_label()))
        for one in (colors.explain(axes) if len(ends) else [])
    ]


def _width(num_regions: int) -> float:
    return float(np.clip(55.0 / np.sqrt(num_regions + 1), 0.3, 1.3))


def _fill_rate(axes: Axes, part: Partition, *, has_scale: bool) -> None:
    """Fill regions in grey by their rate; plainly if the place of the scale is not free."""
    pen, polygons, rate = Pen(axes, len(part)), region_polygons(part), activation_rate(part.codes)
    if rate is None or not has_scale or len(part.codes.layout) > MAX_LISTED:
        pen.fill(polygons, np.arange(len(part)), "#ffffff")
        return
    scale = Scale(rate, "share of active units", ramp=PAPER, num_levels=LEVELS)
    pen.fill_each(polygons, scale.group, scale.palette)
    if rate.max() > rate.min():
        scale.explain(axes)
