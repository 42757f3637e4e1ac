"""A quantity of all pairs of networks as a heat map with its numbers."""

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from reluscope.analyses.similarity import PAIR_QUANTITIES, compared_networks, pair_matrix, pair_title
from reluscope.arguments import Positive, read_drawn, read_option
from reluscope.findings import Findings
from reluscope.plots.style import DARK, INK, LIGHT, bare, canvas, figure_of, scale_beside, shortened


@read_drawn
def similarity(found: Findings, name: str, *, cap: Positive | None = None, axes: Axes | None = None) -> Figure:
    """Draw one quantity for all pairs of networks, rows against columns.

    Parameters
    ----------
    found : Findings
        As `reluscope.similarity.compare` returns it.
    name : str
        Name of the quantity, for instance ``"cka"``.
    cap : float, optional
        Larger numbers share one colour, so that a few do not hide the rest.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        Light cells are similar, dark ones are not; a dash marks an undefined quantity.
    """
    drawn = PAIR_QUANTITIES[read_option(name, "name", [one for one in found if one in PAIR_QUANTITIES])]
    networks, values = compared_networks(found), pair_matrix(found, name)
    number = len(networks)
    side = 2.0 + 0.62 * max(number, 2)
    axes = canvas(axes, (side + 1.6, side))
    shown = values[np.isfinite(values)]
    low, high = (float(shown.min()), float(shown.max())) if len(shown) else (0.0, 1.0)
    clipped = cap is not None and high > cap
    high = cap if cap is not None and clipped else high
    norm = Normalize(low, high if high > low else low + 1.0)
    colors = colormaps["cividis" if drawn.grows_with_likeness else "cividis_r"]
    axes.imshow(np.ma.masked_invalid(values), cmap=colors, norm=norm, interpolation="none")
    size = 8.5 if number <= 8 else 6.5
    for row in range(number):
        for column in range(number):
            value = values[row, column]
            is_light = drawn.grows_with_likeness == (norm(value) > 0.55)
            shade = INK if not np.isfinite(value) else DARK if is_light else LIGHT
            text = f"{value:.3g}" if np.isfinite(value) else "–"
            axes.text(column, row, text, ha="center", va="center", color=shade, fontsize=size)
    names = [shortened(name, 18) for name in networks]
    axes.set_xticks(range(number), names, rotation=45 if number > 3 else 0, ha="right" if number > 3 else "center")
    axes.set_yticks(range(number), names)
    axes.tick_params(length=0)
    if not drawn.is_symmetric:
        is_mapped = "map" in name or name == "drop"
        axes.set_ylabel("from" if is_mapped else "first network")
        axes.set_xlabel("to" if is_mapped else "second network")
    bare(axes, "top", "right", "left", "bottom")
    scale_beside(axes, norm, colors, pair_title(found, name), extend="max" if clipped else "neither")
    return figure_of(axes)
