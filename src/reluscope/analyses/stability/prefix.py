"""The Jacobian of one prefix as a matrix, and the rows that its gate removes, to which the lemmas apply."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from reluscope.analyses.stability.jacobians import carried
from reluscope.analyses.stability.layer_jacobians import layers
from reluscope.arguments import read_arguments
from reluscope.errors import InputError
from reluscope.networks.evaluation.linearize import point_pieces
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.shown import Shown


@dataclass(frozen=True, eq=False, repr=False)
class PrefixMap(Shown):
    """A prefix Jacobian, with row factors for layers followed by a pointwise gate.

    Parameters
    ----------
    matrix : (m, n) float64
        Jacobian from the input to the layer, on the region of the sample.
    slopes : (m,) float64 or None
        Absolute slopes of the units of the next gate; ReLU removes the rows of zero slope.
    error : float
        Bound on the Frobenius norm of the rounding error of the matrix.
    """

    matrix: Float[np.ndarray, "m n"]
    slopes: Float[np.ndarray, " m"] | None
    error: float


@read_arguments
def prefix_map(network: Network, x: Points, layer: int) -> PrefixMap:
    """Return the Jacobian from the input through one layer, on the region of a sample.

    Parameters
    ----------
    network : Network
    x : (*input_shape) or (n,)
        One sample.
    layer : int
        Position among the layers; see `layers`.

    Returns
    -------
    PrefixMap

    Raises
    ------
    InputError
        If there is more than one sample, or the layer does not exist.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.array([[1.0, 0.0], [0.0, -1.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> found = rs.stability.prefix_map(net, [1.0, 1.0], 0)
    >>> found.matrix.tolist(), found.slopes.tolist()
    ([[1.0, 0.0], [0.0, -1.0]], [1.0, 0.0])
    """
    points, number = network.points(x), len(layers(network))
    if len(points) != 1:
        raise InputError(f"expected one sample, got {len(points)}: ask for one after another")
    if not 0 <= layer < number:
        raise InputError(f"expected a layer from 0 to {number - 1}, got {layer}: stability.layers(net) lists them")
    # Rounding as the default tolerance counts it.
    for step in carried(network, point_pieces(network, points), gamma=16 * float(np.finfo(np.float64).eps)):
        if step.before == layer:
            slopes = None if step.scale is None else step.scale.cpu().numpy()
            return PrefixMap(step.columns.T.cpu().numpy().copy(), slopes, step.errors[0])
        if step.after == layer:
            assert step.scale is not None
            rows = step.columns * step.scale
            return PrefixMap(rows.T.cpu().numpy().copy(), None, step.errors[1])
    raise AssertionError("every layer has a step")
