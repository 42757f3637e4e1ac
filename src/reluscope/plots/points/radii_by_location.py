"""Sizes of the linear regions at several locations that belong to one sample, joined by a line for each sample."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reluscope.arguments import read_drawn
from reluscope.errors import ShapeError
from reluscope.plots.drawing.without_axes import say_alone
from reluscope.plots.style import INK, bare, canvas, category, figure_of, legend, number_logarithmically

MARKERS = ("o", "s", "^", "D", "v")


@read_drawn
def radii_by_location(
    radii: Float[np.ndarray, "s p"],
    locations: Sequence[str],
    *,
    label: str = "radius of the inscribed ball",
    axes: Axes | None = None,
) -> Figure:
    """Draw the sizes at p locations of every sample.

    Parameters
    ----------
    radii : (s, p) float64
        NaN where a sample has no such location. Zero and infinite sizes are omitted from the logarithmic scale.
    locations : sequence of str
    label : str
        Meaning of the sizes.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        Thin lines join the locations of one sample; bars are medians over the samples of a location.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> figure = rs.plots.radii_by_location(np.array([[0.1, 0.2], [0.3, np.nan]]), ["at the sample", "beyond"])
    >>> [tick.get_text() for tick in figure.axes[0].get_xticklabels()]
    ['at the sample (2)', 'beyond (1)']
    """
    axes = canvas(axes, (6.4, 3.4))
    shown = np.where(np.isfinite(radii) & (radii > 0), radii, np.nan)
    counts = np.isfinite(shown).sum(axis=0)
    bare(axes, "top", "right")
    if not counts.any():
        say_alone(axes, "no size is finite and positive")
        return figure_of(axes)
    if len(locations) != radii.shape[1]:
        raise ShapeError(f"expected one name for each of {radii.shape[1]} locations, got {len(locations)}")
    at = np.arange(len(locations))
    for line in shown:
        known = np.isfinite(line)
        axes.plot(at[known], line[known], color=INK, linewidth=0.7, alpha=0.35, zorder=1)
    for location in at[counts > 0]:
        sizes = shown[:, location]
        color, marker = category(int(location)), MARKERS[location % len(MARKERS)]
        axes.plot(np.full(len(sizes), location), sizes, marker, color=color, markersize=4.6, alpha=0.9, zorder=3)
        median = float(np.nanmedian(sizes))
        axes.plot([location - 0.17, location + 0.17], [median, median], color=INK, linewidth=2.4, zorder=4)
    number_logarithmically(axes, float(np.nanmax(shown) / np.nanmin(shown)), along="y")
    axes.set_xlim(-0.5, len(locations) - 0.5)
    axes.set_xticks(
        at,
        [f"{name} ({count:,})" for name, count in zip(locations, counts.tolist(), strict=True)],
    )
    axes.set_ylabel(label)
    axes.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
    legend(
        axes, [Line2D([], [], color=INK, linewidth=2.4, label="median")], loc="lower right", bbox_to_anchor=(1.0, 1.0)
    )
    return figure_of(axes)
