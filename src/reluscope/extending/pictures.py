"""Parts of pictures; colours, axes and legends are in `reluscope.plots.style`."""

from reluscope.plots.figures import new_figure
from reluscope.plots.space.scene_drawing import draw_scene
from reluscope.plots.space.scenes import Scene

__all__ = [
    "Scene",
    "draw_scene",
    "new_figure",
]
