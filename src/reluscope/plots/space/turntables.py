"""A film of a picture of space that turns once around its third axis."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from matplotlib.animation import FuncAnimation
from matplotlib.figure import Figure

from reluscope.arguments import Count, Positive, read_drawn
from reluscope.plots.planes.films import FilmCanvas, film_of
from reluscope.plots.space.view_directions import View

SIZE = 5.0, 4.6
# How wide a picture is beside a scale, and what is below it for a legend, as shares.
BESIDE, BELOW = 0.8, 0.14


@read_drawn
def turntable(
    picture: Callable[..., Figure],
    found: Any,
    *,
    frames: Count = 72,
    fps: Positive = 20.0,
    view: View | None = None,
    **options: Any,
) -> FuncAnimation:
    """Return a film of a picture of space that turns once.

    Parameters
    ----------
    picture : callable
        `level_set`, `solid`, `boundaries_3d`, `output_surface`, or a function with arguments ``view=`` and
        ``axes=``.
    found : LevelSet or Partition
        Object to draw.
    frames : int
        Number of views, at equal angles.
    fps : float
        Frames per second.
    view : View, optional
        View of the first frame.
    **options
        Further arguments of the picture.

    Returns
    -------
    matplotlib.animation.FuncAnimation
        `reluscope.plots.save_animation` writes it to a file; ``to_jshtml()`` makes a player for a notebook.

    Notes
    -----
    A frame is drawn like a single picture, in some 0.2 s; ``pixels=400`` is enough for a GIF.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> ball = rs.load([(np.r_[np.eye(3), -np.eye(3)], np.zeros(6)), (np.ones((1, 6)), -np.ones(1))])
    >>> film = rs.plots.turntable(rs.plots.level_set, rs.level_set(ball, rs.Box(-1, 1, 3)), frames=3, pixels=50)
    >>> rs.plots.to_gif(film)[:6]
    b'GIF89a'
    """
    start = replace(view or View(), is_steady=True)
    figure = Figure(figsize=SIZE)
    FilmCanvas(figure)
    axes = figure.add_subplot()

    def show(index: int) -> None:
        axes.clear()  # of the scale beside the picture, too
        picture(found, view=start.turned(360.0 * index / frames), axes=axes, **options)
        below = BELOW if axes.get_legend() else 0.0
        axes.set_position((0.0, below, BESIDE if axes.child_axes else 1.0, 1.0 - below))
        axes.set_anchor("C")

    show(0)
    return film_of(figure, show, frames, fps)
