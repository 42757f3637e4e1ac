"""All values of a network over many boxes at once, as affine forms with noise: those of `forms`, box by box.

The noise symbols of a box are numbered by themselves: a column means another unit in another box.
"""

from typing import TYPE_CHECKING, NamedTuple

import torch
from jaxtyping import Float, Integer
from torch import Tensor

from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.passes.forms import CLEAR, FormCarrier, FormValue
from reluscope.networks.passes.rounding import piece_error

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
        self.dim, self.num_symbols = half.shape[1], 0
        self.ranges: list[SeenRange] = []
        shape = centers.shape[1:]
        identity = torch.eye(self.dim, dtype=half.dtype, device=half.device).reshape(1, self.dim, *shape)
        columns = identity.expand(len(half), *identity.shape[1:])
        sizes = centers.abs() + half.reshape(centers.shape)
        self.start = FormValue(centers, columns, sizes, torch.zeros_like(centers))

    @property
    def count(self) -> int:
        """Columns: inputs and noise symbols so far."""
        return self.dim + self.num_symbols

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
        slope, middle, stray = _chords(gate, low, high, begin, is_open)
        output = slope * pre + middle
        largest = torch.maximum((slope * low + middle).abs(), (slope * high + middle).abs()) + stray
        # A closed unit may still be beyond its kink by what counts as clear of it.
        crosses = ((levels > low) & (levels < high)).any(dim=0) & ~is_open
        size = torch.maximum(low.abs(), high.abs())
        passed = piece_error(slope, middle.abs() + stray, size, error, self.unit)
        passed = passed + torch.where(crosses, 2 * gate.slopes.abs().amax(dim=0) * clear, 0.0)
        place = is_open.cumsum(dim=1) - 1
        fresh = columns.new_zeros(number, int(place.max()) + 1 if units else 0, units)
        box, unit = is_open.nonzero(as_tuple=True)
        fresh[box, place[box, unit], unit] = stray[box, unit]
        self.num_symbols += fresh.shape[1]
        shape = (number, *gate.shape)
        return FormValue(
            output.reshape(shape),
            torch.cat([slope[:, None] * columns, fresh], dim=1).reshape(number, self.count, *gate.shape),
            torch.maximum(largest, output.abs()).reshape(shape),
            passed.reshape(shape),
        )


def _chords(
    gate: Pointwise, low: Tensor, high: Tensor, begin: Tensor, is_open: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return slopes and constants of chords, and how far functions stray from them; the own piece of closed units."""
    units = low.shape[1]
    slopes, intercepts = gate.slopes.expand(-1, units), gate.intercepts.expand(-1, units)
    levels, unit = gate.breakpoints.expand(-1, units)[:, None], torch.arange(units, device=low.device)
    places = torch.cat([low[None], high[None], torch.clamp(levels.expand(-1, *low.shape), low, high)])
    pieces = (places[:, None] > levels[None]).sum(dim=1)
    values = slopes[pieces, unit] * places + intercepts[pieces, unit]
    chord = (values[1] - values[0]) / torch.where(is_open, high - low, 1.0)
    away = values - chord * places
    top, bottom = away.amax(dim=0), away.amin(dim=0)
    return (
        torch.where(is_open, chord, slopes[begin, unit]),
        torch.where(is_open, (top + bottom) / 2, intercepts[begin, unit]),
        torch.where(is_open, (top - bottom) / 2, 0.0),
    )
