"""Marks over the regions of a plane: samples with their names, the window, and hatching where work stopped early."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Polygon

from reluscope.arguments import read_array, read_labels
from reluscope.errors import InputError, ShapeError
from reluscope.geometry.polyhedra.domains import Box, Slice, Space
from reluscope.networks.graph.points import Points
from reluscope.partitions.partition_in_memory import Partition
from reluscope.plots.drawing.polygon_paths import polygon_paths
from reluscope.plots.style import DARK, INK, LIGHT, category, shortened, tint

# Relative to the extent of a picture: samples farther from its plane are drawn as off it.
OFF = 1e-6
# Shares of a window: a letter of a name, and a line of them.
LETTER, LINE = 0.022, 0.07
# In points: below, the colours of marks are hard to tell apart.
SMALLEST = 4.5
# Mark and filling of each class, over regions of any colour.
MARKS = (("o", LIGHT), ("^", DARK), ("s", LIGHT), ("D", DARK), ("v", LIGHT), ("P", DARK), ("p", LIGHT), ("X", DARK))
COARSE: dict[str, Any] = {"facecolor": tint(INK, 0.06), "edgecolor": tint(INK, 0.55)}
UNKNOWN = {"facecolor": "none", "edgecolor": INK, "hatch": "////", "linewidth": 0.0, "alpha": 0.6}


def halo(width: float) -> list[patheffects.AbstractPathEffect]:
    """Return a light border, for what lies over any colour."""
    return [patheffects.withStroke(linewidth=width, foreground=LIGHT)]


def on_the_domain(domain: Slice | Box, samples: Points) -> tuple[Float[np.ndarray, "s d"], Float[np.ndarray, " s"]]:
    """Return points of input space in coordinates of the domain, and how far each lies from it."""
    points = read_array(samples, "samples")
    size = domain.ambient_dim if isinstance(domain, Slice) else domain.dim
    if points.ndim == 0 or (points.size != size and points.size and points[0].size != size):
        raise ShapeError(f"samples must be points of input space with {size} entries each, got shape {points.shape}")
    points = points.reshape(-1, size)
    if isinstance(domain, Box):
        return points, np.zeros(len(points))
    places = domain.project(points)
    return places, np.linalg.norm(domain.lift(places) - points, axis=1)


def mark_samples(
    axes: Axes,
    part: Partition,
    samples: Points | None,
    labels: Sequence[str] | None,
    *,
    only_names: bool = False,
) -> None:
    """Draw points of input space as circles with their labels; hollow ones lie off the plane, above their foot."""
    if samples is None:
        return
    places, away = on_the_domain(part.bounded_domain, samples)
    if labels is not None and len(labels) != len(places):
        raise ShapeError(f"expected one label per sample, got {len(labels)} labels for {len(places)} samples")
    low, high = np.array([axes.get_xlim(), axes.get_ylim()]).T
    off = away > OFF * float((high - low).max())
    style = {"marker": "o", "linestyle": "none", "markeredgecolor": DARK, "markersize": 8, "zorder": 6}
    for chosen, face in ((~off, LIGHT), (off, "none")):
        if chosen.any() and not only_names:
            axes.plot(*places[chosen].T, color=face, markerfacecolor=face, markeredgewidth=1.6, **style)
    _name_marks(axes, (places - low) / (high - low), places, labels or ())


def _name_marks(axes: Axes, shares: np.ndarray, places: np.ndarray, names: Sequence[str]) -> None:
    """Write names beside marks, towards the inside, so that none leaves the window or covers one before it."""
    taken: list[tuple[float, float, float]] = []
    for share, place, name in zip(shares, places, names, strict=bool(names)):
        text = shortened(name)
        width = LETTER * len(text)
        left, below = share[0] > 0.8, share[1] > 0.92
        for to_left, under in ((left, below), (left, not below)):
            start = share[0] - width if to_left else share[0]
            line = share[1] - LINE / 2 if under else share[1] + LINE / 2
            if not any(start < end and begun < start + width and abs(line - at) < LINE for begun, end, at in taken):
                break
        taken.append((start, start + width, line))
        axes.annotate(
            text,
            place,
            xytext=(-8 if to_left else 8, -7 if under else 7),
            textcoords="offset points",
            ha="right" if to_left else "left",
            va="top" if under else "bottom",
            color=DARK,
            fontsize=9.5,
            fontweight="bold",
            path_effects=halo(2.6),
            zorder=7,
        )


def mark_labelled(
    axes: Axes,
    part: Partition,
    samples: Points | None,
    labels: Int[np.ndarray, " s"] | None,
    names: Sequence[str] | None,
    shades: Mapping[int, str] | None = None,
) -> list[Line2D]:
    """Draw points of input space in the colours of their classes, hollow ones off the plane; return the legend.

    Marks become smaller where they are many, but stay large enough to tell colours apart.
    """
    if labels is None:
        return []
    if samples is None:
        raise InputError("labels are classes of samples, and there are none: give samples too")
    places, away = on_the_domain(part.bounded_domain, samples)
    classes = read_labels(labels, num_samples=len(places))
    low, high = np.array([axes.get_xlim(), axes.get_ylim()]).T
    off = away > OFF * float((high - low).max())
    size = float(np.clip(8.0 * np.sqrt(60 / max(len(places), 1)), SMALLEST, 8.0))
    handles = []
    for one in np.unique(classes):
        shade = (shades or {}).get(int(one), category(int(one)))
        style: dict[str, Any] = {"linestyle": "none", "marker": "o", "zorder": 6}
        for chosen, face, edge in (((classes == one) & ~off, shade, DARK), ((classes == one) & off, LIGHT, shade)):
            if chosen.any():
                width = 0.8 if edge == DARK else 1.8
                axes.plot(
                    *places[chosen].T, markersize=size, color=face, markeredgecolor=edge, markeredgewidth=width, **style
                )
        name = f"class {one}" if names is None or one >= len(names) else shortened(str(names[one]))
        handles.append(
            Line2D([], [], markersize=7.0, color=shade, markeredgecolor=DARK, label=f"samples of {name}", **style)
        )
    return handles


def mark_classes(
    axes: Axes, domain: Slice | Box, samples: Points | None, labels: Int[np.ndarray, " s"] | None
) -> list[Line2D]:
    """Draw many points of input space at their foot, small, their classes by mark and filling; return the legend."""
    if samples is None:
        return []
    places, _ = on_the_domain(domain, samples)
    classes = np.zeros(len(places), np.int64) if labels is None else read_labels(labels, num_samples=len(places))
    handles = []
    for index, one in enumerate(np.unique(classes)):
        mark, face = MARKS[index % len(MARKS)]
        style: dict[str, Any] = {"linestyle": "none", "marker": mark, "markerfacecolor": face, "markeredgecolor": DARK}
        axes.plot(*places[classes == one].T, markersize=3.4, markeredgewidth=0.7, zorder=6, **style)
        name = "samples" if labels is None else f"class {one}"
        handles.append(Line2D([], [], markersize=5.0, markeredgewidth=0.9, label=name, **style))
    return handles


def outline(axes: Axes, part: Partition, coarse: Partition | None = None) -> list[Patch]:
    """Draw the window if it is no rectangle, and behind everything what was not reached; return the legend of that.

    It is filled with a partition by the first gates alone, if there is one, and hatched where that was not finished,
    either.
    """
    is_open = bool(part.num_open)
    is_hatched = is_open and (len(part) > 0 if coarse is None else coarse.num_open > 0)
    draw_window(axes, part.bounded_domain, is_hatched=is_hatched)
    unreached = [unreached_handle()] if is_hatched else []
    if not is_open or coarse is None:
        return unreached
    offsets, ids = coarse.region_vertices
    paths = list(polygon_paths(offsets, coarse.vertices[ids], np.arange(len(coarse))))
    width = float(np.clip(14.0 / np.sqrt(len(coarse) + 1), 0.08, 0.6))
    axes.add_collection(PathCollection(paths, linewidths=width, zorder=0.5, **COARSE), autolim=False)
    gates = len(coarse.codes.layout)
    by = f"the first {gates} gates" if gates > 1 else "the first gate"
    return [Patch(label=f"not reached: regions of {by} alone", **COARSE), *unreached]


def draw_window(axes: Axes, domain: Slice | Box, *, is_hatched: bool) -> None:
    """Draw a window if it is no rectangle, hatched if some of it was not reached."""
    window = domain.window if isinstance(domain, Slice) else domain
    assert not isinstance(window, Space)  # it is bounded
    if isinstance(window, Box) and not is_hatched:
        return
    corners = window.corners() if isinstance(window, Box) else window.vertices()
    if is_hatched:
        axes.add_patch(Polygon(corners, zorder=0.5, **UNKNOWN))
    if not isinstance(window, Box):
        axes.add_patch(Polygon(corners, facecolor="none", edgecolor=INK, linewidth=0.8, zorder=5))


def unreached_handle() -> Patch:
    """Return the legend of hatched areas."""
    return Patch(label="not reached: work stopped early", **UNKNOWN)
