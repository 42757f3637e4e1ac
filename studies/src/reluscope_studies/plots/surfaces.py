"""Functions of two inputs as surfaces side by side."""

from collections.abc import Mapping

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import reluscope as rs
from reluscope.plots.style import INK

COLUMN, HEIGHT, LEFT = 3.1, 3.2, 0.07
# Along a diagonal of the plane, as good as.
VIEW = rs.plots.View(azimuth=-30, elevation=32)
PIXELS = 700


def surfaces(
    parts: Mapping[str, rs.Partition],
    maps: Mapping[str, np.ndarray] | None = None,
) -> Figure:
    """Draw the first output of networks over their regions, z = f(x, y), side by side.

    Parameters
    ----------
    parts : mapping of titles to Partition
        Of bounded planes.
    maps : mapping of titles to (r, 3) arrays, optional
        Slopes and value at the origin for every region, where they are not the network's own.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> len(surfaces({"sum": rs.partition(net, rs.Box(-1, 1, 2))}).axes)
    1
    """
    figure = Figure(figsize=(COLUMN * max(1, len(parts)), HEIGHT))
    FigureCanvasAgg(figure)
    for index, (title, part) in enumerate(parts.items()):
        axes = figure.add_axes(((index + LEFT) / len(parts), 0.0, (1 - LEFT) / len(parts), 0.9))
        one = np.full(len(part), "region")
        own = (maps or {}).get(title)
        rs.plots.output_surface(part, maps=own, color=one, name="output", view=VIEW, pixels=PIXELS, axes=axes)
        legend = axes.get_legend()
        if legend is not None:
            legend.remove()
        axes.set_anchor("C")
        axes.set_title(title, color=INK, fontsize=9.5)
    return figure
