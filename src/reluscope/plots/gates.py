"""Where each gate bends the network on a plane: boundaries of regions, coloured by depth."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize, to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reluscope.analyses.planes.view import PlaneView
from reluscope.plots.classes import mark_samples
from reluscope.plots.regions import check_plane
from reluscope.plots.shapes import fill, frame, plane_size, say_empty, scale_beside, stroke
from reluscope.plots.style import INK, RASTER_ABOVE, canvas, depth_colors, figure_of, legend

LEVELS = 24
PAPER = LinearSegmentedColormap.from_list("paper", ["#ffffff", "#c3c9d1"])


def boundaries(view: PlaneView, *, axes: Axes | None = None) -> Figure:
    """Draw the boundaries between regions in the colour of the gate that bends there.

    Parameters
    ----------
    view : PlaneView
        May be empty.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        Later gates above earlier ones, in thinner lines; regions in grey by their share of active units, where
        there are gates of two pieces.
    """
    part = view.partition
    check_plane(part)
    axes = canvas(axes, plane_size(part.domain, 0.7))
    frame(axes, part.domain)
    raster = len(part) > RASTER_ABOVE
    if not len(part):
        say_empty(axes)
    else:
        _fill_rate(axes, view, raster)
    ends = part.vertices[part.facets.vertices] if len(part) else np.zeros((0, 2, 2))
    colors = depth_colors(len(view.gate_names))
    base = float(np.clip(55.0 / np.sqrt(len(part) + 1), 0.3, 1.3))
    handles: list[object] = []
    for index in range(len(colors)):
        chosen = view.facet_gates == index
        width = base * (1.0 - 0.4 * index / max(1, len(colors) - 1))
        stroke(axes, ends[chosen], colors[index], width, raster=raster)
        label = f"{index + 1}. {view.gate_names[index]} ({int(chosen.sum()):,})"
        handles.append(Line2D([], [], color=colors[index], linewidth=max(1.6, 1.5 * width), label=label))
    mark_samples(axes, view)
    shown = handles if len(handles) <= 12 else [*handles[:6], *handles[-6:]]
    legend(axes, shown, ncols=3, title="gate (pieces of boundary)", title_fontsize=8.5)
    if axes.get_legend() is not None:
        axes.get_legend().get_title().set_color(INK)  # pyright: ignore[reportOptionalMemberAccess]
    return figure_of(axes)


def _fill_rate(axes: Axes, view: PlaneView, raster: bool) -> None:
    part, rate = view.partition, view.activation_rate
    offsets, ids = part.region_vertices
    corners = part.vertices[ids]
    if rate is None:
        fill(axes, offsets, corners, np.arange(len(part)), "#ffffff", raster=raster)
        return
    low, high = float(rate.min()), float(rate.max())
    norm = Normalize(low, high if high > low else low + 1e-9)
    level = np.minimum((LEVELS * np.asarray(norm(rate))).astype(int), LEVELS - 1)
    for one in np.unique(level):
        shade = to_hex(PAPER((one + 0.5) / LEVELS))
        fill(axes, offsets, corners, np.flatnonzero(level == one), shade, raster=raster)
    if high > low:
        scale_beside(axes, norm, PAPER, "share of active units")
