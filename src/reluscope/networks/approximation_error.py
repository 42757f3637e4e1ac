"""How far a network whose smooth functions were replaced by pieces is from the one that has them.

With values between known ends, and those of the smooth network at most e away: an affine node passes on ``|W| e``, a
gate its largest slope between the ends, widened by e, times e, and its own distance to the smooth function. Maxima pass
on the largest e of their candidates.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from reluscope.arguments import describe
from reluscope.errors import InputError
from reluscope.findings import Column, Findings, declare
from reluscope.geometry.polyhedra.domains import Box, Slice
from reluscope.networks.file_outputs import num_file_outputs
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import Affine, Approximate
from reluscope.networks.network import Network
from reluscope.networks.passes.boxes import FiniteEnds, Intervals
from reluscope.networks.passes.carry import carry_to_output
from reluscope.networks.passes.rounding import ANY_ORDER

if TYPE_CHECKING:
    from reluscope.networks.passes.stages import Stage

APPROXIMATION_ERROR = declare(
    "approximation_error", "largest distance of an output from the model's with its smooth functions", unit="output"
)
METHOD = "slopes and proved bounds of pieces, gate by gate over a box"


class Apart(NamedTuple):
    """Ends between which values lie, and how far those of the smooth network are from them at most."""

    ends: FiniteEnds
    distance: Tensor


class Departures:
    """Intervals, with the distance to the smooth network beside them; sums of distances are rounded up."""

    def __init__(self) -> None:
        self._intervals = Intervals(ANY_ORDER)

    def affine(self, node: Affine, inputs: Sequence[Apart]) -> Apart:
        """Return the node's value."""
        ends = self._intervals.affine(node, [one.ends for one in inputs])
        return Apart(ends, node.magnitudes.linear(*(one.distance for one in inputs)) * (1 + ANY_ORDER))

    def arrive(self, stage: "Stage", value: Apart) -> Apart:
        """Return what the gate sees; padding is no distance away."""
        distance = stage.gate.candidates(value.distance)
        return Apart(self._intervals.arrive(stage, value.ends), distance.clamp_min(0.0))

    def leave(self, stage: "Stage", arrived: Apart) -> Apart:
        """Return the gate's output."""
        gate, distance = stage.gate, arrived.distance
        ends = self._intervals.leave(stage, arrived.ends)
        if isinstance(gate, Max):
            return Apart(ends, distance.amax(-1).reshape(ends.low.shape))
        low, high = arrived.ends.low - distance, arrived.ends.high + distance
        first, last = gate.pieces(low).long(), gate.pieces(high).long()
        steepest = torch.zeros_like(distance)
        for piece, slope in enumerate(gate.slopes.abs()):
            steepest = torch.where((first <= piece) & (piece <= last), torch.maximum(steepest, slope), steepest)
        passed = steepest * distance
        for threshold, jump in zip(gate.breakpoints, gate.jumps.abs(), strict=True):
            # Between the two values, and where they are one there is none.
            passed += torch.where((low <= threshold) & (threshold <= high) & (distance > 0), jump, 0.0)
        passed *= 1 + ANY_ORDER
        if isinstance(gate, Approximate):
            passed = (passed + gate.error) * (1 + ANY_ORDER)
        return Apart(ends, passed.reshape(ends.low.shape))


@torch.no_grad()
def largest_distances(network: Network, low: Tensor, high: Tensor) -> Tensor:
    """Return bounds ``(s, m)`` on the distance of outputs to those of the smooth network, over s boxes of inputs."""
    found = carry_to_output(network, Departures(), Apart(FiniteEnds(low, high), torch.zeros_like(low)))
    return found.distance.reshape(len(low), -1)


def approximation_error(network: Network, box: Box | Slice) -> Findings:
    """Return the findings of `Network.approximation_error`."""
    described = box.describe() if isinstance(box, Box | Slice) else ""
    if isinstance(box, Slice) and isinstance(box.window, Box) and box.ambient_dim == network.num_inputs:
        network, box = network.restrict(box), box.window
    if not isinstance(box, Box) or box.dim != network.num_inputs:
        raise InputError(
            f"box must be a Box of the {network.num_inputs} inputs, got {describe(box)}: give "
            f"rs.Box(-1, 1, {network.num_inputs})"
        )
    if network.approximations:
        ends = (torch.tensor(np.array(end), dtype=torch.float64, device=network.device) for end in (box.lo, box.hi))
        low, high = (end.reshape(1, *network.input_shape) for end in ends)
        most = largest_distances(network, low, high).cpu().numpy()
        if network.left_off is not None:
            most = network.left_off.moved(network.left_off.scores(most))
        most = most[0]
    else:
        most = np.zeros(num_file_outputs(network))
    column = Column.of(APPROXIMATION_ERROR, most, np.zeros_like(most), most, method=METHOD)
    return Findings.of(column, keys={"output": np.arange(len(most))}, domain=described)
