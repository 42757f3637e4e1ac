"""All values of a network over many boxes at once, as affine forms with noise: those of `forms`, box by box.

The noise symbols of a box are numbered by themselves: a column means another unit in another box.
"""

from typing import TYPE_CHECKING, NamedTuple

import torch
from jaxtyping import Float, Integer
from torch import Tensor

from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.passes.forms import CLEAR, FormCarrier, FormValue, pass_gate

if TYPE_CHECKING:
    from reluscope.networks.passes.stages import Stage


class SeenRange(NamedTuple):
    """What the units of a gate see on boxes, rounding included, and the first and last pieces that they may have."""

    low: Float[Tensor, "k u"]
    high: Float[Tensor, "k u"]
    first: Integer[Tensor, "k u"]
    last: Integer[Tensor, "k u"]


class BoxForms(FormCarrier):
    """Affine forms with noise over the steps away from the centres of boxes, without max units.

    ``half`` has half the side lengths; ``unit`` is the rounding of one sum relative to its absolute terms. ``ranges``
    has the ranges of the gates that were passed.
    """

    def __init__(self, centers: Float[Tensor, "k ..."], half: Float[Tensor, "k n"], unit: float) -> None:
        self.half, self.unit = half, unit
        self.count = self.dim = half.shape[1]
        self.ranges: list[SeenRange] = []
        shape = centers.shape[1:]
        identity = torch.eye(self.dim, dtype=half.dtype, device=half.device).reshape(1, self.dim, *shape)
        columns = identity.expand(len(half), *identity.shape[1:])
        sizes = centers.abs() + half.reshape(centers.shape)
        self.start = FormValue(centers, columns, sizes, torch.zeros_like(centers))

    def leave(self, stage: "Stage", arrived: FormValue) -> FormValue:
        """Return what the gate makes of it: chords where it may be on several pieces, with a new symbol each."""
        gate = stage.gate
        assert isinstance(gate, Pointwise)
        pre, error = gate.candidates(arrived.center), gate.candidates(arrived.error)
        number, units = pre.shape
        columns = arrived.columns.reshape(number, self.count, units)
        reach = torch.einsum("kcu,kc->ku", columns[:, : self.dim].abs(), self.half)
        reach = reach + columns[:, self.dim :].abs().sum(dim=1) + error
        low, high, clear = pre - reach, pre + reach, CLEAR * error
        levels = gate.breakpoints.expand(-1, units)[:, None]
        # What is above the whole range is not below any of it, however close.
        begin = (levels < torch.minimum(low + clear, high)).sum(dim=0)
        end = torch.maximum((levels < high - clear).sum(dim=0), begin)
        is_open = end > begin
        self.ranges.append(SeenRange(low - error, high + error, begin, end))
        slope, passed = pass_gate(gate, pre, error, (low, high, begin, is_open), (low, high), self.unit)
        return self.departing(stage, slope[:, None] * columns, is_open, passed)
