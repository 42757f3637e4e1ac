"""The gates of a network as bounds read them: their sizes, and the dimensions that bottlenecks let through."""

from collections import Counter
from itertools import pairwise

from reluscope.analyses.bounds.architecture import LayerSize
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import Affine, GateNode, Pointwise
from reluscope.networks.network import Network


def read_layers(network: Network) -> tuple[tuple[LayerSize, ...], bool]:
    """Return the sizes of a network's gates, and whether every gate reads nothing but the gate before it."""
    num_inputs = network.num_inputs
    dimensions: list[int] = []
    layers: list[LayerSize] = []
    for node in network.nodes:
        if isinstance(node, GateNode):
            reads = dimensions[node.inputs[0]]
            layers.append(LayerSize(_ranks(node), reads, _is_relu(node)))
            dimensions.append(min(reads, node.num_units))
        elif isinstance(node, Affine):
            dimensions.append(min(num_inputs, node.size, sum(dimensions[source] for source in node.inputs)))
        else:
            dimensions.append(num_inputs)
    stages = network.stages
    follows = all(after.reads == (before.position,) for before, after in pairwise(stages))
    return tuple(layers), follows and all(stage.reads == (0,) for stage in stages[:1])


def _ranks(gate: GateNode) -> tuple[tuple[int, int], ...]:
    if isinstance(gate, Max):
        return tuple(sorted(Counter((gate.index >= 0).sum(dim=1).tolist()).items()))
    return ((gate.num_pieces, gate.num_units),)


def _is_relu(gate: GateNode) -> bool:
    if not isinstance(gate, Pointwise) or gate.num_pieces != 2:
        return False
    return bool(((gate.slopes == 0).sum(dim=0) == 1).all())
