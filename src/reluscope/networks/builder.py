"""Builds a network node by node; every front end calls it, and it alone knows the operators.

Shapes and axes leave the batch axis out: axis 0 is the first axis of one point.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from reluscope.errors import ShapeError
from reluscope.networks.graph import Affine, GateNode, Input, Max, Node, Pointwise
from reluscope.networks.network import Network
from reluscope.networks.operators.linear import Linear


@dataclass(frozen=True)
class Value:
    """A value of the graph under construction: the position of its node and its shape without the batch axis."""

    index: int
    shape: tuple[int, ...]


class GraphBuilder:
    """Collects nodes in order; `build` drops those that the output does not need."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.notes: list[str] = []

    def input(self, shape: tuple[int, ...]) -> Value:
        """Add the input; it comes first."""
        return self._add(Input(name="input", shape=tuple(shape)))

    def note(self, sentence: str) -> None:
        """Record what a reader should know about the conversion, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def linear(self, x: Value, weight: Tensor, bias: Tensor | None = None, *, name: str = "linear") -> Value:
        """``x W^T + b`` on the last axis, W ``(out, in)``."""
        if not x.shape or weight.ndim != 2 or x.shape[-1] != weight.shape[1]:
            raise ShapeError(f"expected {name} to multiply a last axis of {weight.shape[-1]}, got a value {x.shape}")
        return self._affine(Linear, x, (*x.shape[:-1], len(weight)), name, weight=weight, bias=bias)

    def relu(self, x: Value, *, name: str = "relu") -> Value:
        """``max(x, 0)``."""
        return self.pointwise(x, "relu", [0.0], [0.0, 1.0], [0.0, 0.0], name=name)

    def pointwise(self, x: Value, kind: str, breakpoints, slopes, intercepts, *, name: str) -> Value:
        """A continuous piecewise-linear function of every entry: rows are pieces, columns units (or one for all)."""
        tables = {"breakpoints": breakpoints, "slopes": slopes, "intercepts": intercepts}
        columns = {key: torch.as_tensor(table, dtype=torch.float64) for key, table in tables.items()}
        columns = {key: table.reshape(len(table), -1) for key, table in columns.items()}
        return self._add(Pointwise(name=self._unique(name), inputs=(x.index,), shape=x.shape, kind=kind, **columns))

    def build(self, output: Value) -> Network:
        """Return the network whose output is the given value."""
        needed: set[int] = {0}
        stack = [output.index]
        while stack:
            position = stack.pop()
            if position not in needed:
                needed.add(position)
                stack.extend(self.nodes[position].inputs)
        renumbered = {old: new for new, old in enumerate(sorted(needed))}
        nodes = [
            replace(self.nodes[old], inputs=tuple(renumbered[source] for source in self.nodes[old].inputs))
            for old in renumbered
        ]
        return Network(tuple(nodes), renumbered[output.index], tuple(self.notes))

    def _affine(self, kind: type[Affine], x: Value, shape: tuple[int, ...], name: str, **settings) -> Value:
        return self._add(kind(name=name, inputs=(x.index,), shape=shape, input_shapes=(x.shape,), **settings))

    def _add(self, node: Node) -> Value:
        self.nodes.append(node)
        return Value(len(self.nodes) - 1, node.shape)

    def _unique(self, name: str) -> str:
        taken = {node.name for node in self.nodes if isinstance(node, GateNode)}
        result, count = name, 0
        while result in taken:
            count += 1
            result = f"{name}_{count}"
        return result
