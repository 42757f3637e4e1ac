"""A network in a loop with a linear plant: ``x' = A x + B net(x) + c``, some steps of it as one network."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float

from reluscope.arguments import read_arguments
from reluscope.errors import ShapeError
from reluscope.networks.graph.nodes import Input, Node
from reluscope.networks.graph.operators.arrange import Reshape
from reluscope.networks.graph.operators.elementwise import Sum
from reluscope.networks.graph.operators.linear import Linear
from reluscope.networks.network import Network
from reluscope.shown import Shown


@read_arguments
@dataclass(frozen=True, eq=False, repr=False)
class Plant(Shown):
    """A linear plant in discrete time, ``x' = A x + B u + c``.

    Parameters
    ----------
    A : (n, n) float64
    B : (n, m) float64
    c : (n,) float64, optional
        By default 0.

    Raises
    ------
    ShapeError
        If the shapes are inconsistent.

    Examples
    --------
    >>> import reluscope as rs
    >>> cart = rs.reachability.Plant([[1.0, 0.1], [0.0, 1.0]], [[0.005], [0.1]])  # position and velocity, a force
    >>> cart.c
    array([0., 0.])
    """

    A: Float[np.ndarray, "n _"]
    B: Float[np.ndarray, "n m"]
    c: Float[np.ndarray, " n"] | None = None

    def __post_init__(self) -> None:
        number = len(self.A)
        shift = np.zeros(number) if self.c is None else self.c
        if not self.B.size or self.A.shape != (number, number) or len(self.B) != number or len(shift) != number:
            raise ShapeError(
                f"A (n, n), B (n, m) and c (n,) must agree, got shapes {self.A.shape}, {self.B.shape} and {shift.shape}"
            )
        object.__setattr__(self, "c", shift)


def check_fits(network: Network, plant: Plant) -> None:
    """Raise unless a network takes a plant's states and gives its controls."""
    states, controls = plant.B.shape
    if (network.num_inputs, network.num_outputs) != (states, controls):
        raise ShapeError(
            f"expected a network with as many inputs and outputs as the plant has states and controls, {states} and "
            f"{controls}, got {network.num_inputs} and {network.num_outputs}"
        )


def closed_loop(network: Network, plant: Plant, steps: int) -> Network:
    """Return the state after some steps as a function of the first: a network of as many copies.

    The network takes states to controls.
    """
    states, controls = plant.B.shape
    matrices = [torch.as_tensor(part, device=network.device) for part in (plant.A, plant.B, plant.c)]
    nodes: list[Node] = [Input(name="state", shape=(states,))]
    state = 0
    for step in range(steps):
        first = state
        if network.input_shape != (states,):
            nodes.append(Reshape(name="input", inputs=(state,), shape=network.input_shape, input_shapes=((states,),)))
            first = len(nodes) - 1
        places = [first]
        for node in network.nodes[1:]:
            nodes.append(replace(node, name=f"step {step}: {node.name}", inputs=tuple(places[i] for i in node.inputs)))
            places.append(len(nodes) - 1)
        control = places[network.output]
        if network.output_shape != (controls,):
            shapes = (network.output_shape,)
            nodes.append(Reshape(name="control", inputs=(control,), shape=(controls,), input_shapes=shapes))
            control = len(nodes) - 1
        here = len(nodes)
        nodes += [
            Linear(
                name="A x + c",
                inputs=(state,),
                shape=(states,),
                input_shapes=((states,),),
                weight=matrices[0],
                bias=matrices[2],
            ),
            Linear(name="B u", inputs=(control,), shape=(states,), input_shapes=((controls,),), weight=matrices[1]),
            Sum(
                name="next state",
                inputs=(here, here + 1),
                shape=(states,),
                input_shapes=((states,), (states,)),
                signs=(1, 1),
            ),
        ]
        state = here + 2
    return Network(tuple(nodes), state)
