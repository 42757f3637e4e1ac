"""Newton polygons of a tropical rational function, each with the subdivision that is dual to its pieces."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure

from reluscope.analyses.tropical.newton import NewtonPolygon, NewtonPolygons
from reluscope.arguments import read_drawn
from reluscope.plots.figures import new_figure
from reluscope.plots.style import DARK, bare, canvas, category, tint

MAX_LABELS = 8


@read_drawn
def newton_polygons(found: NewtonPolygons) -> Figure:
    """Draw the exponents of numerator and denominator, and which of them meet.

    Parameters
    ----------
    found : NewtonPolygons

    Returns
    -------
    matplotlib.figure.Figure
        Two pictures to one scale. A dot is a monomial, at its exponents, with its constant beside it if there are few;
        a line joins two that share an edge of the pieces, a polygon all that meet at a point.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[1.0, 1.0], [1.0, 1.0]], [2.0, 0.0]), ([[1.0, -2.0]], [-1.0])])
    >>> figure = rs.plots.newton_polygons(rs.tropical.newton_polygons(rs.tropical.rational_form(net)))
    >>> [axes.get_title() for axes in figure.axes]
    ['numerator, 2 monomials', 'denominator, 2 monomials']
    """
    figure = new_figure((8.0, 4.4), "compressed")
    both = figure.subplots(1, 2, sharex=True, sharey=True)
    pairs = (("numerator", found.numerator), ("denominator", found.denominator))
    for index, (axes, (name, polygon)) in enumerate(zip(both, pairs, strict=True)):
        number = len(polygon.exponents)
        axes.set_title(f"{name}, {number} monomial{'s' * (number != 1)}")
        _draw(canvas(axes, (4.0, 4.2)), polygon, category(index))
    places = np.concatenate([polygon.exponents for _, polygon in pairs])
    middle, half = (places.max(axis=0) + places.min(axis=0)) / 2, float(np.ptp(places, axis=0).max()) / 2 or 1.0
    both[0].set_xlim(middle[0] - 1.2 * half, middle[0] + 1.2 * half)
    both[0].set_ylim(middle[1] - 1.2 * half, middle[1] + 1.2 * half)
    both[0].set_ylabel("exponent of x₂")
    return figure


def _draw(axes: Axes, polygon: NewtonPolygon, color: str) -> None:
    places, few = polygon.exponents, len(polygon.exponents) <= MAX_LABELS
    rings = [places[list(face)] for face in polygon.faces]
    axes.add_collection(PolyCollection(rings, facecolors=tint(color, 0.25), edgecolors="none", zorder=1))
    lines = [places[list(edge)] for edge in polygon.edges]
    axes.add_collection(LineCollection(lines, colors=color, linewidths=1.2, zorder=2))
    axes.scatter(*places.T, s=26 if few else 12, color=color, edgecolors=DARK, linewidths=0.6, zorder=3)
    if few:
        for place, constant in zip(places, polygon.constants, strict=True):
            axes.annotate(f"{constant:.3g}", place, xytext=(5, 4), textcoords="offset points", fontsize=8, color=DARK)
    axes.set_aspect("equal")
    axes.set_xlabel("exponent of x₁")
    bare(axes, "top", "right")
