"""The layers through which the singular values of a network are followed: affine steps and gates, counted separately.

A layer l stands for the prefix map ``x -> value after layer l``, which on a region is affine, ``J_l x + c_l``. What
only rearranges entries (flattening) has the singular values of the layer before it and is none of its own.
"""

from dataclasses import dataclass
from typing import Literal

from reluscope.arguments import read_arguments
from reluscope.errors import InputError
from reluscope.networks.graph.nodes import Affine
from reluscope.networks.graph.operators.arrange import Reshape
from reluscope.networks.network import Network

Kind = Literal["affine", "gate"]


@dataclass(frozen=True)
class NetworkLayer:
    """One layer of a network, and the prefix map that ends there.

    Parameters
    ----------
    name : str
        Of the gate, or of the last affine node before it.
    kind : {"affine", "gate"}
    index : int
        Position among the gates; for an affine layer the position of the next gate, or the number of gates.
    size : int
        Number of entries of its value.
    """

    name: str
    kind: Kind
    index: int
    size: int


@read_arguments
def layers(network: Network) -> tuple[NetworkLayer, ...]:
    """Return the layers of a network in order of evaluation.

    Parameters
    ----------
    network : Network

    Returns
    -------
    tuple of NetworkLayer
        For every gate, the affine step before it, if there is one, and the gate; at the end the affine step to the
        output, if there is one.

    Raises
    ------
    InputError
        If there are no layers: the network is the identity.

    Notes
    -----
    Beside a shortcut, a layer is the value at the gate, after the sum; the value in the shortcut is left out.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> [(layer.kind, layer.size) for layer in rs.stability.layers(net)]
    [('affine', 2), ('gate', 2), ('affine', 1)]
    """
    found: list[NetworkLayer] = []
    for stage in network.stages:
        if is_step(stage.leg.plan):
            target = network.nodes[stage.leg.target]
            found.append(NetworkLayer(target.name, "affine", stage.index, target.size))
        found.append(NetworkLayer(stage.gate.name, "gate", stage.index, stage.gate.size))
    if is_step(network.finish.leg.plan):
        output = network.nodes[network.output]
        found.append(NetworkLayer(output.name, "affine", len(network.stages), output.size))
    if not found:
        raise InputError("expected a network with a layer, got one that only hands on its input: load the whole model")
    return tuple(found)


def is_step(plan: tuple[tuple[int, Affine], ...]) -> bool:
    """Return whether affine nodes do more than give a value another shape."""
    return any(not isinstance(node, Reshape) for _, node in plan)
