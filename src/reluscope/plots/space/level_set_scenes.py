"""Level sets: exact surfaces in space, and curves in the plane."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Shaped
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reluscope.arguments import read_drawn
from reluscope.codes.random_kinds import random_kinds
from reluscope.errors import InputError
from reluscope.geometry.polyhedra.domains import Box, Slice
from reluscope.partitions.levels.level_sets import LevelSet
from reluscope.plots.drawing.coloring import Kinds, Scale, quantity
from reluscope.plots.drawing.polygon_paths import Pen, frame, limits, plane_size
from reluscope.plots.space.painting import painted, show_scene
from reluscope.plots.space.pixels import Pixels
from reluscope.plots.space.scenes import Scene, names_of
from reluscope.plots.space.view_directions import View
from reluscope.plots.style import DARK, canvas, figure_of, say

Color = str | Callable[[LevelSet], Shaped[np.ndarray, " p"]] | Shaped[np.ndarray, " p"] | None


@read_drawn
def level_set(
    surface: LevelSet,
    *,
    color: Color = None,
    label: str = "",
    lines: bool = True,
    view: View | None = None,
    pixels: Pixels = 1000,
    axes: Axes | None = None,
) -> Figure:
    """Draw a level set: its polygons in space with light and exact depth, or its segments in the plane.

    Parameters
    ----------
    surface : LevelSet
        May be empty, open, or have stopped early.
    color : str, callable or (p,) array, optional
        ``"region"``: six tints without meaning, those of the regions beside the polygons; ``"component"``: the
        connected component; ``"normal"``: the normal as red, green and blue; by default one colour. A callable
        receives the level set and returns (p,) values. Text, truth values and whole numbers of up to ten different
        values are categories; other numbers are a scale. Curves in the plane have one colour.
    label : str
        Meaning of the colours.
    lines : bool
        Draw the edges of polygons.
    view : View, optional
        Direction of view.
    pixels : int
        Pixels along the longer side, at most 2,800.
    axes : matplotlib axes, optional
        Axes to draw in; by default a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        Never shown. Polygons are pixels, edges are lines that end where they are hidden; above 20,000 polygons
        edges are pixels, too.

    Raises
    ------
    InputError
        If the colour is unknown.
    ShapeError
        If there is not one colour per piece.

    Notes
    -----
    200,000 polygons take half a second.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> ball = rs.load([(np.r_[np.eye(3), -np.eye(3)], np.zeros(6)), (np.ones((1, 6)), -np.ones(1))])
    >>> figure = rs.plots.level_set(rs.level_set(ball, rs.Box(-2, 2, 3)), view=rs.plots.View(azimuth=20))
    >>> figure.axes[0].images[0].get_array().shape[2]
    4
    """
    if surface.dim == 2:
        return _draw_curves(surface, axes)
    is_by_normal = isinstance(color, str) and color == "normal"
    colors = _coloring(surface, None if is_by_normal else color, label)
    shades = painted(colors)
    if is_by_normal:
        shades[:, :3] = (surface.normals + 1) / 2
    domain = surface.domain
    scene = Scene(surface.vertices, surface.offsets, surface.ids, shades, *limits(domain), names_of(domain))
    empty, left = _why_empty(surface), surface.num_open
    return show_scene(axes, scene, view, colors, lines=lines, pixels=pixels, empty=empty, num_open=left)


def _coloring(surface: LevelSet, color: Color, label: str) -> Kinds | Scale:
    if color is None:
        return Kinds(np.zeros(len(surface), dtype=np.int64), ())
    if isinstance(color, str):
        if color == "region":
            return Kinds(random_kinds(surface.codes), (), label)
        if color == "component":
            return quantity(surface.components, len(surface), "piece", label or "component")
        raise InputError(
            'color must be "region", "component", "normal", a callable that takes the level set, or an array with one '
            f"entry per piece, got {color!r}"
        )
    if callable(color):
        name = getattr(color, "__name__", "")
        label = label or ("" if name == "<lambda>" else name.replace("_", " "))
        color = color(surface)
    return quantity(np.asarray(color), len(surface), "piece", label)


def _draw_curves(surface: LevelSet, axes: Axes | None) -> Figure:
    domain = surface.domain
    window = domain if isinstance(domain, Slice | Box) else Box(*limits(domain))
    axes = canvas(axes, plane_size(window))
    frame(axes, window)
    if not len(surface):
        say(axes, _why_empty(surface))
    Pen(axes, len(surface)).stroke(surface.vertices[surface.ids].reshape(-1, 2, 2), DARK, 1.4)
    return figure_of(axes)


def _why_empty(surface: LevelSet) -> str:
    if len(surface):
        return ""
    if surface.num_open:
        return "nothing was finished before work stopped"
    return f"the level {surface.level:g} is not crossed here"
