"""Partitions of one plane by several networks: regions above, classes below, one column per network."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float, Int
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import reluscope as rs

COLUMN, ROW = 3.6, 3.3


def models_in_plane(
    parts: Mapping[str, rs.Partition],
    *,
    samples: Float[np.ndarray, "s _"] | None = None,
    labels: Int[np.ndarray, " s"] | None = None,
    sample_labels: Sequence[str] | None = None,
) -> Figure:
    """Draw the partitions of a plane by several networks beside each other.

    Parameters
    ----------
    parts : mapping of names to Partition
        All of the same plane, with their networks.
    samples : (s, *input_shape) or (s, n), optional
        Points of input space to mark.
    labels : (s,) int, optional
        The class of each sample, which gives it its colour.
    sample_labels : sequence of str, optional
        One per sample.

    Returns
    -------
    matplotlib.figure.Figure
        Above, regions coloured by the share of active units; below, what each network takes for which class, with its
        decision boundary. The number of regions stands with the name.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> figure = models_in_plane({"plain": rs.partition(net, rs.Box(-1, 1, 2))})
    >>> figure.axes[0].get_title()
    'plain: 4 regions'
    """
    figure = Figure(figsize=(COLUMN * max(1, len(parts)), 2 * ROW), layout="constrained")
    FigureCanvasAgg(figure)
    if not parts:
        return figure
    rows = figure.subplots(2, len(parts), squeeze=False)
    for (name, part), above, below in zip(parts.items(), *rows, strict=True):
        rs.plots.partition(part, color="activation_rate", axes=above)
        above.set_title(f"{name}: {part.finding().value:,} region{'s' * (len(part) != 1)}")
        marked = {"samples": samples, "labels": labels, "sample_labels": sample_labels}
        rs.plots.partition(part, color="class", lines=False, **marked, axes=below)
    return figure
