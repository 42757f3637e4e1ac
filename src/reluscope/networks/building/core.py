"""The bookkeeping of a graph under construction: nodes in order, unique gate names, notes, pruning."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Self

import torch
from torch import Tensor

from reluscope.errors import ShapeError
from reluscope.networks.building.fused_gates import fused
from reluscope.networks.building.parameters import check_finite
from reluscope.networks.graph.input_shapes import check_total
from reluscope.networks.graph.nodes import Affine, GateNode, Input, Node
from reluscope.networks.network import Network


@dataclass(frozen=True)
class Value:
    """A value of the graph under construction: the position of its node and its shape without the batch axis."""

    index: int
    shape: tuple[int, ...]


Operand = Value | Tensor | float | int


class Core:
    """Collects nodes in order; `build` drops those that the output does not need.

    Shapes and axes leave the batch axis out everywhere: axis 0 is the first axis of one point, -1 the last.
    """

    def __init__(self, approximate: Mapping[str, int] | None = None) -> None:
        self.layer: str | None = None  # what nodes are named by; that of their operators without it
        self.nodes: list[Node] = []
        self.notes: list[str] = []
        self.approximate = approximate or {}  # smooth functions that may be replaced, and by how many pieces
        self._gate_names: set[str] = set()
        self._total = [0]  # of numbers that the first nodes make, by how many they are

    @property
    def place(self) -> str:
        """What messages call the layer."""
        return self.layer or "a layer"

    def named(self, layer: str) -> Self:
        """Return this builder for the nodes of a layer, which carry its name."""
        same = copy(self)
        same.layer = layer
        return same

    def input(self, shape: tuple[int, ...]) -> Value:
        """Add the input; it comes first and once."""
        if self.nodes:
            raise ValueError("a network has one input, and it comes first")
        return self._append(Input(name=self.layer or "input", shape=tuple(shape)))

    def note(self, sentence: str) -> None:
        """Record what a reader should know about the conversion, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def build(self, output: Value, *, fuses: bool = False) -> Network:
        """Return the network whose output is the given value, without the nodes that it does not need.

        On request gates that are one function of a value become one gate, see `fused_gates`.
        """
        if prod(output.shape) == 0:
            raise ShapeError(f"expected a model with at least one output, got an output of shape {output.shape}")
        nodes, last = _needed(self.nodes, output.index)
        if fuses:
            nodes, last = _needed(fused(nodes, last), last)
        network = Network(nodes, last, tuple(self.notes))
        if not network.jumps:
            return network
        names = ", ".join(network.jumps[:3]) + ("" if len(network.jumps) < 4 else f" and {len(network.jumps) - 3} more")
        note = (
            f"Not continuous: the function jumps at gates {names}. Codes, linear maps, regions, partitions "
            "and counts hold across jumps; what rests on continuity is refused."
        )
        return replace(network, notes=(*network.notes, note))

    def insert(self, network: Network, x: Value) -> Value:
        """Append the nodes of a network that reads a value, of its input's shape; return its output."""
        places = {0: x.index}
        for position, node in enumerate(network.nodes[1:], 1):
            name = self._unique(node.name) if isinstance(node, GateNode) else node.name
            moved = replace(node, name=name, inputs=tuple(places[source] for source in node.inputs))
            places[position] = self._append(moved).index
        return Value(places[network.output], network.output_shape)

    def add_affine(
        self, kind: type[Affine], inputs: Value | list[Value], shape: tuple[int, ...], **settings: Any
    ) -> Value:
        """Append an affine node that reads the given values."""
        values = [inputs] if isinstance(inputs, Value) else inputs
        positions = tuple(value.index for value in values)
        shapes = tuple(value.shape for value in values)
        name = self.layer or kind.__name__.lower()
        return self._append(kind(name=name, inputs=positions, shape=tuple(shape), input_shapes=shapes, **settings))

    def add_gate(
        self, gate: type[GateNode], x: Value, kind: str, shape: tuple[int, ...] | None = None, **settings: Any
    ) -> Value:
        """Append a gate that reads a value, of its shape unless another is given; a taken name gets a number."""
        name, shape = self._unique(self.layer or kind), x.shape if shape is None else shape
        return self._append(gate(name=name, inputs=(x.index,), shape=shape, kind=kind, **settings))

    def _append(self, node: Node) -> Value:
        """Append a node with finite constants."""
        self._total.append(self._total[-1] + prod(node.shape))
        check_total(self._total[-1], "the model makes")
        for field, tensor in node.tensors().items():
            check_finite(tensor, f"{field} of {node.name!r}")
        self.nodes.append(node)
        return Value(len(self.nodes) - 1, node.shape)

    def _unique(self, name: str) -> str:
        result, count = name, 0
        while result in self._gate_names:
            count += 1
            result = f"{name}_{count}"
        self._gate_names.add(result)
        return result


def _needed(nodes: Sequence[Node], output: int) -> tuple[tuple[Node, ...], int]:
    """Return the nodes that an output needs, and its place among them."""
    needed: set[int] = {0}
    stack = [output]
    while stack:
        position = stack.pop()
        if position not in needed:
            needed.add(position)
            stack.extend(nodes[position].inputs)
    renumbered = {old: new for new, old in enumerate(sorted(needed))}
    kept = (replace(nodes[old], inputs=tuple(renumbered[one] for one in nodes[old].inputs)) for old in renumbered)
    return tuple(kept), renumbered[output]


def constant(operand: Tensor | float | int) -> Tensor:
    """Return a constant as a float64 tensor."""
    if not isinstance(operand, Tensor):
        return torch.tensor(operand, dtype=torch.float64)
    return operand.detach().to(torch.float64)


def normal_axis(axis: int, num_axes: int) -> int:
    """Return an axis counted from the front."""
    if not -num_axes <= axis < num_axes:
        raise ShapeError(f"expected an axis of a value with {num_axes} axes beside the batch, got {axis}")
    return axis % num_axes


def per_axis(setting: int | Sequence[int], num_axes: int) -> tuple[int, ...]:
    """Return one number per axis from one number for all or one each."""
    if isinstance(setting, int):
        return (setting,) * num_axes
    numbers = tuple(int(number) for number in setting)
    return numbers * num_axes if len(numbers) == 1 else numbers
