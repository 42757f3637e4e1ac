"""A network with one gate more, which asks on which side of a level an output is.

Its unit is ``f - level``, so that the level cuts cells as any unit does, and what is known of units, rounding included,
is known of it.
"""

import torch

from reluscope.networks.graph.nodes import Node, Pointwise
from reluscope.networks.graph.operators.arrange import Reshape
from reluscope.networks.graph.operators.linear import Linear
from reluscope.networks.network import Network


def with_level_gate(network: Network, outputs: tuple[int, ...], level: float) -> Network:
    """Return a network that ends with a gate of one unit, active above a level.

    The unit is active where the one output, or the difference of the two, exceeds the level.
    """
    weight = torch.zeros(1, network.num_outputs, dtype=torch.float64)
    for output, sign in zip(outputs, (1.0, -1.0), strict=False):
        weight[0, output] = sign
    return with_last_gate(network, weight, torch.tensor([-level], dtype=torch.float64))


def with_last_gate(network: Network, weight: torch.Tensor, shift: torch.Tensor) -> Network:
    """Return a network that ends with a gate of units, each active where its function is positive.

    The functions, given by ``weight`` and ``shift``, are affine in the network's outputs.
    """
    nodes: list[Node] = list(network.nodes)
    position, number = network.output, len(weight)
    if len(network.output_shape) != 1:
        shapes = {"shape": (network.num_outputs,), "input_shapes": (network.output_shape,)}
        nodes.append(Reshape(name="outputs", inputs=(position,), **shapes))
        position = len(nodes) - 1
    away = Linear(
        name="away from the level",
        inputs=(position,),
        shape=(number,),
        input_shapes=((network.num_outputs,),),
        weight=weight.to(network.device),
        bias=shift.to(network.device) if shift.any() else None,
    )
    nodes.append(away)
    zero, one = torch.zeros(1, number, dtype=torch.float64), torch.ones(1, number, dtype=torch.float64)
    gate = Pointwise(
        name=_free_name({gate.name for gate in network.gates}),
        inputs=(len(nodes) - 1,),
        shape=(number,),
        kind="relu",
        breakpoints=zero.to(network.device),
        slopes=torch.cat([zero, one]).to(network.device),
        intercepts=torch.cat([zero, zero]).to(network.device),
    )
    return Network((*nodes, gate), len(nodes), network.notes)


def _free_name(names: set[str]) -> str:
    name = "level"
    while name in names:
        name += "_"
    return name
