"""Parts of pictures; colours, axes and legends are in `reluscope.plots.style`."""

from reluscope.plots.figures import new_figure
from reluscope.plots.space.scene_drawing import draw_scene
from reluscope.plots.space.scenes import Scene
from reluscope.studies.study import MAX_PICTURE_BYTES

__all__ = [
    "MAX_PICTURE_BYTES",
    "Scene",
    "draw_scene",
    "new_figure",
]
