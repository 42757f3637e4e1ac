"""Bounds on absolute values and on their errors, without the values: for many points at once, and for derivatives."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import Affine
from reluscope.networks.passes.rounding import affine_error, any_piece_error, candidate_bounds, piece_error

if TYPE_CHECKING:
    from reluscope.networks.passes.stages import Stage


# Products below lose more than their share of rounding; and what a sum of such products may lose in all.
LEAST_PRODUCT, LOSS = 2.0**-960, 2.0**-1020


class Magnitude(NamedTuple):
    """Bounds on absolute values, and on their errors, both ``(s, *shape)``."""

    size: Tensor
    error: Tensor


class Magnitudes:
    """Bounds on absolute values and on their errors.

    ``unit`` is the rounding of one sum, relative to the sum of its absolute terms.
    """

    def __init__(self, unit: float) -> None:
        self.unit = unit

    def affine(self, node: Affine, inputs: Sequence[Magnitude]) -> Magnitude:
        """Return ``|W| size + |b|``, and its error."""
        sizes, errors = zip(*inputs, strict=True)
        if not node.rounds or not node.tensors():
            return Magnitude(node.magnitudes.apply(*sizes), affine_error(node, sizes, errors, self.unit))
        # In one call: a large kernel is read once.
        both = [torch.cat([size, torch.add(e, size, alpha=self.unit)]) for size, e in inputs]
        size, error = node.magnitudes.linear(*both).split(len(sizes[0]))
        constant = node.magnitudes.constant
        return Magnitude(size, error) if constant is None else Magnitude(size + constant, error + self.unit * constant)

    def arrive(self, stage: "Stage", value: Magnitude) -> Magnitude:
        """Return the sizes of the gate's pre-activations and their errors; padding has none."""
        return Magnitude(*(candidate_bounds(stage.gate, one) for one in value))


class MagnitudesOfAnyPiece(Magnitudes):
    """The same through continuous gates, whichever pieces their units use."""

    def leave(self, stage: "Stage", arrived: Magnitude) -> Magnitude:
        """Return the sizes of the gate's output, and their errors."""
        gate, (size, error) = stage.gate, arrived
        if isinstance(gate, Max):
            size, error = size.amax(-1), error.amax(-1)
        else:
            error = any_piece_error(gate, size, error, self.unit)
            size = gate.slopes.abs().amax(0) * size + gate.intercepts.abs().amax(0)
        shape = (len(size), *gate.shape)
        return Magnitude(size.reshape(shape), error.reshape(shape))


class GradientMagnitudes(Magnitudes):
    """The largest entry of the gradient of every value, and a bound on the errors of its entries.

    `hold` replaces sizes at gates by those of the gradients, which may be far below the rounding of first layers.
    Without it sizes are sums of absolute products over paths, which bound the rounding of maps.
    """

    def affine(self, node: Affine, inputs: Sequence[Magnitude]) -> Magnitude:
        """Return ``|W| size``, and its error."""
        sizes, errors = zip(*inputs, strict=True)
        error = affine_error(node, sizes, errors, self.unit, has_constant=False)
        if any(_may_underflow(node.least_factor, size) for size in sizes):
            error = error + LOSS
        return Magnitude(node.magnitudes.linear(*sizes), error)

    def hold(self, pieces: Tensor, largest: Tensor | None = None) -> None:
        """Set the pieces ``(s, u)`` of the units of the gate just reached, and their gradients' largest entries."""
        self._pieces, self._largest = pieces.long(), largest

    def leave(self, stage: "Stage", arrived: Magnitude) -> Magnitude:
        """Return the largest entries behind the gate, and their errors."""
        gate, pieces, error = stage.gate, self._pieces, arrived.error
        size = arrived.size if self._largest is None else self._largest
        if isinstance(gate, Max):
            size, error = (table.gather(-1, pieces[..., None])[..., 0] for table in (size, error))
        else:
            slope = gate.slope(pieces).abs()
            lost = gate.least_slope < 1 and _may_underflow(gate.least_slope, size)
            size, error = slope * size, piece_error(slope, None, size, error, self.unit)
            error = error + LOSS * (slope > 0) if lost else error
        shape = (len(size), *gate.shape)
        return Magnitude(size.reshape(shape), error.reshape(shape))


def _may_underflow(factor: float, sizes: Tensor) -> bool:
    """Return whether a product of a number of at least ``factor`` and a nonzero size may lose more than its share."""
    return factor < torch.inf and bool(((sizes > 0) & (sizes < LEAST_PRODUCT / factor)).any())


def gradients_of_inputs(number: int, shape: tuple[int, ...], device: torch.device) -> Magnitude:
    """Return what `GradientMagnitudes` starts from: every input is its own gradient."""
    ones = torch.ones(number, *shape, dtype=torch.float64, device=device)
    return Magnitude(ones, torch.zeros_like(ones))
