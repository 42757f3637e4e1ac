"""The decision region of a small network in space, as a solid, its facets coloured by their numbers of corners."""

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.mplot3d import Axes3D
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from reluscope.analyses.annulus.boundary import DecisionRegion
from reluscope.arguments import read_drawn
from reluscope.errors import InputError
from reluscope.plots.style import DARK, INK, category, legend_below

NAMES = {3: "triangles", 4: "quadrilaterals", 5: "pentagons", 6: "hexagons"}


@read_drawn
def decision_polytope(*regions: DecisionRegion, titles: tuple[str, ...] = ()) -> Figure:
    """Draw bounded convex decision regions of networks of three inputs, side by side.

    Parameters
    ----------
    *regions : DecisionRegion
    titles : tuple of str
        One per region, or none.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InputError
        If there is no region, or one is not bounded and convex in three dimensions.

    Examples
    --------
    >>> import reluscope as rs
    >>> figure = decision_polytope(rs.annulus.decision_region(rs.annulus.expanded_simplex_layers(3)))
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['triangles', 'quadrilaterals']
    """
    if not regions or any(one.dim != 3 or not one.is_convex for one in regions):
        raise InputError("expected bounded convex decision regions in three dimensions, at least one")
    figure = Figure(figsize=(3.3 * len(regions), 3.9), layout="constrained")
    FigureCanvasAgg(figure)
    kinds = sorted({int(size) for one in regions for size in one.incidence.sum(axis=1)})
    colors = {kind: category(index) for index, kind in enumerate(kinds)}
    for index, region in enumerate(regions):
        axes = figure.add_subplot(1, len(regions), index + 1, projection="3d")
        assert isinstance(axes, Axes3D)
        rings = [
            _ring(region.vertices[row], normal) for row, normal in zip(region.incidence, region.normals, strict=True)
        ]
        solid = Poly3DCollection(rings, facecolors=[colors[len(ring)] for ring in rings], edgecolors=DARK, alpha=0.9)
        solid.set_linewidth(1.0)
        axes.add_collection3d(solid)
        low, high = region.vertices.min(axis=0), region.vertices.max(axis=0)
        reach = 0.52 * float((high - low).max())
        limits = [(middle - reach, middle + reach) for middle in (low + high) / 2]
        axes.set(xlim=limits[0], ylim=limits[1], zlim=limits[2])
        axes.set_box_aspect((1, 1, 1))
        axes.view_init(elev=22, azim=32)
        for axis, name in ((axes.xaxis, "$x_1$"), (axes.yaxis, "$x_2$"), (axes.zaxis, "$x_3$")):
            axis.set_pane_color((1, 1, 1, 0))  # pyright: ignore[reportAttributeAccessIssue]
            axis.set_tick_params(colors=INK, labelsize=7)
            axis.label.set_color(INK)
            axis.set_rotate_label(False)  # pyright: ignore[reportAttributeAccessIssue]
            axis.set_label_text(name)
            axis.set_major_locator(MaxNLocator(4))
        if titles:
            axes.set_title(titles[index], color=INK, fontsize=9.5)
    legend_below(figure, [Patch(facecolor=colors[kind], label=NAMES.get(kind, f"{kind} corners")) for kind in kinds])
    return figure


def _ring(points: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Return the corners of a facet in their order around it."""
    around = points - points.mean(axis=0)
    first = around[0] / np.linalg.norm(around[0])
    return points[np.argsort(np.arctan2(around @ np.cross(normal, first), around @ first))]
