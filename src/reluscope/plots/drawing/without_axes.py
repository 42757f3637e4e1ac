"""Axes without ticks: around images, and around sentences that stand in place of pictures."""

from matplotlib.axes import Axes

from reluscope.plots.style import INK, say


def unmark(axes: Axes) -> None:
    """Take away the ticks of both axes."""
    axes.set_xticks([])
    axes.set_yticks([])


def say_alone(axes: Axes, text: str) -> None:
    """Write a sentence in place of a picture."""
    unmark(axes)
    say(axes, text)


def frame_image(axes: Axes, width: float = 0.6, alpha: float | None = None) -> None:
    """Put a thin frame around an image."""
    unmark(axes)
    for side in axes.spines.values():
        side.set_color(INK)
        side.set_linewidth(width)
        side.set_alpha(alpha)
