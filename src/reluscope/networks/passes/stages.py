"""A network cut at its gates, for evaluation gate by gate.

Between two gates everything is affine. A stage runs the affine nodes that its gate needs, hands out the gate's
pre-activations together with the values that later stages still read, and closes by applying the gate. Values at new
points may be interpolated between ``advance`` and ``close`` as long as the points see the same piece of every earlier
unit.

A carrier (`networks/passes/carrier.py`) determines what travels: numbers by default. One row of bounds on sizes and
errors may travel beside values at many points (`advance_errors`), by the model of `networks/passes/rounding`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from reluscope import _kernels
from reluscope.interruption import step_point
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import Affine, GateNode, Node, Pointwise
from reluscope.networks.passes.carrier import AffineCarrier, Carrier, GateCarrier
from reluscope.networks.passes.magnitudes import Magnitude, Magnitudes
from reluscope.networks.passes.numbers import NUMBERS
from reluscope.networks.passes.rounding import piece_error

Values = dict[int, Tensor]


@dataclass(frozen=True, eq=False)
class Leg:
    """Affine nodes run between two gates, and the value they lead to."""

    plan: tuple[tuple[int, Affine], ...]
    last_reads: tuple[tuple[int, ...], ...]  # for each node of the plan the positions that nothing reads after it
    target: int
    reads: tuple[int, ...]
    shapes: Mapping[int, tuple[int, ...]]
    device: torch.device

    def carry(self, carrier: AffineCarrier, values: Mapping[int, Any]) -> dict[int, Any]:
        """Return the values and those of the plan, without what only the plan reads."""
        found = dict(values)
        for (position, node), last in zip(self.plan, self.last_reads, strict=True):
            if position not in found:
                step_point()
                found[position] = carrier.affine(node, [found[source] for source in node.inputs])
            for source in last:
                found.pop(source, None)
        return found

    @cached_property
    def products(self) -> int:
        """About how many multiplications a point takes."""
        return sum(node.products for _, node in self.plan)

    @cached_property
    def extremes(self) -> tuple[float, float]:
        """The smallest and the largest absolute value of all constants that are not zero."""
        constants = [
            t.abs().flatten() for _, node in self.plan for t in node.tensors().values() if t.is_floating_point()
        ]
        entries = torch.cat([torch.ones(1, dtype=torch.float64, device=self.device), *constants])
        entries = entries[entries > 0]
        return float(entries.min()), float(entries.max())


@dataclass(frozen=True, eq=False)
class Stage:
    """The way from the previous gate to this one."""

    index: int  # position among the stages
    position: int  # of the gate among the network's nodes
    gate: Pointwise | Max
    keeps: tuple[int, ...]  # positions read later, without this gate's own output
    leg: Leg

    @property
    def reads(self) -> tuple[int, ...]:
        """Positions of the values that the stage reads to reach its gate."""
        return self.leg.reads

    def advance(self, values: Mapping[int, Any], carrier: GateCarrier = NUMBERS) -> tuple[Any, dict[int, Any]]:
        """Return the gate's pre-activations and the values still needed, from the previous stage's values.

        ``values`` are what ``start`` or the previous stage's ``close`` returned. Values still needed are exactly those
        that later stages or the output read, without this gate's output.
        """
        values = self.leg.carry(carrier, values)
        return carrier.arrive(self, values[self.leg.target]), {position: values[position] for position in self.keeps}

    def advance_errors(self, sizes: Values, errors: Values, gamma: float) -> tuple[np.ndarray, np.ndarray, Values]:
        """Return bounds on the gate's pre-activations and on their errors, and errors of values still needed.

        ``sizes`` and ``errors`` are, for values in `reads`, the largest absolute values and bounds on their errors;
        ``gamma`` is the rounding of one sum relative to its absolute terms.
        """
        known = {position: Magnitude(sizes.get(position, error), error) for position, error in errors.items()}
        arrived, live = self.advance(known, Magnitudes(gamma))
        size, error = (_readonly(one[0]) for one in arrived)
        return size, error, {position: value.error for position, value in live.items()}

    def pass_errors(self, size: np.ndarray, error: np.ndarray, pieces: np.ndarray, gamma: float) -> Tensor:
        """Return bounds ``(1, *shape)`` on the errors of the gate's output.

        ``size`` and ``error`` bound the pre-activations and their errors; ``pieces`` (p, u) are the pieces that the
        units use.
        """
        gate = self.gate
        if isinstance(gate, Max):
            passed = error.max(axis=1, initial=0.0)
        else:
            pieces = pieces.astype(np.min_scalar_type(gate.num_pieces - 1), copy=False)
            in_use = _kernels.pieces_in_use(pieces, gate.num_pieces)
            if gate.is_relu:
                passed = np.where(in_use[1], error, 0.0)  # both pieces are without rounding
            else:
                sizes, errors = (torch.from_numpy(np.array(table)).to(self.leg.device) for table in (size, error))
                here = piece_error(gate.slopes, gate.intercepts, sizes, errors, gamma).cpu().numpy()
                passed = np.where(in_use, here, 0.0).max(axis=0, initial=0.0)
                # What may be at two breakpoints may have been put at the wrong one, and be on a piece of no cell.
                is_wide = (gate.breakpoints.diff(dim=0) <= 2 * errors).any(dim=0).cpu().numpy()
                passed = np.where(is_wide, here.max(axis=0, initial=0.0), passed)
        return torch.from_numpy(passed).to(self.leg.device).reshape(1, *gate.shape)

    def close(self, live: Mapping[int, Any], pre: Any, carrier: Carrier = NUMBERS) -> dict[int, Any]:
        """Apply the gate and return the values that the next stage starts from."""
        return {**live, self.position: carrier.leave(self, pre)}


@dataclass(frozen=True, eq=False)
class Finish:
    """The way from the last gate to the output."""

    leg: Leg

    @property
    def reads(self) -> tuple[int, ...]:
        """Positions of the values that the output is computed from."""
        return self.leg.reads

    def __call__(self, values: Mapping[int, Any], carrier: AffineCarrier = NUMBERS) -> Any:
        """Return the output ``(v, *output_shape)``, or what the carrier makes of it."""
        return self.leg.carry(carrier, values)[self.leg.target]


def make_stages(nodes: Sequence[Node], output: int) -> tuple[tuple[Stage, ...], Finish]:
    """Cut a graph at its gates.

    Affine nodes run as late as possible: a value waits in the form in which it was first there, so a shortcut that
    projects is projected only when its sum is due.
    """
    shapes = {position: node.shape for position, node in enumerate(nodes)}
    gates = [position for position, node in enumerate(nodes) if isinstance(node, GateNode)]
    done: set[int] = {0}
    plans: list[tuple[int, list[int]]] = []
    for gate in gates:
        plans.append((gate, _pending(nodes, nodes[gate].inputs[0], done)))
        done |= {*plans[-1][1], gate}
    last = _pending(nodes, output, done)

    # What is still needed is found from the back.
    needed = _reads(nodes, last, output)
    finish = Finish(_leg(nodes, last, output, (), shapes))
    stages: list[Stage] = []
    for index, (gate, plan) in reversed(list(enumerate(plans))):
        node = nodes[gate]
        assert isinstance(node, Pointwise | Max)
        target = node.inputs[0]
        keeps = tuple(sorted(needed - {gate}))
        leg = _leg(nodes, plan, target, keeps, shapes)
        stages.append(Stage(index, gate, node, keeps, leg))
        needed = (needed - {gate} - set(plan)) | set(leg.reads)
    return tuple(reversed(stages)), finish


def _pending(nodes: Sequence[Node], target: int, done: set[int]) -> list[int]:
    """Positions of the nodes on the way to the target that have not run, in order."""
    found: set[int] = set()
    stack = [target]
    while stack:
        position = stack.pop()
        if position not in done and position not in found:
            found.add(position)
            stack.extend(nodes[position].inputs)
    return sorted(found)


def _reads(nodes: Sequence[Node], plan: Sequence[int], target: int) -> set[int]:
    """Positions of the values that a plan takes from outside."""
    inner = set(plan)
    return {source for position in plan for source in nodes[position].inputs if source not in inner} | (
        set() if target in inner else {target}
    )


def _leg(
    nodes: Sequence[Node],
    plan: Sequence[int],
    target: int,
    keeps: Sequence[int],
    shapes: Mapping[int, tuple[int, ...]],
) -> Leg:
    steps, last_reads = [], []
    needed = {target, *keeps}
    for position in reversed(plan):
        node = nodes[position]
        assert isinstance(node, Affine)
        steps.append((position, node))
        last_reads.append(tuple(sorted(set(node.inputs) - needed)))
        needed.update(node.inputs)
    reads = tuple(sorted(_reads(nodes, plan, target)))
    return Leg(tuple(reversed(steps)), tuple(reversed(last_reads)), target, reads, shapes, device_of(nodes))


def device_of(nodes: Sequence[Node]) -> torch.device:
    """Return the device that holds a graph's constants."""
    return next((tensor.device for node in nodes for tensor in node.tensors().values()), torch.device("cpu"))


def _readonly(tensor: Tensor) -> np.ndarray:
    array = tensor.cpu().numpy().copy()
    array.setflags(write=False)
    return array
