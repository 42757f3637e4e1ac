"""The decision region of a small network in space, as a solid, its facets coloured by their numbers of corners."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from reluscope.arguments import read_drawn
from reluscope.errors import InputError
from reluscope.extending.pictures import Scene, draw_scene, new_figure
from reluscope.plots import View
from reluscope.plots.style import INK, category, legend_below
from reluscope_studies.annulus.boundary import DecisionRegion

NAMES = {3: "triangles", 4: "quadrilaterals", 5: "pentagons", 6: "hexagons"}
PIXELS = 700


@read_drawn
def decision_polytope(*regions: DecisionRegion, titles: tuple[str, ...] = (), view: View | None = None) -> Figure:
    """Draw bounded convex decision regions of networks of three inputs, side by side.

    Parameters
    ----------
    *regions : DecisionRegion
    titles : tuple of str
        One per region, or none.
    view : View, optional
        From where to look.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InputError
        If there is no region, or one is not bounded and convex in three dimensions.

    Examples
    --------
    >>> from reluscope_studies import annulus
    >>> figure = decision_polytope(annulus.decision_region(annulus.expanded_simplex_layers(3)))
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['triangles', 'quadrilaterals']
    """
    if not regions or any(one.dim != 3 or not one.is_convex for one in regions):
        raise InputError("expected bounded convex decision regions in three dimensions, at least one")
    figure = new_figure((3.3 * len(regions), 4.2))
    kinds = sorted({int(size) for one in regions for size in one.incidence.sum(axis=1)})
    colors = {kind: category(index) for index, kind in enumerate(kinds)}
    for index, region in enumerate(regions):
        axes = figure.add_subplot(1, len(regions), index + 1)
        _draw(axes, region, colors, view or View(azimuth=32, elevation=22))
        axes.set_anchor("C")
        if titles:
            axes.set_title(titles[index], color=INK, fontsize=9.5)
    legend_below(figure, [Patch(facecolor=colors[kind], label=NAMES.get(kind, f"{kind} corners")) for kind in kinds])
    return figure


def _draw(axes: Axes, region: DecisionRegion, colors: dict[int, str], view: View) -> None:
    """Draw one region, in a cube around it."""
    rings = [_ring(region.vertices, row, normal) for row, normal in zip(region.incidence, region.normals, strict=True)]
    low, high = region.vertices.min(axis=0), region.vertices.max(axis=0)
    middle, reach = (low + high) / 2, 0.52 * float((high - low).max())
    scene = Scene(
        region.vertices,
        np.cumsum([0, *map(len, rings)]),
        np.concatenate(rings),
        np.array([(*to_rgb(colors[len(ring)]), 1.0) for ring in rings]),
        middle - reach,
        middle + reach,
        ("x\u2081", "x\u2082", "x\u2083"),
    )
    draw_scene(axes, scene, view, lines=True, pixels=PIXELS, room=(False, False))


def _ring(points: np.ndarray, row: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Return the corners of a facet in their order around it."""
    ids = np.flatnonzero(row)
    around = points[ids] - points[ids].mean(axis=0)
    first = around[0] / np.linalg.norm(around[0])
    return ids[np.argsort(np.arctan2(around @ np.cross(normal, first), around @ first))]
