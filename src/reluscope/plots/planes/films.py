"""An animation of the regions of a network on a plane, and of their coefficients, during training."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from jaxtyping import Int
from matplotlib.animation import FuncAnimation
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from reluscope.arguments import Positive, read_drawn
from reluscope.errors import InputError
from reluscope.networks.graph.points import Points
from reluscope.partitions.partition_in_memory import Partition
from reluscope.plots.planes.coefficient_scatter import Output
from reluscope.plots.planes.frames import draw_frame, frames_of, handles_of
from reluscope.plots.planes.region_colors import RegionColors
from reluscope.plots.planes.regions_and_coefficients import SIDE, set_axes, set_title
from reluscope.plots.style import legend_below


@read_drawn
def animation(
    partitions: Iterable[Partition],
    *,
    titles: Iterable[str] | None = None,
    output: Output = None,
    neighbors: bool = True,
    samples: Points | None = None,
    labels: Int[np.ndarray, " s"] | None = None,
    fps: Positive = 10.0,
    colors: RegionColors | None = None,
) -> FuncAnimation:
    """Return a film with one frame per partition: regions at the left, their coefficients at the right.

    Parameters
    ----------
    partitions : iterable of Partition
        Partitions of one bounded plane, by networks with the same gates, such as one network after each epoch. Each
        is read once and released: a generator never holds two. Empty and incomplete partitions are shown as they
        are.
    titles : iterable of str, optional
        One per partition; by default its number of regions with the claim.
    output : int or pair of int, optional
        As for `reluscope.plots.coefficient_scatter`.
    neighbors : bool
        Join the coefficients of regions that share a facet.
    samples : (s, *input_shape) or (s, n), optional
        Points of input space to mark in every frame.
    labels : (s,) int, optional
        Classes of the samples, distinguished by mark and filling.
    fps : float
        Frames per second.
    colors : RegionColors, optional
        Colours to reuse, so that equal codes match in several pictures.

    Returns
    -------
    matplotlib.animation.FuncAnimation
        A region keeps its colour as long as its code exists, and if it returns. Limits are those of all frames.
        `reluscope.plots.save_animation` writes the film to a file; ``to_jshtml()`` makes a player for a notebook.

    Raises
    ------
    InputError
        If there is no partition, they are not of one bounded plane, or differ in their gates, networks are missing,
        or there is not one title per partition.
    ShapeError
        If there is not one label per sample.

    Notes
    -----
    All partitions are read at once to find the limits. Memory holds the drawn data, about 0.3 kB per region and
    frame. Drawing takes some 0.1 s per frame.

    Examples
    --------
    >>> import tempfile, os, numpy as np, reluscope as rs
    >>> networks = [rs.load([(np.eye(2), np.array([b, 0.0])), (np.ones((1, 2)), np.zeros(1))]) for b in (0.0, 0.5)]
    >>> film = rs.plots.animation(rs.partition(network, rs.Box(-1, 1, 2)) for network in networks)
    >>> rs.plots.to_gif(film)[:6]
    b'GIF89a'
    """
    if not 0 < fps < float("inf"):
        raise InputError(f"fps must be a positive number of frames per second, got {fps}")
    frames = frames_of(partitions, titles, output, colors or RegionColors())
    figure = Figure(figsize=(2 * SIDE + 1.0, SIDE + 0.8), layout="constrained")
    FilmCanvas(figure)
    left, right = figure.subplots(1, 2)
    marks = set_axes(left, right, frames, samples, labels)
    legend_below(figure, [*handles_of(frames), *marks])

    def show(index: int) -> None:
        draw_frame(left, right, frames[index], neighbors=neighbors)
        set_title(figure, frames[index])

    show(0)
    # Laid out once: places stay, and a frame takes half the time.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return film_of(figure, show, len(frames), fps)


def film_of(figure: Figure, show: Callable[[int], None], frames: int, fps: float) -> FuncAnimation:
    """Return a film whose frames a function draws into a figure, of which the first is there already."""
    interval: Any = 1000.0 / fps  # matplotlib takes any number
    film = FuncAnimation(figure, show, frames=frames, interval=interval, blit=False, cache_frame_data=False)
    # Without this, matplotlib warns when a film is dropped that was not saved.
    film._draw_was_started = True  # pyright: ignore[reportAttributeAccessIssue]
    return film


class FilmCanvas(FigureCanvasAgg):
    """A canvas without a window that draws each frame once, when its pixels are asked for."""

    def draw_idle(self, *arguments: object, **options: object) -> None:
        """Draw nothing."""
        del arguments, options
