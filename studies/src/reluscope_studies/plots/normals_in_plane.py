"""Units of two inputs: the lines where they begin to be active, with their normals, and what is removed at a point."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon

from reluscope.plots.style import CATEGORIES, DARK, INK, canvas, legend_below, tint

SIDE, LENGTH = 2.5, 0.45
KEPT, REMOVED, AREA = CATEGORIES[2], CATEGORIES[5], CATEGORIES[0]


@dataclass(frozen=True, eq=False)
class UnitsInPlane:
    """Units ``a x + b`` of two inputs, and what is shown with them.

    Parameters
    ----------
    weight : (u, 2) float64
    bias : (u,) float64
    point : (2,) float64, optional
        Where units that are not active lose their normal.
    area : (v, 2) float64, optional
        Corners of a convex region, in any order.
    anchor : (2,) float64, optional
        Arrows begin where lines are nearest to it; the origin by default.
    """

    weight: Float[np.ndarray, "u 2"]
    bias: Float[np.ndarray, " u"]
    point: Float[np.ndarray, " 2"] | None = None
    area: Float[np.ndarray, "v 2"] | None = None
    anchor: Float[np.ndarray, " 2"] | None = None


def normals_in_plane(panels: Mapping[str, UnitsInPlane], *, reach: float) -> Figure:
    """Draw the lines of units in the square from -reach to reach, with arrows to where they are active.

    Parameters
    ----------
    panels : mapping of titles to UnitsInPlane
    reach : float

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> one = UnitsInPlane(np.array([[1.0, 0.0], [0.0, 1.0]]), np.zeros(2), point=np.array([0.5, -0.5]))
    >>> figure = normals_in_plane({"two units": one}, reach=1.0)
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['normal of an active unit', 'of one that is not, removed', 'the point']
    """
    figure = Figure(figsize=(SIDE * max(1, len(panels)), SIDE + 0.7), layout="constrained")
    FigureCanvasAgg(figure)
    if not panels:
        return figure
    for axes, (title, one) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True):
        canvas(axes, (0.0, 0.0))
        _draw(axes, one, reach)
        axes.set_title(title, fontsize=9.0, color=INK)
    has_point = any(one.point is not None for one in panels.values())
    name = "normal of an active unit" if has_point else "normal, towards where the unit is active"
    handles = [Line2D([], [], color=KEPT, label=name, linewidth=2.0, marker=">", markersize=5)]
    if has_point:
        handles += [
            Line2D([], [], color=REMOVED, label="of one that is not, removed", linewidth=2.0, marker="x"),
            Line2D([], [], color=DARK, label="the point", linestyle="", marker="o"),
        ]
    if any(one.area is not None for one in panels.values()):
        handles.append(Line2D([], [], color=tint(AREA, 0.3), linewidth=8, label="where the same units are active"))
    legend_below(figure, handles)
    return figure


def _draw(axes: Axes, one: UnitsInPlane, reach: float) -> None:
    if one.area is not None:
        around = one.area - one.area.mean(axis=0)
        order = np.argsort(np.arctan2(around[:, 1], around[:, 0]))
        axes.add_patch(Polygon(one.area[order], closed=True, color=tint(AREA, 0.3), linewidth=0, zorder=0))
    anchor = np.zeros(2) if one.anchor is None else one.anchor
    for row, constant in zip(one.weight, one.bias, strict=True):
        length = float(np.linalg.norm(row))
        normal = row / length
        foot = anchor - (row @ anchor + constant) / length * normal
        along = 3 * reach * np.array([-normal[1], normal[0]])
        axes.plot(*np.transpose([foot - along, foot + along]), color=tint(INK, 0.5), linewidth=1.0, zorder=1)
        is_removed = one.point is not None and row @ one.point + constant <= 0
        color, tip = REMOVED if is_removed else KEPT, foot + LENGTH * reach * normal
        arrow = {"arrowstyle": "-|>", "color": color, "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", xy=tuple(tip), xytext=tuple(foot), arrowprops=arrow, zorder=2)
        if is_removed:
            axes.plot(*((foot + tip) / 2), marker="x", color=REMOVED, markersize=9, markeredgewidth=2.2, zorder=3)
    if one.point is not None:
        axes.plot(*one.point, marker="o", color=DARK, markersize=5, zorder=4)
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-reach, reach)
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])
