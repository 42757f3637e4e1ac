"""About how long a forward pass takes, from the network alone: plans of work that are the same on every machine."""

from reluscope.networks.network import Network
from reluscope.networks.operators.convolution import Convolution, TransposedConvolution

# Seconds of a multiplication and of an entry, in batches on one core of an ordinary machine of 2024; convolutions in
# float64 take far longer than products of matrices.
MULTIPLICATION, CONVOLVED, ENTRY = 5e-10, 4e-9, 3e-9


def pass_seconds(network: Network) -> float:
    """Return about how many seconds a forward pass takes for one of many points.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.ones((100, 100)), np.zeros(100)), (np.ones((1, 100)), np.zeros(1))])
    >>> 4e-6 < pass_seconds(net) < 1e-5
    True
    """
    total = 0.0
    for node in network.nodes:
        each = CONVOLVED if isinstance(node, Convolution | TransposedConvolution) else MULTIPLICATION
        total += ENTRY * node.size + each * node.products
    return total
