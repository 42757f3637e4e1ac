"""Classes, kinds of preimages and condition numbers of a network of two inputs, on its exact regions.

Reference: Behrmann et al., "Invariance and inverse stability under ReLU", 2018, Figure 1.
"""

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from reluscope.analyses.preimages.kinds import Preimages
from reluscope.arguments import read_drawn
from reluscope.errors import ShapeError
from reluscope.networks.graph.points import Points
from reluscope.partitions.partition_in_memory import Partition
from reluscope.plots.figures import new_figure
from reluscope.plots.planes.region_pictures import partition

PANEL, HEIGHT = 3.4, 3.4


@read_drawn
def preimages_in_plane(
    part: Partition,
    found: Preimages,
    conditions: Float[np.ndarray, " r"],
    *,
    samples: Points | None = None,
) -> Figure:
    """Draw the classes of a network of two inputs, and a layer's kinds of preimages and condition numbers.

    Parameters
    ----------
    part : Partition
        Partition of a plane, with its network.
    found : Preimages
        Preimages of the layer's output at one point of every region.
    conditions : (r,) float64
        Condition numbers of the layer's Jacobian, NaN if it has no nonzero singular value.
    samples : (s, *input_shape) or (s, n), optional
        Points of input space to mark, over the classes.

    Returns
    -------
    matplotlib.figure.Figure
        Three panels.

    Raises
    ------
    ShapeError
        If there is not one preimage and one number per region.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> part = rs.partition(net, rs.Box(-1, 1, 2))
    >>> found = rs.preimages.classify_at(net, part.witnesses)
    >>> figure = rs.plots.preimages_in_plane(part, found, np.ones(4))
    >>> [axes.get_title() for axes in figure.axes]
    ['prediction', 'preimage of the output', 'condition number']
    """
    if len(found) != len(part) or conditions.shape != (len(part),):
        raise ShapeError(
            f"expected a preimage and a condition number for each of {len(part)} regions, got {len(found)} and "
            f"{conditions.shape}"
        )
    figure = new_figure((3 * PANEL, HEIGHT))
    classes, kinds, numbers = figure.subplots(1, 3)
    partition(part, color="class", lines=False, samples=samples, axes=classes)
    names = np.array([found.kind(row).name.lower() for row in range(len(found))], dtype=str)
    partition(part, color=names, axes=kinds)
    partition(part, color=conditions, axes=numbers)
    for axes, title in ((classes, "prediction"), (kinds, "preimage of the output"), (numbers, "condition number")):
        axes.set_title(title)
    return figure
