"""The box around a scene: the three walls behind it with a grid, and ticks and names along three of its edges."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from reluscope.plots.space.scenes import Scene
from reluscope.plots.space.view_directions import View
from reluscope.plots.style import INK

# Relative to the side of a box: ticks this far outside are on its ends.
BESIDE = 1e-9
# An axis that is seen so short, as a share of the longest, has no numbers.
SHORT = 0.12
TICK_AWAY, NAME_AWAY, DIGIT = 8.0, 26.0, 4.8
# Numbers stand centred below an edge that is as good as level.
UPRIGHT = 0.1
BEHIND, OUTER, INNER = 0.2, 0.45, 0.13


def draw_box(axes: Axes, scene: Scene, names: tuple[str, str, str], view: View, limits: np.ndarray) -> None:
    """Draw the walls behind a scene as far as the limits, and numbers and names along its sides."""
    ticks = [_ticks(low, high) for low, high in zip(scene.low, scene.high, strict=True)]
    towards = view.frame[2]
    is_back_low = towards >= 0
    back = np.where(is_back_low, scene.low, scene.high)
    _lines(axes, scene, view, limits, [line for axis in range(3) for line in _grid(scene, axis, back, ticks)], INNER)
    _lines(axes, scene, view, limits, [line for axis in range(3) for line in _rim(scene, axis, back)], OUTER)
    lengths = np.linalg.norm(np.diag((scene.high - scene.low) * scene.stretch) @ view.frame.T[:, :2], axis=1)
    for axis in range(3):
        if lengths[axis] >= SHORT * lengths.max():
            edge = scene.seen(_edge(scene, view, axis, is_back_low), view)[:, :2]
            shares = (ticks[axis] - scene.low[axis]) / (scene.high[axis] - scene.low[axis])
            _number(axes, names[axis], edge, dict(zip(shares.tolist(), ticks[axis].tolist(), strict=True)), limits)


def _ticks(low: float, high: float) -> np.ndarray:
    found = np.asarray(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high))
    slack = BESIDE * (high - low)
    return found[(found >= low - slack) & (found <= high + slack)]


def _grid(scene: Scene, axis: int, back: np.ndarray, ticks: list[np.ndarray]) -> list[np.ndarray]:
    """Return the lines across both back walls at the ticks of an axis."""
    found = []
    for other in {0, 1, 2} - {axis}:
        for tick in ticks[axis]:
            ends = np.tile(back, (2, 1))
            ends[:, axis] = tick
            ends[:, other] = scene.low[other], scene.high[other]
            found.append(ends)
    return found


def _rim(scene: Scene, axis: int, back: np.ndarray) -> list[np.ndarray]:
    """Return the edges of the back wall across an axis."""
    first, second = sorted({0, 1, 2} - {axis})
    found = []
    for along, across in ((first, second), (second, first)):
        for place in (scene.low[across], scene.high[across]):
            ends = np.tile(back, (2, 1))
            ends[:, across] = place
            ends[:, along] = scene.low[along], scene.high[along]
            found.append(ends)
    return found


def _lines(axes: Axes, scene: Scene, view: View, limits: np.ndarray, lines: list[np.ndarray], opacity: float) -> None:
    ends = np.concatenate([scene.seen(line, view)[:, :2] for line in lines]).reshape(-1, 2, 2)
    ends = np.unique(np.round(ends, 12), axis=0)
    drawn = LineCollection(list(ends), colors=INK, alpha=opacity, linewidths=0.7, zorder=BEHIND, capstyle="round")
    axes.add_collection(drawn, autolim=False)
    if view.zoom > 1:
        drawn.set_clip_path(Rectangle(tuple(limits[0]), *(limits[1] - limits[0]), transform=axes.transData))


def _edge(scene: Scene, view: View, axis: int, is_back_low: np.ndarray) -> np.ndarray:
    """Return the edge of the outline along an axis that is lowest in the picture; for the third, farthest left."""
    first, second = sorted({0, 1, 2} - {axis})
    # On the outline, of the two walls that meet there one is behind and one in front.
    found = []
    for one, two in ((True, False), (False, True)):
        ends = np.stack([scene.low, scene.high])
        for other, is_back in ((first, one), (second, two)):
            ends[:, other] = scene.low[other] if is_back == is_back_low[other] else scene.high[other]
        seen = scene.seen(ends, view).mean(axis=0)
        found.append((seen[0] if axis == 2 else seen[1], ends))
    return min(found, key=lambda one: one[0])[1]


def _number(axes: Axes, name: str, edge: np.ndarray, ticks: dict[float, float], limits: np.ndarray) -> None:
    """Write numbers at their shares of an edge, and a name, on its outer side."""
    start, end = edge
    along = (end - start) / np.linalg.norm(end - start)
    outward = np.array([along[1], -along[0]])
    if outward @ (start + end) < 0:
        outward = -outward
    style = {"va": "center", "color": INK, "annotation_clip": False}
    side = "center" if abs(outward[0]) < UPRIGHT else "left" if outward[0] > 0 else "right"
    texts = {share: f"{tick:.6g}".replace("-", "\u2212") for share, tick in ticks.items()}
    for share, text in texts.items():
        place = start + share * (end - start)
        if (limits[0] <= place).all() and (place <= limits[1]).all():
            axes.annotate(
                text,
                tuple(place),
                xytext=tuple(TICK_AWAY * outward),
                textcoords="offset points",
                ha=side,
                fontsize=8.0,
                **style,
            )
    middle = (start + end) / 2
    if (middle < limits[0]).any() or (middle > limits[1]).any():
        return
    away = NAME_AWAY if side == "center" else TICK_AWAY * 2 + DIGIT * max(map(len, texts.values()), default=0)
    turn = float(np.rad2deg(np.arctan2(along[1], along[0])))
    turn -= 180.0 * round(turn / 180.0) if abs(turn) > 90.001 else 0.0
    axes.annotate(
        name,
        tuple(middle),
        xytext=tuple(away * outward),
        textcoords="offset points",
        fontsize=9.5,
        rotation=turn,
        rotation_mode="anchor",
        ha="center",
        **style,
    )
