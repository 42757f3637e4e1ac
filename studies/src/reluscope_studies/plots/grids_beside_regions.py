"""Labels of a grid of points beside the exact regions of the same plane."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Int
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

import reluscope as rs
from reluscope.plots.style import INK, canvas, category, say, shortened, tint

TINTS, FEW = 6, 4


def grids_beside_regions(found: Mapping[str, tuple[rs.Partition, Int[np.ndarray, "p q"]]]) -> Figure:
    """Draw labels on a grid beside exact regions, one row per network.

    Parameters
    ----------
    found : mapping of names to (Partition, (p, q) int array)
        A partition of a plane with a box as its window, and labels of the cells of that window, the first row on top.

    Returns
    -------
    matplotlib.figure.Figure
        Labels and regions in six tints without meaning.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> part = rs.partition(net, rs.Box(-1, 1, 2))
    >>> figure = grids_beside_regions({"net": (part, np.array([[0, 1], [2, 3]]))})
    >>> [axes.get_title() for axes in figure.axes]
    ['4 labels on a 2 x 2 grid', '4 regions (EXACT)']
    """
    if not found:
        axes = canvas(None, (4.0, 2.0))
        axes.set_axis_off()
        say(axes, "there are no slices")
        return axes.figure  # pyright: ignore[reportReturnType]
    figure = Figure(figsize=(7.6, 3.3 * len(found)), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(len(found), 2, squeeze=False)
    for row, (name, (part, labels)) in zip(grid, found.items(), strict=True):
        _labels(canvas(row[0], (0, 0)), part, labels)
        row[0].set_ylabel(shortened(name), fontsize=9.5, color=INK)
        rs.plots.partition(part, color="random", axes=row[1])
        row[1].set_title(rs.plots.say_regions(part), fontsize=9.5, color=INK)
        for axes in row:  # numbers of small windows are long
            axes.xaxis.set_major_locator(MaxNLocator(FEW))
    return figure


def _labels(axes: Axes, part: rs.Partition, labels: Int[np.ndarray, "p q"]) -> None:
    domain = part.bounded_domain
    window = domain if isinstance(domain, rs.Box) else domain.window
    assert isinstance(window, rs.Box)
    colors = ListedColormap([tint(category(index), 0.45) for index in range(TINTS)])
    # Labels that follow each other are often neighbours: a multiplier spreads them over the tints.
    shown = (labels * 2654435761 % 2**32) * TINTS // 2**32
    extent = (window.lo[0], window.hi[0], window.lo[1], window.hi[1])
    axes.imshow(shown, cmap=colors, vmin=-0.5, vmax=TINTS - 0.5, extent=extent, interpolation="none")
    number, (down, across) = len(np.unique(labels)), labels.shape
    axes.set_title(f"{number:,} labels on a {across} x {down} grid", fontsize=9.5, color=INK)
