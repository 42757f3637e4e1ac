"""The likeliest point of each class within a region, as an image: a row for each region, a column for each class.

Reference: Zhang and Wu, "Empirical studies on the properties of linear regions in deep neural networks", 2020, Figures
5 and 11.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from reluscope.arguments import read_drawn
from reluscope.errors import InputError, ShapeError
from reluscope.plots.drawing.image_pixels import images_of
from reluscope.plots.style import INK, LIGHT, canvas, figure_of, legend_below, say, shortened

OWN, OTHER = "#009E73", "#D55E00"
# Inches of an image; in its widths the way from one to the next, and the room below it.
SIDE, STEP, BELOW = 0.72, 1.1, 0.24
MAX_ROWS, MAX_COLUMNS = 12, 20


@read_drawn
def likeliest(
    points: Float[np.ndarray, "r c n"],
    classes: Int[np.ndarray, "r c"],
    own: Int[np.ndarray, " r"],
    *,
    x: Float[np.ndarray, "r n"] | None = None,
    shape: Sequence[int],
    rows: Sequence[str],
    columns: Sequence[str] | None = None,
) -> Figure:
    """Draw the likeliest point of every class in some regions, marked by its class.

    Parameters
    ----------
    points : (r, c, n) float64
        Likeliest point of every class in every region; NaN if there is none.
    classes : (r, c) int
        Class of each of these points.
    own : (r,) int
        Class of the point that defines the region.
    x : (r, n) float64, optional
        The points that define the regions, drawn first.
    shape : sequence of int
        Shape of an image: ``(h, w)``, ``(1, h, w)`` or ``(3, h, w)``.
    rows : sequence of str
        Names of the regions, for instance by network.
    columns : sequence of str, optional
        Names of the classes; by default 0, 1, 2, and so on.

    Returns
    -------
    matplotlib.figure.Figure
        A green frame marks the class of the region's point; a red frame, with a cross in its corner, another class,
        whose name is below the image if it is not that of the column. One grey scale for all.

    Raises
    ------
    InputError
        If there are too many images, or they are no images.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> points = np.zeros((1, 2, 4))
    >>> figure = rs.plots.likeliest(points, np.array([[0, 1]]), np.array([0]), shape=(2, 2), rows=["a"])
    >>> frames = [patch.get_edgecolor()[:3] for patch in figure.axes[0].patches]
    >>> len(frames), frames[0] == frames[1]
    (2, False)
    """
    number, width = points.shape[:2]
    if number > MAX_ROWS or width > MAX_COLUMNS:
        raise InputError(
            f"at most {MAX_ROWS} regions with {MAX_COLUMNS} classes can be drawn together, got {number:,} with "
            f"{width:,}: choose some"
        )
    names = [str(label) for label in range(width)] if columns is None else list(columns)
    before = 0 if x is None else 1
    across = width + before
    axes = canvas(None, (SIDE * max(4, across) * STEP + 1.0, SIDE * (STEP + BELOW) * max(1, number) + 0.55))
    axes.set_axis_off()
    if number and width and (len(rows) != number or len(names) != width):
        raise ShapeError(
            f"expected {number} names of rows and {width} of columns, got {len(rows)} and {len(names)}: name each once"
        )
    if not number or not width:
        say(axes, "there are no regions")
        return figure_of(axes)
    if x is not None:
        points = np.concatenate([x[:, None], points], axis=1)
        classes = np.concatenate([own[:, None], classes], axis=1)
        names = ["the point", *names]
    pixels = images_of(points.reshape(number * across, -1), shape)
    # One pair of axes for all: as many as there are images take seconds to lay out.
    height = shape[-2] / shape[-1]
    for column, name in enumerate(names):
        axes.text(column * STEP + 0.5, -0.08, shortened(name, 12), ha="center", va="bottom", fontsize=8.5, color=INK)
    kinds = set()
    for row, name in enumerate(rows):
        top = row * (height + BELOW)
        axes.text(-0.12, top + height / 2, shortened(name, 20), ha="right", va="center", fontsize=8.5, color=INK)
        for column in range(across):
            left, image = column * STEP, pixels[row * across + column]
            if not np.isfinite(image).all():
                axes.text(left + 0.5, top + height / 2, "–", ha="center", va="center", color=INK)
                continue
            box = (left, left + 1, top + height, top)
            axes.imshow(image, cmap="gray", vmin=0.0, vmax=1.0, interpolation="none", extent=box)
            label = int(classes[row, column])
            kinds.add(_frame(axes, box, label == int(own[row])))
            if label not in (int(own[row]), column - before):
                below = shortened(names[label + before], 12)
                axes.text(left + 0.5, box[2] + 0.04, below, ha="center", va="top", fontsize=8, color=OTHER)
    axes.set_xlim(-0.1, across * STEP)
    axes.set_ylim(number * (height + BELOW), -0.1)
    axes.set_aspect("equal")
    legend_below(figure_of(axes), _handles(kinds))
    return figure_of(axes)


def _frame(axes: Axes, box: tuple[float, float, float, float], is_own: bool) -> bool:
    left, right, bottom, top = box
    color = OWN if is_own else OTHER
    frame = {"facecolor": "none", "edgecolor": color, "linewidth": 2.2, "zorder": 3}
    axes.add_patch(Rectangle((left, top), right - left, bottom - top, **frame))
    if not is_own:  # told without colour, too
        axes.plot(right - 0.13, top + 0.13, "X", color=OTHER, markersize=8, markeredgecolor=LIGHT, zorder=5)
    return is_own


def _handles(kinds: set[bool]) -> list[Artist]:
    own = Patch(facecolor="none", edgecolor=OWN, linewidth=2.2, label="has the class of the region's point")
    other = Line2D(
        [],
        [],
        marker="X",
        linestyle="",
        color=OTHER,
        markersize=8,
        label="has another class: that of the column, or the one below",
    )
    return [handle for kind, handle in ((True, own), (False, other)) if kind in kinds]
