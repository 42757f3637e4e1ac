"""Several small networks of the same layers as one: their weights stacked, so that work on all of them is shared."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from jaxtyping import Float

from reluscope.arguments import Also
from reluscope.arguments.argument_sentences import describe
from reluscope.errors import InputError, ShapeError
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.graph.operators.linear import Linear
from reluscope.networks.models.load import load
from reluscope.networks.network import Network


@dataclass(frozen=True, eq=False)
class StackedNetworks:
    """Networks with a matrix before each gate, whose gates are the same."""

    weights: tuple[Float[np.ndarray, "k u m"], ...]  # before each gate, and behind the last
    biases: tuple[Float[np.ndarray, "k u"], ...]
    first: Network
    _others: dict[int, Network] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.biases[0])

    def __getitem__(self, index: int) -> Network:
        """Return one of the networks, made when it is first asked for."""
        if index and index not in self._others:
            layers = zip(self.weights, self.biases, strict=True)
            self._others[index] = load([(weight[index], bias[index]) for weight, bias in layers])
        return self._others[index] if index else self.first

    @classmethod
    def of_parameters(cls, layers: Sequence[Any]) -> "StackedNetworks":
        """Return ReLU networks of stacked layers: pairs of weights (k, u, m) and biases (k, u).

        ShapeError where layers are not of as many networks, or do not fit each other.
        """
        weights, biases = [], []
        for place, layer in enumerate(layers):
            weight, bias = (np.asarray(part, dtype=np.float64) for part in layer)
            if weight.ndim != 3 or bias.shape != weight.shape[:2]:
                raise ShapeError(
                    f"expected weights (k, u, m) and biases (k, u) of k networks in layer {place}, got {weight.shape} "
                    f"and {bias.shape}: stack the layers of all networks along a first axis"
                )
            if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
                raise InputError(f"weights must be finite numbers, got NaN or infinity in layer {place}: mend them")
            if place and (len(weight) != len(weights[0]) or weight.shape[2] != weights[-1].shape[1]):
                raise ShapeError(
                    f"expected weights of {len(weights[0])} networks with {weights[-1].shape[1]} inputs in layer "
                    f"{place}, got {weight.shape}: give each layer of every network, in order"
                )
            weights.append(weight)
            biases.append(bias)
        if not weights or not len(weights[0]):
            raise InputError("networks must hold at least one network, got none: give the parameters of one")
        first = load([(weight[0], bias[0]) for weight, bias in zip(weights, biases, strict=True)])
        return cls(tuple(weights), tuple(biases), first)

    @classmethod
    def of(cls, networks: Sequence[Network]) -> "StackedNetworks | None":
        """Return networks as a stack, None where their layers or gates differ or are others than matrices and gates."""
        tables: list[list[Linear]] = []
        for network in networks:
            table = _layers(network)
            if table is None or not all(map(_are_alike, network.stages, networks[0].stages)):
                return None
            tables.append(table)
        first = tables[0]
        shapes = {tuple(tuple(one.weight.shape) for one in table) for table in tables}
        if len(shapes) > 1:
            return None
        weights = tuple(np.stack([table[place].weight.numpy() for table in tables]) for place in range(len(first)))
        biases = tuple(np.stack([_bias(table[place]) for table in tables]) for place in range(len(first)))
        return cls(weights, biases, networks[0], dict(enumerate(networks)))


def _layers(network: Network) -> list[Linear] | None:
    """Return the matrices before each gate and behind the last, None of networks that have anything else."""
    nodes = network.nodes[1:]
    if network.jumps or network.device.type != "cpu" or len(nodes) % 2 == 0:
        return None
    if any(list(node.inputs) != [place] or len(node.shape) != 1 for place, node in enumerate(nodes)):
        return None
    found = [node for node in nodes[::2] if isinstance(node, Linear)]
    is_plain = len(found) == (len(nodes) + 1) // 2 and all(isinstance(node, Pointwise) for node in nodes[1::2])
    return found if is_plain else None


def _bias(layer: Linear) -> np.ndarray:
    return np.zeros(len(layer.weight)) if layer.bias is None else layer.bias.numpy()


def _are_alike(stage: Any, other: Any) -> bool:
    tables = ("breakpoints", "slopes", "intercepts")
    return all(np.array_equal(getattr(stage.gate, name), getattr(other.gate, name)) for name in tables)


def read_networks(value: Any, name: str) -> "Network | StackedNetworks | list[Network]":
    """Return one network, or several: as a stack where they have one shape."""
    if isinstance(value, Network | StackedNetworks):
        return value
    if isinstance(value, Sequence) and len(value):
        if all(isinstance(one, Network) for one in value):
            networks = list(value)
            sizes = {network.num_inputs for network in networks}
            if len(sizes) > 1:
                raise ShapeError(
                    f"expected networks of as many inputs each, got {', '.join(map(str, sorted(sizes)))}: ask about "
                    "those of one domain together"
                )
            return StackedNetworks.of(networks) or networks
        if all(isinstance(one, Sequence) and len(one) == 2 for one in value):
            return StackedNetworks.of_parameters(value)
    raise InputError(
        f"{name} must be a Network, a list of them, or stacked layers (W, b) of several, got {describe(value)}: open "
        "the model with reluscope.load(model)"
    )


# One network or several, as the annotation of a parameter.
Networks = Annotated[Any, Also(read_networks)]
