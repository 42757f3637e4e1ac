"""Intervals: values between two ends, with the rounding of floats included."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from reluscope.networks.graph.choosing_gates import Max, TopK
from reluscope.networks.graph.nodes import Affine
from reluscope.networks.passes.rounding import affine_error, any_piece_error

if TYPE_CHECKING:
    from reluscope.networks.passes.stages import Stage


class FiniteEnds(NamedTuple):
    """The finite ends between which values ``(s, *shape)`` lie."""

    low: Tensor
    high: Tensor


class Intervals:
    """Intervals that hold in real arithmetic; every node ignores how its inputs depend on each other.

    Centre and radius go through affine nodes, the radius as an error does. ``unit`` is the rounding of one sum relative
    to its absolute terms.
    """

    def __init__(self, unit: float) -> None:
        self.unit = unit

    def affine(self, node: Affine, inputs: Sequence[FiniteEnds]) -> FiniteEnds:
        """Return the ends of the node's value."""
        if not node.rounds:  # entries move, none changes its sign
            return FiniteEnds(*(node.apply(*ends) for ends in zip(*inputs, strict=True)))
        centers = [(one.low + one.high) / 2 for one in inputs]
        # The centre is rounded, so the radius reaches from it to the farther end.
        radii = [torch.maximum(one.high - c, c - one.low) for one, c in zip(inputs, centers, strict=True)]
        sizes = [c.abs() + radius for c, radius in zip(centers, radii, strict=True)]
        center, radius = node.apply(*centers), affine_error(node, sizes, radii, self.unit)
        return FiniteEnds(center - radius, center + radius)

    def arrive(self, stage: "Stage", value: FiniteEnds) -> FiniteEnds:
        """Return the ends of the gate's pre-activations."""
        return FiniteEnds(*(stage.gate.candidates(end) for end in value))

    def leave(self, stage: "Stage", arrived: FiniteEnds) -> FiniteEnds:
        """Return the ends of the gate's output; a pointwise one is extreme at an end, or at or above a breakpoint."""
        gate, (low, high) = stage.gate, arrived
        if isinstance(gate, Max):
            return FiniteEnds(gate.apply(low), gate.apply(high))
        if isinstance(gate, TopK):  # each unit by itself may be on either piece
            ends = [gate.select(end, torch.ones_like(end)) for end in arrived]
            return FiniteEnds(ends[0].clamp_max(0.0), ends[1].clamp_min(0.0))
        extremes = [gate.apply(end) for end in arrived]
        extremes += [gate.apply(torch.clamp(level.expand_as(low), low, high)) for level in gate.breakpoints]
        if not gate.is_continuous:  # just above a breakpoint the value is another one
            for level, above in zip(gate.breakpoints, gate.just_above, strict=True):
                within = ((low <= level) & (level < high)).reshape(extremes[0].shape)
                extremes.append(torch.where(within, above.expand_as(low).reshape(within.shape), extremes[0]))
        stacked = torch.stack(extremes)
        size = torch.maximum(low.abs(), high.abs())
        slack = any_piece_error(gate, size, torch.zeros_like(size), self.unit).reshape(stacked.shape[1:])
        return FiniteEnds(stacked.amin(dim=0) - slack, stacked.amax(dim=0) + slack)
