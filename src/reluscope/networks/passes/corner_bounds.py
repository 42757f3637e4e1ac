"""Bounds of all values on cells: two linear functions per entry, given at the cell's corners, and two numbers.

On a cell every entry lies between ``center - radius`` and ``center + radius``, which are linear there, and so are known
by what they are at its corners, where they are smallest and largest, too. An affine node takes centre and radius as it
takes a point and its error. A gate puts each unit between two lines over its range, the best ones at the middle of it;
the range is that of the linear functions and of intervals that are carried beside them, whichever is smaller. Kernels
do what goes entry by entry.

References: linear bounds carried forward (Zhang et al., "Efficient neural network robustness certification with general
activation functions", NeurIPS 2018; Singh et al., "An abstract domain for certifying neural networks", POPL 2019).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from reluscope import _kernels
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import Affine, Pointwise
from reluscope.networks.passes.boxes import FiniteEnds, Intervals
from reluscope.networks.passes.rounding import affine_error, candidate_bounds

if TYPE_CHECKING:
    from reluscope.networks.passes.stages import Stage


class CornerBound(NamedTuple):
    """Bounds of one value, at the p corners of c cells and on the cells."""

    center: Tensor  # (p, *shape), the corners of each cell together
    radius: Tensor  # (p, *shape)
    ends: FiniteEnds  # of ``(c, *shape)`` tensors


class CornerBounds:
    """Bounds of values on cells that hold in real arithmetic.

    ``offsets`` (c + 1,) say where the corners of each cell begin. ``unit`` is the rounding of one sum relative to its
    absolute terms, generous enough to cover the sums of the bounds too.
    """

    def __init__(self, offsets: np.ndarray, unit: float) -> None:
        self.offsets, self.unit = offsets, unit
        self._intervals = Intervals(unit)
        self._cell = torch.from_numpy(np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)))

    def start(self, center: Tensor, radius: Tensor) -> CornerBound:
        """Return the bounds of a value that is affine on every cell, known at its corners up to a radius."""
        radius = radius + self.unit * center.abs()
        return CornerBound(center, radius, self._range(center, radius))

    def affine(self, node: Affine, inputs: Sequence[CornerBound]) -> CornerBound:
        """Return the bounds of the node's value."""
        centers, radii = [one.center for one in inputs], [one.radius for one in inputs]
        sizes = [center.abs() + radius for center, radius in zip(centers, radii, strict=True)]
        radius = affine_error(node, sizes, radii, self.unit)
        return CornerBound(node.apply(*centers), radius, self._intervals.affine(node, [one.ends for one in inputs]))

    def arrive(self, stage: "Stage", value: CornerBound) -> CornerBound:
        """Return the bounds of the gate's pre-activations."""
        center = stage.gate.candidates(value.center)
        radius = candidate_bounds(stage.gate, value.radius)
        low, high = self._intervals.arrive(stage, value.ends)
        lowest, highest = self._range(center, radius)
        return CornerBound(center, radius, FiniteEnds(torch.maximum(low, lowest), torch.minimum(high, highest)))

    def leave(self, stage: "Stage", arrived: CornerBound) -> CornerBound:
        """Return the bounds of the gate's output."""
        gate = stage.gate
        if isinstance(gate, Max):
            ends = self._intervals.leave(stage, arrived.ends)
            center, radius = self._largest(arrived, ends)
        else:
            center, radius, ends = self._between_lines(gate, arrived)
        ends = FiniteEnds(*(end.reshape(-1, *gate.shape) for end in ends))
        return CornerBound(center.reshape(-1, *gate.shape), radius.reshape(-1, *gate.shape), ends)

    def _range(self, center: Tensor, radius: Tensor) -> FiniteEnds:
        """Return the ends of every entry on every cell."""
        low, high = _kernels.cell_ranges(_rows(center), _rows(radius), self.offsets)
        shape = (len(low), *center.shape[1:])
        return FiniteEnds(*(torch.from_numpy(end).reshape(shape).to(center.device) for end in (low, high)))

    def _between_lines(self, gate: Pointwise, arrived: CornerBound) -> tuple[Tensor, Tensor, FiniteEnds]:
        """Put units between two lines over their ranges, and return the ranges behind the gate, too."""
        kinks, slopes, starts = (
            _per_unit(table, gate.num_units) for table in (gate.breakpoints, gate.slopes, gate.intercepts)
        )
        low, high = (_rows(end) for end in arrived.ends)
        relaxed = _kernels.relax(low, high, kinks, slopes, starts, self.unit)
        center, radius = _kernels.between_lines(
            _rows(arrived.center),
            _rows(arrived.radius),
            self.offsets,
            below_slopes=relaxed[0],
            below_starts=relaxed[1],
            above_slopes=relaxed[2],
            above_starts=relaxed[3],
            rounding=self.unit,
        )
        center, radius, low, high = (
            torch.from_numpy(part).to(arrived.center.device) for part in (center, radius, relaxed[4], relaxed[5])
        )
        return center, radius, FiniteEnds(low, high)

    def _largest(self, arrived: CornerBound, ends: FiniteEnds) -> tuple[Tensor, Tensor]:
        """Put max units between the candidate with the best lower end, and a number where that one may be exceeded."""
        low, high = arrived.ends
        best = low.argmax(-1, keepdim=True)
        others = high.scatter(-1, best, -torch.inf).amax(-1)
        is_largest = (low.gather(-1, best)[..., 0] >= others)[self._cell]
        center, radius = (part.gather(-1, best[self._cell])[..., 0] for part in (arrived.center, arrived.radius))
        lower = center - radius
        upper = torch.where(is_largest, center + radius, ends.high.reshape(len(low), -1)[self._cell])
        middle, half = (upper + lower) / 2, ((upper - lower) / 2).clamp_(min=0)
        return middle, half + self.unit * (middle.abs() + half)


def _per_unit(table: Tensor, number: int) -> np.ndarray:
    return np.ascontiguousarray(table.expand(len(table), number).cpu().numpy())


def _rows(value: Tensor) -> np.ndarray:
    return np.ascontiguousarray(value.reshape(len(value), -1).cpu().numpy())
