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

    Parameters
    ----------
    network : Network
    outputs : tuple of one or two int
        An output, or two whose difference is meant.
    level : float

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = with_level_gate(rs.load([(np.eye(2), np.zeros(2))]), (0, 1), 3.0)
    >>> net([[5.0, 1.0], [5.0, 2.0], [5.0, 3.0]]).tolist()
    [[1.0], [0.0], [0.0]]
    """
    weight = torch.zeros(1, network.num_outputs, dtype=torch.float64)
    for output, sign in zip(outputs, (1.0, -1.0), strict=False):
        weight[0, output] = sign
    return with_last_gate(network, weight, torch.tensor([-level], dtype=torch.float64))


def with_last_gate(network: Network, weight: torch.Tensor, shift: torch.Tensor) -> Network:
    """Return a network that ends with a gate of units, each active where an affine function of the outputs is positive.

    Parameters
    ----------
    network : Network
    weight : (u, m) float64 tensor; shift : (u,) float64 tensor
        The functions.
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
