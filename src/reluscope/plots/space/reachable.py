"""Outputs that a network reaches, and the states of a closed loop step by step."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from reluscope.analyses.reachability.images import Image
from reluscope.analyses.reachability.reachable_sets import ReachableSets
from reluscope.arguments import read_array, read_axes, read_drawn
from reluscope.errors import InputError, ShapeError
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.unions.union_volume import hull_of_plane
from reluscope.plots.drawing.polygon_paths import say_empty, why_empty
from reluscope.plots.space.painting import Key, show_scene
from reluscope.plots.space.scenes import Scene
from reluscope.plots.space.view_directions import View
from reluscope.plots.style import DARK, RASTER_ABOVE, canvas, category, depth_colors, figure_of, legend

# Relative to the largest number, in empty boxes to 1: pieces that are thinner are drawn as points.
POINT = 1e-9
# Opacity of one piece: where several lie over each other it is darker.
OPACITY = 0.3
# So many pieces of a step have lines around them.
FEW = 300
# So many steps are all named beside the picture.
NAMED = 5
# Corners nearer to a side than this share of the piece are on it.
NEAR = 1e-7


@read_drawn
def image(found: Image, *, view: View | None = None, axes: Axes | None = None) -> Figure:
    """Draw the outputs of a network on a domain, for one, two or three outputs.

    Parameters
    ----------
    found : Image
        Image in at most three outputs: ``rs.image(net, domain, outputs=[0, 1])``.
    view : View, optional
        Direction of view, for three outputs.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        One output: the number of regions that reach each value, with marks at values that whole regions share. Two:
        the pieces, darker where several regions reach the same point. Three: pieces of two and three dimensions in
        space.

    Raises
    ------
    InputError
        If there are more outputs.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.array([[1.0, 1.0], [1.0, -1.0]]), np.zeros(2))])
    >>> figure = rs.plots.image(rs.image(net, rs.Box(-1, 1, 2)))
    >>> figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()
    ('output 0', 'output 1')
    """
    names = [f"output {output}" for output in found.outputs]
    if len(names) > 3:
        raise InputError(f"a picture shows at most three outputs, got {len(names)}: choose some with outputs=[0, 1]")
    if len(names) == 3:
        return _in_space(found, names, view, axes)
    axes = canvas(axes, (5.4, 3.4 if len(names) == 1 else 5.0))
    if len(names) == 1:
        _on_line(axes, found.corners)
        axes.set_ylabel("regions that reach it")
    else:
        draw_pieces(axes, found.corners, category(0))
        axes.set_ylabel(names[1])
        axes.margins(0.04)
        axes.autoscale_view()
    axes.set_xlabel(names[0])
    if not len(found):
        say_empty(axes, num_open=1)
    return figure_of(axes)


@read_drawn
def reach(
    found: ReachableSets,
    *,
    states: tuple[int, int] = (0, 1),
    runs: Float[np.ndarray, "t s n"] | None = None,
    axes: Axes | None = None,
) -> Figure:
    """Draw the states of a closed loop after each step, over two states; for one state, over the steps.

    Parameters
    ----------
    found : ReachableSets
    states : two int
        States on the axes; with more than two states, projections are drawn.
    runs : (t, s, n) array, optional
        States of s runs after each step, drawn as lines.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        A colour for each step. Steps that are not exact are outlines of boxes, with the box around all.

    Raises
    ------
    InputError
        If the two states are the same, or there is no such state.
    ShapeError
        If runs have another number of states.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.array([[-0.5, 0.0]]), np.zeros(1))])
    >>> plant = rs.reachability.Plant([[1.0, 0.5], [0.0, 0.5]], [[0.0], [1.0]])
    >>> figure = rs.plots.reach(rs.reach(net, plant, rs.Box(0, 1, 2), 3))
    >>> figure.axes[0].get_ylabel()
    'state 1'
    """
    number = found.ends.shape[2]
    if runs is not None:
        runs = read_array(runs, "runs", ndim=3)
        if runs.shape[2] != number or not runs.size:
            raise ShapeError(f"runs must have shape (t, s, {number}), at least one run, got shape {runs.shape}")
    axes = canvas(axes, (6.2, 5.0))
    colors = depth_colors(len(found))
    if number == 1:
        _over_steps(axes, found, runs, colors)
        return figure_of(axes)
    chosen = read_axes(states, "states", number)
    for one, color in zip(found.sets, colors, strict=True):
        if isinstance(one, Image):
            draw_pieces(axes, [corners[:, chosen] for corners in one.corners], color, 0.45, lines=len(one) <= FEW)
        else:
            boxes = [_rectangle(*box[:, chosen]) for box in one.boxes]
            axes.add_collection(
                PolyCollection(boxes, facecolors="none", edgecolors=to_rgba(color, 0.35), linewidths=0.4)
            )
            outline = PolyCollection(
                [_rectangle(*one.ends[:, chosen])], facecolors="none", edgecolors=color, linewidths=1.2
            )
            outline.set_linestyle("--")
            axes.add_collection(outline)
    if runs is not None:
        axes.plot(runs[:, :, chosen[0]], runs[:, :, chosen[1]], color=DARK, linewidth=0.5)
    axes.set_xlabel(f"state {chosen[0]}")
    axes.set_ylabel(f"state {chosen[1]}")
    axes.margins(0.04)
    axes.autoscale_view()
    last = len(found) - 1
    shown = range(len(found)) if len(found) <= NAMED else (0, last // 2, last)
    handles = [Patch(color=to_rgba(colors[step], 0.6), label=_when(step)) for step in shown]
    if found.num_exact < len(found):
        handles.append(
            Patch(fill=False, edgecolor=DARK, linestyle="--", label=f"boxes around, from step {found.num_exact}")
        )
    legend(axes, handles)
    return figure_of(axes)


def _when(step: int) -> str:
    return f"after {step} {'step' if step == 1 else 'steps'}" if step else "first states"


def _over_steps(axes: Axes, found: ReachableSets, runs: np.ndarray | None, colors: Sequence[str]) -> None:
    """Draw the least and the largest value of one state over the steps."""
    for step, (one, color) in enumerate(zip(found.sets, colors, strict=True)):
        low, high = one.ends[:, 0]
        style = "-" if isinstance(one, Image) else "--"
        axes.plot([step, step], [low, high], style, color=color, linewidth=3.0, solid_capstyle="butt")
    if runs is not None:
        axes.plot(np.arange(len(runs)), runs[:, :, 0], color=DARK, linewidth=0.5)
    axes.set_xlabel("step")
    axes.set_ylabel("state 0")


def _rectangle(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return np.array([low, (high[0], low[1]), high, (low[0], high[1])])


def draw_pieces(
    axes: Axes, pieces: Sequence[np.ndarray], color: str, opacity: float = OPACITY, *, lines: bool = True
) -> None:
    """Draw convex hulls of points of the plane: polygons, segments and points."""
    outlines = [hull_of_plane(corners) for corners in pieces]
    raster = len(outlines) > RASTER_ABOVE
    polygons = [outline for outline in outlines if len(outline) > 2]
    style = {"facecolors": to_rgba(color, opacity), "edgecolors": to_rgba(DARK, 0.5 * lines), "linewidths": 0.3 * lines}
    axes.add_collection(PolyCollection(polygons, rasterized=raster, **style))
    segments = [outline for outline in outlines if len(outline) == 2]
    axes.add_collection(LineCollection(segments, colors=color, linewidths=1.4, rasterized=raster))
    points = np.array([outline[0] for outline in outlines if len(outline) == 1]).reshape(-1, 2)
    axes.plot(*points.T, "o", color=color, markersize=3.5)


def _on_line(axes: Axes, pieces: Sequence[np.ndarray]) -> None:
    """Draw how many intervals hold each value, and marks where intervals are points."""
    ends = np.array([(corners.min(), corners.max()) for corners in pieces]).reshape(-1, 2)
    if not len(ends):
        return
    thin = POINT * max(float(np.abs(ends).max()), np.finfo(float).tiny)
    is_point = ends[:, 1] - ends[:, 0] <= thin
    low, high = ends[~is_point].T
    places = np.unique(ends[~is_point])
    counts = np.searchsorted(np.sort(low), places[:-1], side="right") - np.searchsorted(
        np.sort(high), places[:-1], side="right"
    )
    if len(places):
        axes.stairs(counts, places, fill=True, color=category(0), alpha=0.6)
    if is_point.any():
        values, shared = np.unique(ends[is_point, 0], return_counts=True)
        (marks,) = axes.plot(values, shared, "o", color=category(5), markersize=5, label="of whole regions")
        legend(axes, [marks])
    axes.set_ylim(bottom=0)


def _in_space(found: Image, names: list[str], view: View | None, axes: Axes | None) -> Figure:
    points, polygons, colors = _faces(found)
    low, high = found.ends if len(found) else np.array([[0.0] * 3, [1.0] * 3])
    pad = np.where(high > low, 0.0, 0.5 * np.maximum(1e-3 * (high - low).max(), POINT))
    offsets = np.concatenate([[0], np.cumsum([len(polygon) for polygon in polygons])]).astype(np.int64)
    first, second, third = ((high - low + 2 * pad).max() / (high - low + 2 * pad)).tolist()
    scene = Scene(
        points,
        offsets,
        np.arange(len(points)),
        np.array(colors).reshape(-1, 4),
        low - pad,
        high + pad,
        (names[0], names[1], names[2]),
        (first, second, third),
    )
    return show_scene(axes, scene, view, Key([]), lines=True, pixels=1000, empty=why_empty(len(found), num_open=1))


def _faces(found: Image) -> tuple[np.ndarray, list[np.ndarray], list[tuple[float, float, float, float]]]:
    """Return the polygons that pieces in space consist of, corner after corner, and their colours."""
    polygons: list[np.ndarray] = []
    colors: list[tuple[float, float, float, float]] = []
    for place, (corners, dim) in enumerate(zip(found.corners, found.dims, strict=True)):
        if dim == 2:
            faces = [_cycle(corners)]
        elif dim == 3:
            faces = _facets(found[place], corners)
        else:
            continue
        polygons += faces
        colors += [to_rgba(category(place), 0.75 if dim == 2 else 0.45)] * len(faces)
    return np.concatenate([np.zeros((0, 3)), *polygons]), polygons, colors


def _facets(piece: Polyhedron, corners: np.ndarray) -> list[np.ndarray]:
    """Return the polygons around a piece."""
    near = NEAR * float(np.ptp(corners, axis=0).max())
    on = [corners[np.abs(corners @ row - end) <= near] for row, end in zip(piece.A, piece.b, strict=True)]
    return [_cycle(points) for points in on if len(points) > 2]


def _cycle(corners: np.ndarray) -> np.ndarray:
    """Return the corners of a flat polygon in space, in order."""
    middle = corners.mean(axis=0)
    _, _, axes = np.linalg.svd(corners - middle, full_matrices=False)
    outline = hull_of_plane((corners - middle) @ axes[:2].T)
    return middle + outline @ axes[:2]
