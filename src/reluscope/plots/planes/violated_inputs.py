"""Inputs that violate a property, over two of the inputs: the shadows of all pieces."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from scipy.spatial import ConvexHull, QhullError

from reluscope.analyses.preimages.input_pieces import InputPieces
from reluscope.arguments import read_axes, read_drawn
from reluscope.errors import DegenerateGeometryError, InputError
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.plots.style import DARK, NEUTRAL, RASTER_ABOVE, canvas, category, figure_of, legend, say

HATCH = "////"


@read_drawn
def violations(found: InputPieces, *, inputs: tuple[int, int] = (0, 1), axes: Axes | None = None) -> Figure:
    """Draw the inputs that violate a property, over two of the inputs.

    Parameters
    ----------
    found : Violations, or InputPieces of `reluscope.preimages.of`
    inputs : two int
        Inputs on the axes. With two inputs every piece is drawn as it is; with more its projection, so that pieces
        overlap: a point is dark if some values of the other inputs violate the property.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        Undecided boxes are hatched. If the property has several boxes of inputs, each has a dashed outline: nothing
        is known outside them.

    Raises
    ------
    InputError
        If the network has one input, or the two are the same.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> unsafe = rs.Polyhedron([[-1.0]], [-1.0])
    >>> safe = rs.verification.Property([rs.verification.Case([-1.0, -1.0], [1.0, 1.0], [unsafe])])
    >>> figure = rs.plots.violations(rs.violations(net, safe))
    >>> figure.axes[0].get_xlabel()
    'input 0'
    """
    num_inputs = found.ends.shape[2]
    chosen = read_axes(inputs, "inputs", num_inputs)
    axes = canvas(axes, (5.4, 5.0))
    axes.set_xlabel(f"input {chosen[0]}")
    axes.set_ylabel(f"input {chosen[1]}")
    ends = np.concatenate([found.inputs, *found.ends, *found.open_boxes])[:, chosen]
    low, high = ends.min(axis=0), ends.max(axis=0)
    pad = np.where(high > low, 0.0, 0.5 * np.maximum(1.0, np.abs(low)))
    axes.set_xlim(low[0] - pad[0], high[0] + pad[0])
    axes.set_ylim(low[1] - pad[1], high[1] + pad[1])
    open_, bad = _rectangles(found.open_boxes[:, :, chosen]), category(5)
    shadows = [_shadow(piece, box, chosen) for piece, box in zip(found.pieces, found.ends, strict=True)]
    handles = []
    asked = _rectangles(np.unique(found.boxes[:, :, chosen], axis=0))
    if len(asked) > 1:
        dashed = {"facecolor": "none", "edgecolor": DARK, "linewidth": 0.8, "linestyle": "--"}
        axes.add_collection(PolyCollection(list(asked), zorder=3, **dashed))
        handles.append(Patch(label=f"asked about: {len(asked):,} boxes", **dashed))
    if len(open_):
        style = {"facecolor": NEUTRAL, "edgecolor": DARK, "hatch": HATCH, "alpha": 0.35}
        axes.add_collection(PolyCollection(list(open_), linewidths=0.0, **style))
        handles.append(Patch(label=f"not decided: {len(open_):,} {'box' if len(open_) == 1 else 'boxes'}", **style))
    if shadows:
        thin = {"linewidths": 0.3, "edgecolors": DARK, "rasterized": len(shadows) > RASTER_ABOVE}
        axes.add_collection(PolyCollection(shadows, facecolors=bad, alpha=1.0 if num_inputs == 2 else 0.4, **thin))
        handles.append(
            Patch(
                label=f"{found.short}: {len(shadows):,} {'piece' if len(shadows) == 1 else 'pieces'}",
                facecolor=bad,
                edgecolor=DARK,
            )
        )
    elif not len(open_):
        say(axes, f"no input is {found.short}")
    if handles:
        legend(axes, handles)
    return figure_of(axes)


def _shadow(piece: Polyhedron, ends: np.ndarray, chosen: list[int]) -> np.ndarray:
    """Return the corners of what a polyhedron is over two coordinates, in order; its box where they cannot be found."""
    try:
        corners = piece.vertices()[:, chosen]
        return corners[ConvexHull(corners).vertices]
    except (DegenerateGeometryError, InputError, QhullError):
        return _rectangles(ends[None][:, :, chosen])[0]


def _rectangles(boxes: np.ndarray) -> np.ndarray:
    """Return the corners of boxes, in order."""
    (low_x, low_y), (high_x, high_y) = boxes[:, 0].T, boxes[:, 1].T
    return np.stack(
        [np.stack([x, y], axis=1) for x, y in ((low_x, low_y), (high_x, low_y), (high_x, high_y), (low_x, high_y))],
        axis=1,
    )
