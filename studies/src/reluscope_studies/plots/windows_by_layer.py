"""A positive number by layer, a line for each window of the image."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from reluscope.plots.style import INK, canvas, category, dashes, legend_below


def windows_by_layer(
    lines: Mapping[str, Float[np.ndarray, " k"]], *, layers: Sequence[str], label: str = "condition number"
) -> Figure:
    """Draw a line for each window over the layers, with a logarithmic scale.

    Examples
    --------
    >>> figure = windows_by_layer({"2 x 2": np.array([1.0, 10.0])}, layers=["relu1", "relu2"])
    >>> figure.axes[0].get_yscale()
    'log'
    """
    figure = Figure(figsize=(5.2, 3.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = canvas(figure.add_subplot(), (0.0, 0.0))
    for number, (name, values) in enumerate(lines.items()):
        axes.plot(values, color=category(number), linestyle=dashes(number), marker="o", markersize=3.5, label=name)
    axes.set_yscale("log")
    axes.set_xticks(range(len(layers)), layers)
    axes.set_ylabel(label, color=INK)
    legend_below(figure, axes.get_legend_handles_labels()[0])
    return figure
