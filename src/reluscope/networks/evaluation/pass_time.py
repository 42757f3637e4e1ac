"""About how long passes, regions and programs take, from the network alone.

Whatever plans how much to do counts on these numbers, and not on a clock, so that it does the same on every machine.
"""

from reluscope.networks.graph.operators.convolution import Convolution, TransposedConvolution
from reluscope.networks.passes.network_graph import NetworkGraph

# Seconds of a multiplication and of an entry, in batches on one core of an ordinary machine of 2024; convolutions in
# float64 take far longer than products of matrices.
MULTIPLICATION, CONVOLVED, ENTRY = 5e-10, 4e-9, 3e-9
# Seconds that a region of a plane takes beside a pass, and those of a linear program and of an entry of its matrix.
BESIDE, PROGRAM, PROGRAM_ENTRY = 1e-5, 2e-4, 2.5e-7


def pass_seconds(network: NetworkGraph) -> float:
    """Return about how many seconds a forward pass takes for one of many points."""
    total = 0.0
    for node in network.nodes:
        each = CONVOLVED if isinstance(node, Convolution | TransposedConvolution) else MULTIPLICATION
        total += ENTRY * node.size + each * node.products
    return total


def region_seconds(network: NetworkGraph) -> float:
    """Return about how many seconds a region of a line or plane takes."""
    return pass_seconds(network) + BESIDE


def program_seconds(network: NetworkGraph) -> float:
    """Return about how many seconds a linear program over the inputs takes, with a row for each unit."""
    return PROGRAM + PROGRAM_ENTRY * network.num_inputs * network.num_units
