"""The graph of a network with its constants: what passes through it, and what engines read of it.

`reluscope.networks.network.Network` adds what users call.
"""

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import torch
from torch import Tensor

from reluscope.arguments import read_arguments
from reluscope.codes.layout import CodeLayout, GateLayout
from reluscope.errors import ShapeError
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.devices import read_device
from reluscope.networks.graph.left_off import LeftOff
from reluscope.networks.graph.nodes import Approximate, Node, Pointwise, check_order
from reluscope.networks.graph.points import Points, as_points
from reluscope.networks.passes.provenance import Trace, Verification
from reluscope.networks.passes.stages import Finish, Stage, Values, device_of, make_stages

# How a class is read from outputs: the largest, the smallest, or whether the only one is above a number.
Decision = Literal["largest", "smallest"] | float

# Bytes of blocks of points, if nobody said.
BUDGET = 256 * 2**20


@dataclass(frozen=True)
class Gate:
    """Description of a gate, for display and for the layout of codes."""

    name: str
    kind: str
    shape: tuple[int, ...]
    num_units: int
    num_pieces: int


@dataclass(frozen=True, eq=False)
class NetworkGraph:
    """A piecewise-linear function as a graph; see `Network` for its fields."""

    nodes: tuple[Node, ...]
    output: int
    notes: tuple[str, ...] = ()
    verification: Verification | None = None
    trace: Trace | None = None
    decision: Decision = "largest"
    left_off: LeftOff | None = None

    def __post_init__(self) -> None:
        check_order(self.nodes)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one input point."""
        return self.nodes[0].shape

    @property
    def output_shape(self) -> tuple[int, ...]:
        """Shape of one output."""
        return self.nodes[self.output].shape

    @property
    def num_inputs(self) -> int:
        """Number of entries of one input point."""
        return self.nodes[0].size

    @property
    def num_outputs(self) -> int:
        """Number of entries of one output."""
        return self.nodes[self.output].size

    @property
    def num_units(self) -> int:
        """Number of units of all gates."""
        return sum(gate.num_units for gate in self.gates)

    @cached_property
    def gates(self) -> tuple[Gate, ...]:
        """The gates in order of evaluation."""
        nodes = (stage.gate for stage in self.stages)
        return tuple(Gate(node.name, node.kind, node.shape, node.num_units, node.num_pieces) for node in nodes)

    @cached_property
    def jumps(self) -> tuple[str, ...]:
        """Names of the gates that are not continuous, such as steps; most questions refuse networks that have any."""
        gates = (stage.gate for stage in self.stages)
        return tuple(gate.name for gate in gates if isinstance(gate, Pointwise) and not gate.is_continuous)

    @cached_property
    def approximations(self) -> tuple[Approximate, ...]:
        """The gates that stand in the place of smooth functions; see `approximation_error`."""
        return tuple(stage.gate for stage in self.stages if isinstance(stage.gate, Approximate))

    @property
    def device(self) -> torch.device:
        """Device of the constants, on which everything is computed."""
        return device_of(self.nodes)

    @cached_property
    def _cut(self) -> tuple[tuple[Stage, ...], Finish]:
        return make_stages(self.nodes, self.output)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The ways between gates, one per gate, in order of evaluation."""
        return self._cut[0]

    @property
    def finish(self) -> Finish:
        """The way from the last gate to the output."""
        return self._cut[1]

    @read_arguments
    def start(self, x: Tensor) -> Values:
        """Return the values from which the first stage starts, at points ``(v, *input_shape)`` in float64."""
        if x.shape[1:] != self.input_shape:
            raise ShapeError(f"x must have shape (v, {', '.join(map(str, self.input_shape))}), got {tuple(x.shape)}")
        return {0: x}

    @cached_property
    def logits(self) -> Self:
        """The network on its own, without what was left off: questions about its outputs are about these.

        Examples
        --------
        >>> import reluscope as rs
        >>> from torch import nn
        >>> net = rs.load(nn.Sequential(nn.Linear(2, 1), nn.Sigmoid()))
        >>> net.left_off.name, net.logits.left_off
        ('sigmoid', None)
        """
        return self if self.left_off is None else replace(self, left_off=None)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the graph, its constants and what was left off, as hexadecimal digits; names do not count."""
        digest = hashlib.sha256(f"{self.output}".encode())
        for node in self.nodes:
            digest.update(f"{type(node).__name__}{node.inputs}{sorted(node.settings().items())}".encode())
            for name, tensor in sorted(node.tensors().items()):
                array = np.ascontiguousarray(tensor.cpu().numpy())
                digest.update(f"{name}{array.dtype.str}{array.shape}".encode())
                digest.update(array.tobytes())
        if self.left_off is not None:
            digest.update(f"{self.left_off}".encode())
        return digest.hexdigest()

    @read_arguments
    def points(self, x: Points) -> Tensor:
        """Return input points as a float64 tensor ``(s, *input_shape)`` on the network's device."""
        return as_points(x, self.input_shape, self.device)

    @cached_property
    def bytes_per_point(self) -> int:
        """Memory of the largest set of values alive at once, for one point."""
        sizes = [self.num_inputs]
        for stage in self.stages:
            live = sum(self.nodes[position].size for position in {*stage.keeps, *stage.reads})
            inner = sum(node.size for _, node in stage.leg.plan)
            candidates = stage.gate.index.numel() if isinstance(stage.gate, Max) else stage.gate.num_units
            sizes.append(live + inner + candidates + 2 * stage.gate.num_units)
        sizes.append(sum(node.size for _, node in self.finish.leg.plan) + self.num_outputs)
        return 8 * max(sizes)

    @cached_property
    def layout(self) -> CodeLayout:
        """Layout of the packed codes."""
        return CodeLayout(tuple(GateLayout(gate.name, gate.num_units, gate.num_pieces) for gate in self.gates))

    @read_arguments
    def to(self, device: torch.device | str) -> Self:
        """Return the network with its constants on another device.

        Raises
        ------
        InputError
            If there is no such device.
        """
        read_device(device)
        return replace(self, nodes=tuple(node.to(device) for node in self.nodes))

    def __getstate__(self) -> dict[str, Any]:
        kept = ("nodes", "output", "notes", "verification", "decision", "left_off")
        return {**{name: getattr(self, name) for name in kept}, "trace": None}
