"""The decision region of a small network in the plane, with the lines of its units and the numbers of active units."""

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle

from reluscope.arguments import Positive, read_drawn, read_labels
from reluscope.errors import InputError
from reluscope.plots.style import INK, canvas, category, dashes, figure_of, legend
from reluscope_studies.annulus.boundary import DecisionRegion

GRID = 400


@read_drawn
def decision_polygon(
    region: DecisionRegion,
    *,
    reach: Positive | None = None,
    samples: Float[np.ndarray, "p 2"] | None = None,
    labels: Int[np.ndarray, " p"] | None = None,
    radii: tuple[Positive, ...] = (),
    axes: Axes | None = None,
) -> Figure:
    """Draw the decision region of a network of two inputs.

    Parameters
    ----------
    region : DecisionRegion
        Bounded or not.
    reach : float, optional
        Half the side of the square that is shown; by default what holds vertices, samples and circles.
    samples : (p, 2), optional
        Points to show.
    labels : (p,), optional
        Their classes.
    radii : tuple of float
        Of circles around the origin.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        The boundary is black, each unit's line has its own colour and dashes, and the background is darker where more
        units are active.

    Raises
    ------
    InputError
        If the network has another number of inputs.

    Examples
    --------
    >>> from reluscope_studies import annulus
    >>> figure = decision_polygon(annulus.decision_region(annulus.expanded_simplex_layers(2)))
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['unit 1', 'unit 2', 'unit 3', 'decision boundary']
    """
    if region.dim != 2:
        raise InputError(f"expected a decision region in the plane, got one in {region.dim} dimensions")
    axes = canvas(axes, (4.4, 4.8))
    found = [np.abs(region.vertices).max(initial=0.0), *radii]
    if samples is not None and len(samples):
        found.append(float(np.abs(samples).max()))
    reach = 1.15 * max(found) or 1.0 if reach is None else reach
    network = region.network
    ticks = np.linspace(-reach, reach, GRID)
    grid = np.stack(np.meshgrid(ticks, ticks), axis=-1)
    active = (grid @ network.weight.T + network.bias > 0).sum(axis=-1)
    shades = {"cmap": "Greens", "vmin": 0, "vmax": 2.2 * max(1, network.num_units), "alpha": 0.9}
    axes.pcolormesh(ticks, ticks, active, shading="nearest", rasterized=True, zorder=0, **shades)
    for radius in radii:
        axes.add_patch(Circle((0, 0), radius, fill=False, edgecolor=INK, linewidth=0.8, linestyle=":", zorder=2))
    if samples is not None and len(samples):
        classes = np.zeros(len(samples), int) if labels is None else read_labels(labels, num_samples=len(samples))
        for index, one in enumerate(np.unique(classes)):
            places = samples[classes == one]
            axes.scatter(*places.T, s=6, color=category(index), linewidths=0, alpha=0.6, zorder=3, rasterized=True)
    handles = []
    for unit, (normal, bias) in enumerate(zip(network.weight, network.bias, strict=True)):
        if normal.any():
            middle, way = -bias * normal / (normal @ normal), np.array([-normal[1], normal[0]])
            ends = middle + np.array([[-1.0], [1.0]]) * 4 * (reach + np.linalg.norm(middle)) * way / np.hypot(*way)
            color = category((5, 3, 8, 9, 4, 7)[unit % 6])  # samples have the first two
            axes.plot(*ends.T, color=color, linestyle=dashes(unit), linewidth=1.4, zorder=4)
            handles.append(Line2D([], [], color=color, linestyle=dashes(unit), label=f"unit {unit + 1}"))
    values = network(grid)
    if (values <= 0).any() and (values > 0).any():
        if region.is_bounded:
            for row in region.incidence:
                axes.plot(*region.vertices[row].T, color="black", linewidth=2.2, solid_capstyle="round", zorder=5)
        else:
            axes.contour(ticks, ticks, values, levels=[0.0], colors="black", linewidths=2.2, zorder=5)
        handles.append(Line2D([], [], color="black", linewidth=2.2, label="decision boundary"))
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-reach, reach)
    axes.set_aspect("equal")
    axes.set_xlabel("x₁")
    axes.set_ylabel("x₂")
    legend(axes, handles, ncols=2)
    return figure_of(axes)
