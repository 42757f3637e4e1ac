"""What rounding does to the local maps of a network: one bound for all of its regions.

An entry of (W, b) is a sum over paths of products of constants. With every constant replaced by its absolute value and
every gate by its steepest piece, one pass gives sums that no region exceeds; rounding is at most gamma times them.
"""

import torch

from reluscope.networks.graph import Affine, Pointwise
from reluscope.networks.network import Network
from reluscope.tolerance import Tolerance


def map_rounding(network: Network, tolerance: Tolerance) -> float:
    """Return a bound on the Frobenius norm of the rounding of any local map (W, b).

    Parameters
    ----------
    network : Network
    tolerance : Tolerance
        Its safety factor for rounding.

    Notes
    -----
    One forward pass of a point. Generous for deep networks, whose paths mostly cancel.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> map_rounding(net, Tolerance()) < 1e-13
    True
    """
    return _rounding(network, tolerance, has_constants=True)


def weight_rounding(network: Network, tolerance: Tolerance) -> float:
    """Return a bound on the Frobenius norm of the rounding of the weight W of any local map; see `map_rounding`.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.full(2, 1e9)), (np.ones((1, 2)), np.zeros(1))])
    >>> weight_rounding(net, Tolerance()) < 1e-13 < map_rounding(net, Tolerance())
    True
    """
    return _rounding(network, tolerance, has_constants=False)


@torch.no_grad()
def _rounding(network: Network, tolerance: Tolerance, *, has_constants: bool) -> float:
    gamma = tolerance.rounding * torch.finfo(torch.float64).eps
    values = [torch.ones(1, *network.input_shape, dtype=torch.float64, device=network.device)]
    affine = 0
    for node in network.nodes[1:]:
        arguments = [values[source] for source in node.inputs]
        if isinstance(node, Affine):
            absolute = node.absolute()
            values.append((absolute.apply if has_constants else absolute.linear)(*arguments))
            affine += 1
        elif isinstance(node, Pointwise):
            steepest, highest = float(node.slopes.abs().max()), float(node.intercepts.abs().max())
            passed = steepest * arguments[0] + (highest if has_constants else 0.0)
            values.append(passed.reshape(1, *node.shape))
        else:
            candidates = node.candidates(arguments[0])  # pyright: ignore[reportAttributeAccessIssue]
            values.append(candidates.amax(-1).reshape(1, *node.shape))
    return gamma * (affine + 1) * float(torch.linalg.vector_norm(values[network.output]))
