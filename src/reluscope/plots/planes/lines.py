"""A partitioned line: outputs as exact piecewise linear curves over a strip of regions, and kinks gate by gate."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from reluscope.analyses.planes.class_areas import ClassAreas
from reluscope.analyses.planes.class_intervals import class_intervals
from reluscope.errors import InputError, ShapeError
from reluscope.geometry.polyhedra.domains import Slice
from reluscope.networks.graph.points import Points
from reluscope.partitions.partition_in_memory import Partition
from reluscope.plots.drawing.coloring import Color, coloring
from reluscope.plots.drawing.marks import OFF, UNKNOWN, on_the_domain
from reluscope.plots.drawing.polygon_paths import Pen, Polygons, limits, say_empty
from reluscope.plots.drawing.without_axes import frame_image
from reluscope.plots.planes.class_regions import class_shades
from reluscope.plots.style import (
    DARK,
    INK,
    NEUTRAL,
    RASTER_ABOVE,
    bare,
    canvas,
    category,
    depth_colors,
    figure_of,
    legend,
    say,
    shortened,
)

LEVELS = 32
MAX_CURVES = 10
MAX_DOTS = 200
MAX_TICKS = 1_500


def draw_line(
    part: Partition,
    color: Color | ClassAreas,
    label: str,
    *,
    lines: bool,
    samples: Points | None,
    sample_labels: Sequence[str] | None,
    class_names: Sequence[str] | None,
    axes: Axes | None,
) -> Figure:
    """Draw outputs along a line above a strip of its regions; parameters are those of `reluscope.plots.partition`.

    Of more than ten outputs, those are drawn that are the largest on most of the line. A partition without its network
    has no curves.
    """
    if isinstance(color, ClassAreas):
        raise InputError('areas of classes belong to a plane: say color="class" for a line')
    axes = canvas(axes, (6.9, 3.9))
    _frame(axes, part)
    strip = axes.inset_axes((0.0, 1.03, 1.0, 0.09))
    strip.set_xlim(axes.get_xlim())
    strip.set_ylim(0, 1)
    frame_image(strip, 0.8)
    handles = _curves(axes, part, class_names)
    if part.num_open:
        strip.axvspan(*axes.get_xlim(), zorder=0.5, **UNKNOWN)
        handles.append(Patch(label="not reached: work stopped early", **UNKNOWN))
    if len(part):
        if isinstance(color, str) and color == "class":
            handles += _class_strip(strip, part, class_names, handles)
        else:
            handles += _strip(axes, strip, part, color, label)
        if lines and len(part) <= MAX_TICKS:
            _stroke_upright(Pen(strip, 0), _sides(part)[1:, 0], 0.0, 1.0, DARK, 0.5 if len(part) < 300 else 0.25)
    mark_samples(axes, part, samples, sample_labels)
    legend(axes, handles)
    return figure_of(axes)


def draw_bends(
    part: Partition, samples: Points | None, sample_labels: Sequence[str] | None, axes: Axes | None
) -> Figure:
    """Draw one row per gate with a tick where it bends the network; parameters are those of `boundaries`."""
    gates = part.codes.layout.gates
    axes = canvas(axes, (6.9, min(14.0, 1.3 + 0.32 * max(1, len(gates)))))
    _frame(axes, part)
    axes.set_ylim(len(gates) - 0.4, -0.6)
    facets, names = part.facets if len(part) else None, []
    for index, (gate, color) in enumerate(zip(gates, depth_colors(len(gates)), strict=True)):
        # A kink where units of several gates change belongs to each of their rows.
        at = np.zeros(0) if facets is None else _bends(part, index)
        width = float(np.clip(260.0 / (len(at) + 1), 0.3, 1.4))
        _stroke_upright(Pen(axes, len(at)), at, index - 0.36, index + 0.36, color, width)
        names.append(f"{index + 1}. {shortened(gate.name)} ({len(at):,})")
    axes.set_yticks(range(len(gates)), names)
    axes.tick_params(axis="y", length=0)
    bare(axes, "top", "right", "left")
    if not len(part):
        say_empty(axes, part.num_open)
    elif not len(part.facets):
        say(axes, "one region, without kinks on the line")
    handles: list[Artist] = []
    if part.num_open and len(part):
        handles.append(Line2D([], [], linestyle="none", label="parts of the line were not reached: work stopped early"))
    mark_samples(axes, part, samples, sample_labels)
    legend(axes, handles)
    return figure_of(axes)


def mark_samples(axes: Axes, part: Partition, samples: Points | None, labels: Sequence[str] | None) -> None:
    """Draw points of input space as upright lines with their labels; dashed ones lie off the line, at their foot."""
    if samples is None:
        return
    places, away = on_the_domain(part.bounded_domain, samples)
    if labels is not None and len(labels) != len(places):
        raise ShapeError(f"expected one label per sample, got {len(labels)} labels for {len(places)} samples")
    low, high = axes.get_xlim()
    for index, (place, distance) in enumerate(zip(places[:, 0], away, strict=True)):
        style = "--" if distance > OFF * (high - low) else "-"
        axes.axvline(place, color=INK, linewidth=1.1, linestyle=style, alpha=0.8)
        if labels is not None:
            right = (place - low) / (high - low) > 0.8
            axes.annotate(
                shortened(labels[index]),
                (place, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(-4 if right else 4, -4),
                textcoords="offset points",
                ha="right" if right else "left",
                va="top",
                color=INK,
                fontsize=9,
                fontweight="bold",
            )


def _frame(axes: Axes, part: Partition) -> None:
    low, high = limits(part.bounded_domain)
    axes.set_xlim(low[0], high[0])
    axes.set_xlabel("distance from the first point" if isinstance(part.bounded_domain, Slice) else "input 0")


def _sides(part: Partition) -> Float[np.ndarray, "r 2"]:
    """Return the ends of all regions in ascending order."""
    sides = part.vertices[part.region_vertices[1].reshape(-1, 2), 0]
    return sides[np.argsort(sides[:, 0], kind="stable")]


def _bends(part: Partition, gate: int) -> Float[np.ndarray, " k"]:
    facets = part.facets
    owners = np.repeat(np.arange(len(facets)), np.diff(facets.flip_offsets))
    return part.vertices[facets.vertices[np.unique(owners[facets.flips[:, 0] == gate]), 0], 0]


def _curves(axes: Axes, part: Partition, names: Sequence[str] | None) -> list[Artist]:
    """Draw outputs between the ends of the regions, interrupted where regions are missing."""
    if part.network is None or not len(part):
        axes.set_yticks([])
        if len(part):
            say(axes, "no outputs: the partition was loaded without its network")
        else:
            say_empty(axes, part.num_open)
        return []
    ids = part.region_vertices[1].reshape(-1, 2)
    ids = ids[np.argsort(part.vertices[ids[:, 0], 0], kind="stable")]
    broken = np.flatnonzero(ids[:-1, 1] != ids[1:, 0])
    rows = np.insert(np.append(ids[:, 0], ids[-1, 1]), np.repeat(broken + 1, 2), np.repeat(ids[broken, 1], 2))
    at = part.vertices[rows, 0]
    at[broken + 2 + 2 * np.arange(len(broken))] = np.nan
    number = part.outputs.shape[1]
    chosen = np.arange(number)
    if number > MAX_CURVES:
        chosen = np.sort(np.argsort(-class_intervals(part).by_class(number), kind="stable")[:MAX_CURVES])
    handles: list[Artist] = []
    dots = {"marker": "o", "markersize": 2.6} if len(part) <= MAX_DOTS else {}
    for rank, one in enumerate(chosen):
        color = category(int(one) if number <= MAX_CURVES else rank)
        name = "output" if number == 1 else f"output {one}" if names is None else shortened(str(names[one]))
        axes.plot(at, part.outputs[rows, one], color=color, linewidth=1.4, rasterized=len(part) > RASTER_ABOVE, **dots)
        if number > 1:
            handles.append(Line2D([], [], color=color, linewidth=1.6, label=name))
    few = "" if number <= MAX_CURVES else f", {MAX_CURVES} of {number:,}"
    axes.set_ylabel("output" if number == 1 else f"outputs{few}")
    return handles


def _strip(axes: Axes, strip: Axes, part: Partition, color: Color, label: str) -> list[Patch]:
    colors = coloring(part, color, label)
    sides = part.vertices[part.region_vertices[1].reshape(-1, 2), 0]
    Pen(strip, len(part)).fill_each(_intervals(sides), colors.group, colors.palette)
    return colors.explain(axes)


def _class_strip(strip: Axes, part: Partition, names: Sequence[str] | None, curves: Sequence[Artist]) -> list[Artist]:
    """Fill a strip with the classes; those whose curve is in the legend already are not named again."""
    found = class_intervals(part)
    number = max(2, part.outputs.shape[1])
    shades, pen, intervals = class_shades(found.by_class(number)), Pen(strip, len(part)), _intervals(found.ends)
    for one, shade in shades.items():
        pen.fill(intervals, found.classes == one, shade)
    others = ~np.isin(found.classes, list(shades))
    pen.fill(intervals, others, NEUTRAL)
    if curves and number <= MAX_CURVES:
        strip.set_ylabel("largest", rotation=0, ha="right", va="center", fontsize=8.5, color=INK)
        return []
    named = [Patch(color=shade, label=f"class {one}" if names is None else shortened(str(names[one])))
             for one, shade in shades.items()]  # fmt: skip
    return [*named, Patch(color=NEUTRAL, label="other classes")] if others.any() else list(named)


def _intervals(ends: Float[np.ndarray, "k 2"]) -> Polygons:
    """Return intervals as polygons of a strip of height 1."""
    corners = np.stack([ends[:, [0, 1, 1, 0]], np.tile([0.0, 0.0, 1.0, 1.0], (len(ends), 1))], axis=2)
    return 4 * np.arange(len(ends) + 1), corners.reshape(-1, 2)


def _stroke_upright(pen: Pen, at: Float[np.ndarray, " k"], low: float, high: float, color: str, width: float) -> None:
    ends = np.stack([np.stack([at, np.full(len(at), low)], 1), np.stack([at, np.full(len(at), high)], 1)], axis=1)
    pen.stroke(ends, color, width)
