"""The frame of all pictures of space: colours of polygons, and a scene with the legend or scale that explains them."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from reluscope.palette import TINT
from reluscope.plots.drawing.coloring import Kinds, Scale
from reluscope.plots.space.scene_drawing import draw_scene
from reluscope.plots.space.scenes import Scene
from reluscope.plots.space.view_directions import View
from reluscope.plots.style import INK, figure_of, legend, say


def painted(colors: Kinds | Scale) -> Float[np.ndarray, "p 4"]:
    """Return red, green, blue and opacity of things in groups or on a scale."""
    found = _in_space(colors)
    return np.array(found.palette)[found.group]


def _in_space(colors: Kinds | Scale) -> Kinds | Scale:
    return replace(colors, share=TINT) if isinstance(colors, Kinds) else colors


class Key(NamedTuple):
    """A legend of a picture's own, in place of one of groups or of a scale."""

    handles: list[Patch]
    title: str = ""


def show_scene(
    axes: Axes | None,
    scene: Scene,
    view: View | None,
    colors: Kinds | Scale | Key,
    *,
    lines: bool,
    pixels: int,
    empty: str = "",
    num_open: int = 0,
) -> Figure:
    """Return the figure of a scene, with what its colours mean.

    ``empty`` says why there is nothing to see, where that is so; ``num_open`` is the number of cells that were left
    when work stopped early.
    """
    axes = draw_scene(axes, scene, view, lines=lines, pixels=pixels, room=_room_for(colors))
    if empty:
        say(axes, empty)
    _explain(axes, colors, num_open=0 if empty else num_open)
    return figure_of(axes)


def _room_for(colors: Kinds | Scale | Key) -> tuple[bool, bool]:
    """Return whether colours need a scale beside the picture, and a legend below it."""
    if isinstance(colors, Key):
        return False, bool(colors.handles)
    if isinstance(colors, Kinds):
        return False, bool(colors.names)
    return colors.only is None, colors.only is not None or not np.isfinite(colors.values).all()


def _explain(axes: Axes, colors: Kinds | Scale | Key, *, num_open: int) -> None:
    """Say what colours mean, and whether work stopped early."""
    handles, title = list[Patch](), ""
    if isinstance(colors, Key):
        handles, title = colors
    elif len(colors.group):
        handles += _in_space(colors).explain(axes)
    if num_open:
        handles.append(Patch(facecolor="none", edgecolor=INK, linewidth=0.6, label="not complete: work stopped early"))
    legend(axes, handles, title=title, bbox_to_anchor=(0.5, 0.0))
