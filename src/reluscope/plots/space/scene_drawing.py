"""A scene in axes: pixels with exact depth and light, and over them the edges that nothing hides, as lines."""

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb

from reluscope import _kernels
from reluscope.kernel_threads import kernel_threads
from reluscope.partitions.levels.level_polygons import area_vectors
from reluscope.plots.space.pixels import averaged
from reluscope.plots.space.scene_box import draw_box
from reluscope.plots.space.scenes import Scene
from reluscope.plots.space.view_directions import View
from reluscope.plots.style import DARK, RASTER_ABOVE, canvas

# From above, from the left, and from behind the viewer; in the shade some light is left.
LIGHT = np.array([-0.42, 0.5, 0.757])
SHADE = 0.58
# Every pixel is the mean of so many squared.
SAMPLES = 2
# Polygons hide the lines behind them from this opacity on, and lines within so many pixels behind them are theirs.
HIDES, SLACK = 0.5, 1.0
MARGIN = 0.02
# Inches across a picture, for a scale and for a legend; and the shares of it that are for numbers and names: at the
# left, below, at the right and above.
WIDTH, BESIDE, BELOW = 5.4, 1.1, 0.6
ROOM = 0.14, 0.12, 0.04, 0.02


def draw_scene(
    axes: Axes | None, scene: Scene, view: View | None, *, lines: bool, pixels: int, room: tuple[bool, bool]
) -> Axes:
    """Draw a scene, its box included.

    The frame of ``axes`` is taken away; by default they are those of a new figure. ``pixels`` are along the longer
    side; ``room`` says whether a new figure leaves room for a scale at the right, and for a legend below.
    """
    view = view or View()
    low, high = _limits(scene, view)
    around = np.array([[-ROOM[0], -ROOM[1]], [ROOM[2], ROOM[3]]]) * float((high - low).max())
    outer = np.stack([low, high]) + (around if scene.names is not None else 0.0)
    width, height = outer[1] - outer[0]
    axes = canvas(axes, (WIDTH + BESIDE * room[0], WIDTH * float(np.clip(height / width, 0.4, 1.6)) + BELOW * room[1]))
    axes.set_axis_off()
    axes.set(xlim=outer[:, 0], ylim=outer[:, 1], aspect="equal", anchor="NW")
    if scene.names is not None:
        draw_box(axes, scene, scene.names, view, np.stack([low, high]))
    if len(scene):
        _draw_polygons(axes, scene, view, (low, high), lines=lines, pixels=pixels)
        # Which the picture has made its own.
        axes.set(xlim=outer[:, 0], ylim=outer[:, 1])
    return axes


def _draw_polygons(
    axes: Axes, scene: Scene, view: View, limits: tuple[np.ndarray, np.ndarray], *, lines: bool, pixels: int
) -> None:
    low, high = limits
    number = np.maximum(1, np.ceil(pixels * (high - low) / (high - low).max())).astype(int)
    scale = SAMPLES * pixels / float((high - low).max())
    points = scene.seen(scene.points, view)
    points[:, :2] -= low
    points *= scale
    width, height = (SAMPLES * number).tolist()
    offsets, ids = scene.offsets, scene.ids.astype(np.int32)
    threads = kernel_threads(len(scene), 20_000)
    colors = lit(scene, points)
    is_hiding = scene.colors[:, 3] >= HIDES
    nearest, planes = _kernels.nearest_polygons(points, *_chosen(offsets, ids, is_hiding), height, width, threads)
    is_opaque = bool((scene.colors[:, 3] == 1).all())
    seen = None if is_opaque else _kernels.blended_polygons(points, offsets, ids, colors, height, width, threads)
    edges = line_width(len(scene)) if lines and len(scene) > RASTER_ABOVE else 0.0
    picture = averaged(nearest, colors if seen is None else seen, edges, SAMPLES)
    extent = (low[0], low[0] + width / scale, low[1], low[1] + height / scale)
    axes.imshow(picture, origin="lower", extent=extent, interpolation="auto", zorder=1)
    if lines and len(scene) <= RASTER_ABOVE:
        edges, opacity = scene.edges
        starts, ends = points[edges[:, 0]], points[edges[:, 1]]
        which, shares = _kernels.visible_parts(starts, ends, nearest, planes, SLACK)
        along = (ends - starts)[which, :2]
        pieces = starts[which, None, :2] + shares[:, :, None] * along[:, None]
        shade = np.concatenate([np.tile(to_rgb(DARK), (len(which), 1)), 0.75 * opacity[which, None]], axis=1)
        axes.add_collection(
            LineCollection(
                list(pieces / scale + low), colors=shade, linewidths=line_width(len(scene)), zorder=2, capstyle="round"
            ),
            autolim=False,
        )


def line_width(number: int) -> float:
    """Return how wide edges are drawn, in points, so that they leave most of the picture to the polygons."""
    return float(np.clip(22.0 / np.sqrt(number + 1), 0.12, 0.8))


def lit(scene: Scene, points: Float[np.ndarray, "v 3"]) -> Float[np.ndarray, "p 4"]:
    """Return the colours of polygons in the light, whichever side is seen."""
    normals = area_vectors(points, scene.offsets, scene.ids)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = normals / np.where(lengths > 0, lengths, 1.0) * np.where(normals[:, 2:] < 0, -1.0, 1.0)
    bright = SHADE + (1 - SHADE) * np.maximum(0.0, normals @ LIGHT)
    return np.concatenate([scene.colors[:, :3] * bright[:, None], scene.colors[:, 3:]], axis=1)


def _limits(scene: Scene, view: View) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and highest places of the picture."""
    high = np.abs(scene.seen(scene.corners, view)[:, :2]).max(axis=0)
    if view.is_steady:
        sides = (scene.high - scene.low) * scene.stretch / 2
        around = float(np.linalg.norm(sides[:2]))
        high = np.array([around, np.abs(view.frame[1:, 2]) @ [sides[2], around]])
    high = (high + MARGIN * high.max()) / view.zoom
    return -high, high


def _chosen(offsets: np.ndarray, ids: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    counts = np.diff(offsets)
    return np.concatenate([[0], np.cumsum(counts[chosen])]), ids[np.repeat(chosen, counts)]
