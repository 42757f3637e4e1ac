"""Numbers with bounds on what rounding may change in them, at points taken as exact."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import Affine
from reluscope.networks.passes.rounding import (
    affine_error,
    any_piece_error,
    candidate_bounds,
    gate_error,
    jumps_within,
    piece_error,
)

if TYPE_CHECKING:
    from reluscope.networks.passes.stages import Stage


class Rounded(NamedTuple):
    """Values ``(s, *shape)`` and bounds on their errors, of the same shape or one row for all points."""

    value: Tensor
    error: Tensor

    @classmethod
    def exactly(cls, value: Tensor) -> "Rounded":
        """Return values without errors."""
        return cls(value, torch.zeros_like(value))


class RoundedNumbers:
    """Values with bounds on their errors; where a bound reaches a breakpoint, the steepest slope counts.

    ``unit`` is the rounding of one sum relative to its absolute terms, ``loss`` what a sum loses at most where products
    come below the smallest number.
    """

    def __init__(self, unit: float, loss: float = 0.0) -> None:
        self.unit, self.loss = unit, loss

    def affine(self, node: Affine, inputs: Sequence[Rounded]) -> Rounded:
        """Return the node's value and its error."""
        error = affine_error(node, [one.value.abs() for one in inputs], [one.error for one in inputs], self.unit)
        return Rounded(node.apply(*(one.value for one in inputs)), error + self.loss * node.rounds)

    def arrive(self, stage: "Stage", value: Rounded) -> Rounded:
        """Return the pre-activations of the gate and their errors; padding has none."""
        return Rounded(stage.gate.candidates(value.value), candidate_bounds(stage.gate, value.error))

    def leave(self, stage: "Stage", arrived: Rounded) -> Rounded:
        """Return the gate's output and its error."""
        gate, (pre, error) = stage.gate, arrived
        output, passed = gate.apply(pre), gate_error(gate, pre, error, self.unit)
        if self.loss and not isinstance(gate, Max):
            pieces, ones = gate.pieces(pre), torch.ones_like(pre)
            rounds = piece_error(gate.slope(pieces), gate.intercept(pieces), ones, torch.zeros_like(pre), 1.0) > 0
            passed = passed + self.loss * rounds
        return Rounded(output, passed.reshape(output.shape))


class HeldRoundedNumbers(RoundedNumbers):
    """Values with bounds on their errors when every unit is held to a piece, so that none is in doubt.

    Without ``pieces``, units are held to those that the values have.
    """

    def __init__(self, unit: float, pieces: Sequence[Tensor] | None = None) -> None:
        super().__init__(unit)
        self.pieces = pieces

    def leave(self, stage: "Stage", arrived: Rounded) -> Rounded:
        """Return the gate's output on the given pieces, and its error."""
        gate, (pre, error) = stage.gate, arrived
        pieces = gate.pieces(pre) if self.pieces is None else self.pieces[stage.index]
        output = gate.apply(pre) if self.pieces is None else gate.select(pre, pieces)
        if isinstance(gate, Max):
            passed = error.gather(-1, pieces.long().unsqueeze(-1)).squeeze(-1)
        else:
            passed = piece_error(gate.slope(pieces), gate.intercept(pieces), pre.abs(), error, self.unit)
        return Rounded(output, passed.reshape(output.shape))


class NumbersRoundedAlike(RoundedNumbers):
    """Values with bounds on their errors that all points share: the largest values decide.

    One pass for the values, and one pass of a single point for the bounds. They allow for every piece of a unit, since
    a unit near its breakpoint passes on errors that its own piece cuts off.
    """

    def affine(self, node: Affine, inputs: Sequence[Rounded]) -> Rounded:
        """Return the node's value and its error."""
        sizes = [one.value.abs().amax(0, keepdim=True) for one in inputs]
        error = affine_error(node, sizes, [one.error for one in inputs], self.unit)
        return Rounded(node.apply(*(one.value for one in inputs)), error)

    def leave(self, stage: "Stage", arrived: Rounded) -> Rounded:
        """Return the gate's output and its error."""
        gate, (pre, error) = stage.gate, arrived
        if isinstance(gate, Max):
            passed = error.amax(-1)
        else:
            passed = any_piece_error(gate, pre.abs().amax(0, keepdim=True), error, self.unit)
            if not gate.is_continuous and len(pre):
                passed = passed + jumps_within(gate, pre, error).amax(0, keepdim=True)
        return Rounded(gate.apply(pre), passed.reshape(1, *gate.shape))
