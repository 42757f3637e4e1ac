"""The frame of all pictures of space: colours of polygons, and a scene with the legend or scale that explains them."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from reluscope.plots.drawing.coloring import Kinds, Scale
from reluscope.plots.planes.region_pictures import LEVELS
from reluscope.plots.space.scene_drawing import draw_scene
from reluscope.plots.space.scenes import Scene
from reluscope.plots.space.view_directions import View
from reluscope.plots.style import INK, NEUTRAL, category, figure_of, legend, say, scale_beside, tint

TINT = 0.62


def painted(colors: Kinds | Scale, number: int) -> Float[np.ndarray, "p 4"]:
    """Return red, green, blue and full opacity for so many things in groups or on a scale."""
    if isinstance(colors, Kinds):
        shades = [to_rgb(tint(category(kind), TINT)) for kind in range(int(colors.group.max(initial=0)) + 1)]
        chosen = np.array(shades)[colors.group]
    else:
        steps = colormaps["cividis"]((np.arange(LEVELS) + 0.5) / LEVELS)[:, :3]
        chosen = np.concatenate([steps, [to_rgb(NEUTRAL)]])[colors.levels(LEVELS)]
    return np.concatenate([chosen, np.ones((number, 1))], axis=1)


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
    elif isinstance(colors, Kinds):
        present = np.unique(colors.group).tolist() if colors.names else []
        handles += [Patch(color=tint(category(kind), TINT), label=colors.names[kind]) for kind in present]
    elif colors.only is not None:
        shade = to_hex(colormaps["cividis"]((float(colors.levels(LEVELS)[0]) + 0.5) / LEVELS))
        handles.append(Patch(color=shade, label=f"{colors.label} {colors.only:.4g} everywhere"))
    elif len(colors.values):
        scale_beside(axes, colors.norm(), colormaps["cividis"], colors.label, extend=colors.extend)
        if not np.isfinite(colors.values).all():
            handles.append(Patch(color=NEUTRAL, label="no value"))
    if num_open:
        handles.append(Patch(facecolor="none", edgecolor=INK, linewidth=0.6, label="not complete: work stopped early"))
    legend(axes, handles, title=title, bbox_to_anchor=(0.5, 0.0))
