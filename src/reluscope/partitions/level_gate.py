"""A network with one gate more, which asks on which side of a level an output is.

Its two units are ``f - level`` and ``level - f``: the first is active above the level, the second below, and on a cell
on which f equals the level identically neither is. The level then cuts cells as any unit does, and what is known of
units, rounding included, is known of it.
"""

import numpy as np
import torch

from reluscope.networks.graph import Node, Pointwise
from reluscope.networks.network import Network
from reluscope.networks.operators.arrange import Reshape
from reluscope.networks.operators.linear import Linear


def with_level_gate(network: Network, outputs: tuple[int, ...], level: float) -> Network:
    """Return a network that ends with a gate of two units, active above and below a level.

    Parameters
    ----------
    network : Network
    outputs : tuple of one or two int
        An output, or two whose difference is meant.
    level : float

    Examples
    --------
    >>> import reluscope as rs
    >>> net = with_level_gate(rs.load([(np.eye(2), np.zeros(2))]), (0, 1), 3.0)
    >>> net([[5.0, 1.0], [5.0, 2.0], [5.0, 3.0]]).tolist()
    [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
    """
    nodes: list[Node] = list(network.nodes)
    position = network.output
    if len(network.output_shape) != 1:
        shapes = {"shape": (network.num_outputs,), "input_shapes": (network.output_shape,)}
        nodes.append(Reshape(name="outputs", inputs=(position,), **shapes))
        position = len(nodes) - 1
    weight = torch.zeros(2, network.num_outputs, dtype=torch.float64)
    for output, sign in zip(outputs, (1.0, -1.0), strict=False):
        weight[:, output] = torch.tensor([sign, -sign])
    shift = torch.tensor([-level, level], dtype=torch.float64)
    away = Linear(
        name="away from the level",
        inputs=(position,),
        shape=(2,),
        input_shapes=((network.num_outputs,),),
        weight=weight.to(network.device),
        bias=shift.to(network.device) if level else None,
    )
    nodes.append(away)
    zero, one = torch.zeros(1, 1, dtype=torch.float64), torch.ones(1, 1, dtype=torch.float64)
    gate = Pointwise(
        name=_free_name({gate.name for gate in network.gates}),
        inputs=(len(nodes) - 1,),
        shape=(2,),
        kind="relu",
        breakpoints=zero.to(network.device),
        slopes=torch.cat([zero, one]).to(network.device),
        intercepts=torch.cat([zero, zero]).to(network.device),
    )
    return Network((*nodes, gate), len(nodes), network.notes)


def sides(pieces: np.ndarray) -> np.ndarray:
    """Return the sides (c,) of cells by the pieces (c, 2) of the gate's units: 1 above, -1 below, 0 on the level."""
    return pieces[:, 0].astype(np.int8) - pieces[:, 1].astype(np.int8)


def _free_name(names: set[str]) -> str:
    name = "level"
    while name in names:
        name += "_"
    return name
