"""A plane as the classifier sees it: areas of classes, regions, decision boundary, samples."""

from collections.abc import Sequence

import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from reluscope.analyses.planes.view import PlaneView
from reluscope.plots.regions import check_plane
from reluscope.plots.shapes import fill, frame, plane_size, say_empty, stroke
from reluscope.plots.style import DARK, LIGHT, RASTER_ABOVE, canvas, category, figure_of, legend, tint

MOST_NAMED = 11


def class_map(view: PlaneView, *, names: Sequence[str] | None = None, axes: Axes | None = None) -> Figure:
    """Draw which class the network gives where on a plane.

    Parameters
    ----------
    view : PlaneView
        May be empty.
    names : sequence of str, optional
        What the classes are called; by default their numbers.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        Classes in order of their area, boundaries of regions thin, the decision boundary bold, the three samples as
        circles with their class.
    """
    part = view.partition
    check_plane(part)
    axes = canvas(axes, plane_size(part.domain))
    frame(axes, part.domain)
    raster = len(part) > RASTER_ABOVE
    handles: list[object] = []
    if not len(part):
        say_empty(axes)
    areas = view.areas.by_class(int(view.areas.classes.max()) + 1 if len(view.areas) else 0)
    for rank, one in enumerate(np.argsort(-areas, kind="stable")):
        if areas[one] > 0:
            color = tint(category(rank), 0.62)
            chosen = np.flatnonzero(view.areas.classes == one)
            fill(axes, view.areas.offsets, view.areas.corners, chosen, color, raster=raster)
            if len(handles) < MOST_NAMED:
                handles.append(Patch(color=color, label=_name(int(one), names)))
    if len(part):
        width = float(np.clip(14.0 / np.sqrt(len(part)), 0.06, 0.6))
        stroke(axes, part.vertices[part.facets.vertices], DARK, width, raster=raster, alpha=0.45)
    if len(view.boundary):
        stroke(axes, view.boundary.ends, LIGHT, 3.4, raster=False)
        stroke(axes, view.boundary.ends, DARK, 1.9, raster=False)
        handles.append(Line2D([], [], color=DARK, linewidth=1.9, label="decision boundary", path_effects=_halo(3.4)))
    mark_samples(axes, view, names)
    legend(axes, handles, ncols=4)
    return figure_of(axes)


def mark_samples(axes: Axes, view: PlaneView, names: Sequence[str] | None = None) -> None:
    """Draw the three samples of a view as circles, with their classes beside them."""
    axes.plot(*view.samples.T, "o", color=LIGHT, markeredgecolor=DARK, markersize=8, markeredgewidth=1.6, zorder=6)
    for place, one in zip(view.samples, view.sample_classes, strict=True):
        axes.annotate(
            _name(int(one), names),
            place,
            xytext=(8, 7),
            textcoords="offset points",
            color=DARK,
            fontsize=9.5,
            fontweight="bold",
            path_effects=_halo(2.6),
            zorder=7,
        )


def _name(one: int, names: Sequence[str] | None) -> str:
    return f"class {one}" if names is None else names[one]


def _halo(width: float) -> list[patheffects.AbstractPathEffect]:
    return [patheffects.withStroke(linewidth=width, foreground=LIGHT)]
