"""Numbers of about 100 bits with proved bounds on their errors: for signs that float64 does not know.

Errors of float64 may grow tenfold with each gate of a deep network. Of values as double words, summed from exact
products of slices, they begin at 1e-30. As errors grow, later nodes need fewer slices: a product that is far below the
error carried to it is left out, and counted in the error.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from reluscope.networks.graph.choosing_gates import Max, TopK
from reluscope.networks.graph.nodes import Affine, Pointwise
from reluscope.networks.graph.operators.elementwise import ScaleShift, Sum, aligned
from reluscope.networks.passes.double_words import ROUNDING, DoubleWord, plus, times, two_sum
from reluscope.networks.passes.rounding import candidate_bounds, jumps_within
from reluscope.networks.passes.sliced_products import Products, Slices, products_of, sliced

if TYPE_CHECKING:
    from reluscope.networks.passes.stages import Stage

# What is left out is at most this part of the error carried to a node, or of the sizes of its sums.
LEFT_OUT, LEAST_LEFT_OUT = 0.25, 2.0**-102
# Bounds are rounded, too, and products of small parts may underflow.
SLACK, TINY = 1 + 2.0**-20, 2.0**-900


class Wide(NamedTuple):
    """Values ``high + low`` and bounds on their errors, all ``(s, *shape)``."""

    high: Tensor
    low: Tensor
    error: Tensor

    @classmethod
    def exactly(cls, value: Tensor) -> "Wide":
        """Return values without errors."""
        return cls(value, torch.zeros_like(value), torch.zeros_like(value))

    @property
    def word(self) -> DoubleWord:
        """The values alone."""
        return DoubleWord(self.high, self.low)


class WideNumbers:
    """Values as double words, with bounds on their errors; where one reaches a breakpoint, the steepest slope counts.

    ``multiplications`` counts those of nodes that sum many products, for all points together.
    """

    def __init__(self) -> None:
        self.multiplications = 0

    def affine(self, node: Affine, inputs: Sequence[Wide]) -> Wide:
        """Return the node's value and its error."""
        error = node.magnitudes.linear(*(one.error for one in inputs))
        highs, lows = [one.high for one in inputs], [one.low for one in inputs]
        if not node.rounds:  # entries move, and constants stand where there were none
            return Wide(node.apply(*highs), node.linear(*lows), error)
        if isinstance(node, Sum):
            value, size = _sum(node, inputs)
            own = 2 * len(inputs) * ROUNDING * size
        elif isinstance(node, ScaleShift):
            value, size = _scaled(node, inputs[0])
            own = 2 * ROUNDING * size
        else:
            products = products_of(node)
            if products is None:
                raise TypeError(f"no exact products are known of {type(node).__name__}")
            value, own = self._summed(products, inputs[0].word, error)
        return Wide(value.high, value.low, SLACK * (error + own) + TINY)

    def arrive(self, stage: "Stage", value: Wide) -> Wide:
        """Return the pre-activations of the gate and their errors; padding has none."""
        low = stage.gate.candidates(value.low)
        low = low.masked_fill(low == -torch.inf, 0.0) if isinstance(stage.gate, Max) else low
        return Wide(stage.gate.candidates(value.high), low, candidate_bounds(stage.gate, value.error))

    def leave(self, stage: "Stage", arrived: Wide) -> Wide:
        """Return the gate's output and its error."""
        gate, pieces = stage.gate, pieces_of(stage.gate, arrived)
        if isinstance(gate, Max):
            high, low = (gate.select(part, pieces) for part in arrived.word)
            return Wide(high, low, arrived.error.amax(-1).reshape(high.shape))
        if isinstance(gate, TopK):
            high, low = gate.select(arrived.high, pieces), gate.slope(pieces) * arrived.low
            error = gate.slope(pieces) * arrived.error + jumps_within(gate, arrived.high, _around_high(arrived))
            return Wide(high, *(part.reshape(high.shape) for part in (low, SLACK * error)))
        slope, intercept = gate.slope(pieces), gate.intercept(pieces)
        value, size = plus(times(arrived.word, slope), intercept), (slope * arrived.high).abs() + intercept.abs()
        is_exact = ((slope == 0) | (slope == 1)) & (intercept == 0)
        near = torch.zeros_like(pieces, dtype=torch.bool)
        jump = torch.zeros_like(arrived.high)
        for gap, height in zip(gaps(gate, arrived), gate.jumps.abs(), strict=True):
            near |= gap.abs() <= arrived.error
            jump += torch.where((gap.abs() <= arrived.error) & (arrived.error > 0), height, 0.0)
        steepness = torch.where(near, gate.slopes.abs().amax(0), slope.abs())
        error = SLACK * (steepness * arrived.error + torch.where(is_exact, 0.0, 3 * ROUNDING * size + TINY) + jump)
        return Wide(*(part.reshape(-1, *gate.shape) for part in (*value, error)))

    def _summed(self, products: Products, value: DoubleWord, carried: Tensor) -> tuple[DoubleWord, Tensor]:
        """Return sums of products as double words, and a bound on what is left out and rounded."""
        node, bits = products.node, products.bits
        points = len(value.high)
        of_values = sliced(value, bits, tuple(range(1, value.high.ndim)))
        of_values = Slices(
            of_values.parts, of_values.exponent.reshape(-1, *(1,) * len(node.shape)), bits, of_values.is_whole
        )
        if products.weight is None:
            of_weights = Slices([torch.ones(())], np.zeros((), dtype=np.int64), bits, is_whole=True)
        else:
            weight = DoubleWord(products.weight, torch.zeros_like(products.weight))
            of_weights = sliced(weight, bits, products.axes)
            exponent = of_weights.exponent.reshape(-1, *(1,) * products.behind)
            of_weights = Slices(of_weights.parts, exponent, bits, of_weights.is_whole)
        level, left_out = _level(products, of_weights, of_values, carried)
        # Sums of one unit are added without rounding, too.
        summands: dict[int, Tensor] = {}
        for i, one in enumerate(of_weights.parts[: level + 1]):
            others = of_values.parts[: level + 1 - i]
            if not others:
                continue
            units = [of_values.exponent - (j + 1) * bits + 1 for j in range(len(others))]
            unit = torch.from_numpy(np.ldexp(1.0, np.concatenate(units))).to(value.high.device)
            self.multiplications += node.size * products.terms * points * len(others)
            found = products.of(None if products.weight is None else one, torch.cat(others), unit)
            for j, part in enumerate(found.split(points)):
                summands[i + j] = summands[i + j] + part if i + j in summands else part
        total = DoubleWord(*(torch.zeros((points, *node.shape), dtype=torch.float64, device=carried.device),) * 2)
        size = torch.zeros_like(total.high)
        number = 0
        for _, part in sorted(summands.items()):
            total, size, number = plus(total, part), size + part.abs(), number + 1
        left = torch.from_numpy(left_out).to(carried.device)
        if products.divisor is not None:
            share = 1 / products.divisor.to(carried.device)  # as a float: that is the weight of each entry
            total, size, left = times(total, share), size * share, left * share
        if node.constant is not None:
            total, size = plus(total, node.constant), size + node.constant.abs()
        return total, left + (number + 3) * ROUNDING * size


def _level(products: Products, weights: Slices, values: Slices, carried: Tensor) -> tuple[int, np.ndarray]:
    """Return up to which sum of their places slices are multiplied, and a bound on all that is left out."""
    size = products.terms * np.ldexp(1.0, weights.exponent + values.exponent)
    # Means of entries of points: what matters is what is usual.
    enough = LEFT_OUT * carried.flatten(1).mean(1).cpu().numpy()
    enough = np.maximum(enough, LEAST_LEFT_OUT * size.reshape(len(enough), -1).mean(1))
    if products.divisor is not None:
        enough = enough * float(products.divisor.min())
    # Of all pairs nothing is left out but what slices leave over.
    last = max(0, len(weights.parts) + len(values.parts) - 2)
    levels = ((level, _left_out(products, weights, values, level)) for level in range(last + 1))
    return next(
        (level, left)
        for level, left in levels
        if level == last or (left.reshape(len(enough), -1).mean(1) <= enough).all()
    )


def _left_out(products: Products, weights: Slices, values: Slices, level: int) -> np.ndarray:
    """Return a bound on the sums of products of slices whose places add up to more than a level."""
    left = weights.from_slice(len(weights.parts)) * values.from_slice(0)
    for place in range(len(weights.parts)):
        left = left + weights.from_slice(place) * values.from_slice(max(0, level + 1 - place))
    return products.terms * left


def _sum(node: Sum, inputs: Sequence[Wide]) -> tuple[DoubleWord, Tensor]:
    """Return the signed sum of values, and that of their sizes."""
    axes = len(node.shape)
    shape = (len(inputs[0].high), *node.shape)
    total = DoubleWord(*(torch.zeros(shape, dtype=torch.float64, device=inputs[0].high.device),) * 2)
    size = torch.zeros_like(total.high)
    for sign, one in zip(node.signs, inputs, strict=True):
        high, low = (sign * aligned(part, axes) for part in one.word)
        total, size = plus(plus(total, high), low), size + high.abs()
    return total, size


def _scaled(node: ScaleShift, value: Wide) -> tuple[DoubleWord, Tensor]:
    """Return the scaled and shifted value, and the sizes of its two terms together."""
    shape = (-1, *node.shape)
    found = DoubleWord(*(aligned(part, len(node.shape)).expand(shape) for part in value.word))
    if node.scale is not None:
        found = times(found, node.scale)
    size = found.high.abs()
    if node.shift is not None:
        found, size = plus(found, node.shift), size + node.shift.abs()
    return found, size


def gaps(gate: Pointwise, arrived: Wide) -> list[Tensor]:
    """Return by how much pre-activations are above each breakpoint."""
    found = []
    for threshold in gate.breakpoints:
        high, low = two_sum(arrived.high, -threshold)
        found.append(high + (low + arrived.low))
    return found


def pieces_of(gate: Pointwise | Max, arrived: Wide) -> Tensor:
    """Return the piece of every unit ``(s, u)``, by the tie rule of the library."""
    if isinstance(gate, Max):
        high = arrived.high
        is_largest = high == high.amax(-1, keepdim=True)
        return gate.pieces(torch.where(is_largest, arrived.low, -torch.inf))
    if isinstance(gate, TopK):
        by_low = arrived.low.argsort(dim=-1, descending=True, stable=True)
        order = by_low.gather(-1, arrived.high.gather(-1, by_low).argsort(dim=-1, descending=True, stable=True))
        places = torch.arange(order.shape[-1], dtype=torch.float64, device=order.device)
        # The same order, in numbers of which float64 has no two alike.
        return gate.pieces(torch.zeros_like(arrived.high).scatter_(-1, order, -places.expand(order.shape)))
    pieces = torch.zeros(arrived.high.shape, dtype=gate.piece_dtype, device=arrived.high.device)
    for gap in gaps(gate, arrived):
        pieces += gap > 0
    return pieces


def in_doubt(gate: Pointwise | Max, arrived: Wide) -> Tensor:
    """Return for every point ``(s,)`` whether some unit could be on another piece; exact ties are no doubts."""
    if isinstance(gate, Max):
        best = pieces_of(gate, arrived).long().unsqueeze(-1)
        high, low = (part.gather(-1, best) - part for part in arrived.word)
        gap = high + low
        is_near = gap <= 2 * arrived.error.amax(-1, keepdim=True)
        return (is_near & (gap > 0)).any(-1).flatten(1).any(1)
    if isinstance(gate, TopK):
        return gate.may_change(arrived.high, _around_high(arrived), ties=False).any(1)
    doubt = torch.zeros(len(arrived.high), dtype=torch.bool, device=arrived.high.device)
    for gap in gaps(gate, arrived):
        doubt |= ((gap.abs() <= arrived.error) & (gap != 0)).flatten(1).any(1)
    return doubt


def _around_high(arrived: Wide) -> Tensor:
    """Return how far values are from their high words, at most."""
    return SLACK * (arrived.low.abs() + arrived.error)
