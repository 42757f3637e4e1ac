"""Parts of pictures; colours, axes and legends are in `reluscope.plots.style`."""

from reluscope.plots.figures import new_figure

__all__ = ["new_figure"]
