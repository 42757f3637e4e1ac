"""A network gate by gate: what the exact partition needs to walk through it.

Between two gates everything is affine. A stage runs the affine nodes that its gate needs, hands out the gate's
pre-activations together with the values that later stages still read, and closes by applying the gate. Values at new
points may be interpolated between ``advance`` and ``close`` as long as the points see the same piece of every earlier
unit.

Beside the values goes a running error analysis, one row for all points: entry by entry, a value of size up to H and
known up to E gives ``gamma (|W| H + |b|) + sqrt(W^2 E^2)`` after an affine node. What the node rounds itself counts in
full, in multiples gamma of eps that stand for sums as they are computed in practice; the errors of its terms come from
different roundings, and add up as independent errors do. See Higham and Mary, "A new approach to probabilistic rounding
error analysis", 2019.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from reluscope.networks.graph import Affine, GateNode, Max, Node, Pointwise
from reluscope.networks.operators.arrange import Concatenate, Pad, Reshape, Select

Values = dict[int, Tensor]

WITHOUT_ROUNDING = (Reshape, Select, Concatenate, Pad)


@dataclass(frozen=True, eq=False)
class _Leg:
    """Affine nodes run between two gates, and the value they lead to."""

    plan: tuple[tuple[int, Affine], ...]
    target: int
    reads: tuple[int, ...]
    shapes: Mapping[int, tuple[int, ...]]
    device: torch.device

    def run(self, values: Values) -> Values:
        """Return the values with those of the plan added."""
        values = dict(values)
        for position, node in self.plan:
            values[position] = node.apply(*(values[source] for source in node.inputs))
        return values

    def magnitude(self, level: float, constants: bool) -> Tensor:
        """Return a bound on the target ``(1, *shape)`` when all values read have infinity norm ``level``."""
        values = {
            source: torch.full((1, *self.shapes[source]), level, dtype=torch.float64, device=self.device)
            for source in self.reads
        }
        for position, node in self.plan:
            node = node.absolute()
            arguments = [values[source] for source in node.inputs]
            values[position] = node.apply(*arguments) if constants else node.linear(*arguments)
        return values[self.target]

    @cached_property
    def bounding(self) -> tuple[tuple[int, Affine, Affine, bool], ...]:
        """The plan with absolute and with squared constants, and whether each node rounds."""
        found = []
        for position, node in self.plan:
            absolute = node.absolute()
            tensors = {name: one for name, one in absolute.tensors().items() if one.is_floating_point()}
            squared = replace(absolute, **{name: one * one for name, one in tensors.items()}) if tensors else absolute
            found.append((position, absolute, squared, not isinstance(node, WITHOUT_ROUNDING)))
        return tuple(found)

    @cached_property
    def extremes(self) -> tuple[float, float]:
        """The smallest and the largest absolute value of all constants that are not zero."""
        constants = [
            t.abs().flatten() for _, node in self.plan for t in node.tensors().values() if t.is_floating_point()
        ]
        entries = torch.cat([torch.ones(1, dtype=torch.float64, device=self.device), *constants])
        entries = entries[entries > 0]
        return float(entries.min()), float(entries.max())

    def errors(self, sizes: Values, errors: Values, gamma: float, *, constants: bool = True) -> tuple[Values, Values]:
        """Return sizes and errors ``(s, *shape)`` of all values of the plan, those read included.

        Without constants they are those of gradients, whose sizes are what is read.
        """
        sizes, errors = dict(sizes), dict(errors)
        for position, absolute, squared, rounds in self.bounding:
            terms = [sizes[source] for source in absolute.inputs]
            size = absolute.apply(*terms) if constants else absolute.linear(*terms)
            carried = squared.linear(*(errors[source].square() for source in absolute.inputs)).sqrt()
            sizes[position], errors[position] = size, carried + gamma * size if rounds else carried
        return sizes, errors

    def slope_errors(self, sizes: Values, errors: Values, gamma: float) -> Values:
        """Return errors ``(k, *shape)`` of derivatives: the same for the linear parts of the plan alone."""
        sizes, errors = dict(sizes), dict(errors)
        for position, absolute, squared, rounds in self.bounding:
            size = absolute.linear(*(sizes[source] for source in absolute.inputs))
            carried = squared.linear(*(errors[source].square() for source in absolute.inputs)).sqrt()
            sizes[position], errors[position] = size, carried + gamma * size if rounds else carried
        return errors


@dataclass(frozen=True, eq=False)
class Stage:
    """The way from the previous gate to this one.

    Parameters
    ----------
    index : int
        Position among the stages.
    position : int
        Position of the gate among the network's nodes.
    gate : Pointwise or Max
        The gate itself.
    keeps : tuple of int
        Positions of the values that later stages or the output read, this gate's own output left out.
    """

    index: int
    position: int
    gate: Pointwise | Max
    keeps: tuple[int, ...]
    leg: _Leg

    @property
    def reads(self) -> tuple[int, ...]:
        """Positions of the values that the stage reads to reach its gate."""
        return self.leg.reads

    def advance(self, values: Values) -> tuple[Tensor, Values]:
        """Run to the gate.

        Parameters
        ----------
        values : dict of tensors ``(v, *shape)``
            What ``start`` or the previous stage's ``close`` returned, at v points.

        Returns
        -------
        pre : (v, u) or (v, u, k) tensor
            Pre-activations of the gate.
        live : dict of tensors
            Exactly the values that later stages or the output still need, without this gate's output.
        """
        values = self.leg.run(values)
        pre = self.gate.candidates(values[self.leg.target])
        return pre, {position: values[position] for position in self.keeps}

    def advance_errors(self, sizes: Values, errors: Values, gamma: float) -> tuple[np.ndarray, np.ndarray, Values]:
        """Run the error analysis to the gate.

        Parameters
        ----------
        sizes, errors : dict of tensors ``(1, *shape)``
            For the values in `reads` the largest absolute values, and bounds on their errors.
        gamma : float
            Rounding of one sum, relative to the sum of its absolute terms.

        Returns
        -------
        size, error : (u,) or (u, k) float64
            Bounds on the pre-activations and on their errors.
        live : dict of tensors
            Errors of the values that `advance` returns.
        """
        sizes, errors = self.leg.errors(sizes, errors, gamma)
        size, error = self._decision(sizes[self.leg.target]), self._decision(errors[self.leg.target])
        return size, error, {position: errors[position] for position in self.keeps}

    def pass_errors(self, size: np.ndarray, error: np.ndarray, pieces: np.ndarray, gamma: float) -> Tensor:
        """Return bounds ``(1, *shape)`` on the errors of the gate's output.

        Parameters
        ----------
        size, error : (u,) or (u, k) float64
            Bounds on the pre-activations and on their errors.
        pieces : (p, u) integers
            Pieces that the units use.
        gamma : float
        """
        gate = self.gate
        if isinstance(gate, Max):
            passed = error.max(axis=1, initial=0.0)
        else:
            slopes, intercepts = (
                np.broadcast_to(table.abs().cpu().numpy(), (gate.num_pieces, gate.num_units))
                for table in (gate.slopes, gate.intercepts)
            )
            passed = np.zeros(gate.num_units)
            for piece in range(gate.num_pieces):
                slope, intercept = slopes[piece], intercepts[piece]
                # Zero and the value itself come without rounding.
                plain = ((slope == 0) | (slope == 1)) & (intercept == 0)
                here = slope * error + np.where(plain, 0.0, gamma * (slope * size + intercept))
                passed = np.where((pieces == piece).any(axis=0), np.maximum(passed, here), passed)
        return torch.from_numpy(passed).to(self.leg.device).reshape(1, *gate.shape)

    def close(self, live: Values, pre: Tensor) -> Values:
        """Apply the gate and return the values that the next stage starts from."""
        return {**live, self.position: self.gate.apply(pre)}

    @cached_property
    def gain(self) -> np.ndarray:
        """Bound on the pre-activations per unit of input, ``(u,)`` or ``(u, k)``.

        ``|pre| <= gain * H + offset`` where H is the largest absolute entry of the values in `reads`; the same bound
        holds for every partial sum on the way, so it also scales the rounding error.
        """
        return self._decision(self.leg.magnitude(1.0, constants=False))

    @cached_property
    def offset(self) -> np.ndarray:
        """Bound on the share of the constants in the pre-activations, ``(u,)`` or ``(u, k)``; see `gain`."""
        return self._decision(self.leg.magnitude(0.0, constants=True))

    def _decision(self, value: Tensor) -> np.ndarray:
        pre = self.gate.candidates(value)[0]
        return _readonly(pre.masked_fill(pre == -torch.inf, 0.0))


@dataclass(frozen=True, eq=False)
class Finish:
    """The way from the last gate to the output."""

    leg: _Leg

    @property
    def reads(self) -> tuple[int, ...]:
        """Positions of the values that the output is computed from."""
        return self.leg.reads

    def __call__(self, values: Values) -> Tensor:
        """Return the output ``(v, *output_shape)``."""
        return self.leg.run(values)[self.leg.target]

    def errors(self, sizes: Values, errors: Values, gamma: float) -> np.ndarray:
        """Return bounds ``(m,)`` on the errors of the flattened outputs; see `Stage.advance_errors`."""
        return self.leg.errors(sizes, errors, gamma)[1][self.leg.target].reshape(-1).cpu().numpy()

    @cached_property
    def gain(self) -> np.ndarray:
        """Bound on the flattened outputs per unit of input, ``(m,)``; see `Stage.gain`."""
        return _readonly(self.leg.magnitude(1.0, constants=False).reshape(-1))

    @cached_property
    def offset(self) -> np.ndarray:
        """Bound on the share of the constants in the outputs, ``(m,)``; see `Stage.offset`."""
        return _readonly(self.leg.magnitude(0.0, constants=True).reshape(-1))


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
    finish = Finish(_leg(nodes, last, output, shapes))
    stages: list[Stage] = []
    for index, (gate, plan) in reversed(list(enumerate(plans))):
        node = nodes[gate]
        assert isinstance(node, Pointwise | Max)
        target = node.inputs[0]
        leg = _leg(nodes, plan, target, shapes)
        stages.append(Stage(index, gate, node, tuple(sorted(needed - {gate})), leg))
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


def _leg(nodes: Sequence[Node], plan: Sequence[int], target: int, shapes: Mapping[int, tuple[int, ...]]) -> _Leg:
    steps = []
    for position in plan:
        node = nodes[position]
        assert isinstance(node, Affine)
        steps.append((position, node))
    return _Leg(tuple(steps), target, tuple(sorted(_reads(nodes, plan, target))), shapes, device_of(nodes))


def device_of(nodes: Sequence[Node]) -> torch.device:
    """Return the device that holds a graph's constants."""
    return next((tensor.device for node in nodes for tensor in node.tensors().values()), torch.device("cpu"))


def _readonly(tensor: Tensor) -> np.ndarray:
    array = tensor.cpu().numpy().copy()
    array.setflags(write=False)
    return array
