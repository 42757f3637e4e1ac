"""What float64 loses where products come below its smallest number: relative bounds on rounding do not see it.

A product that is too small loses up to ``2^-1074``, whatever its terms are. Sums of such losses are carried on to the
outputs by the absolute values of all weights, and in weights that are carried back they are multiplied by values.
Networks of ordinary numbers lose some 1e-270 by this count; it matters where weights multiply to 1e-300 and below, and
there it is all that keeps a bound from being wrong.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import Affine
from reluscope.networks.passes.carry import carry_to_output
from reluscope.networks.passes.network_graph import NetworkGraph
from reluscope.networks.passes.rounding import candidate_bounds
from reluscope.networks.passes.stages import Stage

# Of one sum of products, whatever is done with it: 2^-1074 for as many of them as there can be, and for bounds on it.
LOSS = 2.0**-900


class _Lost(NamedTuple):
    """How large a value may be, and what may be lost in it, (1, *shape) each."""

    size: Tensor
    loss: Tensor


class _Losses:
    """Sizes and losses; the sum of all sizes that were met, and the largest loss."""

    def __init__(self, total: float, loss: float) -> None:
        self.total, self.loss, self.largest = total, loss, loss

    def affine(self, node: Affine, inputs: Sequence[_Lost]) -> _Lost:
        """Return what an affine node makes of both."""
        size = node.magnitudes.apply(*(one.size for one in inputs))
        return self._met(_Lost(size, node.magnitudes.linear(*(one.loss for one in inputs)) + self.loss))

    def arrive(self, stage: Stage, value: _Lost) -> _Lost:
        """Return what goes into a gate."""
        return _Lost(*(candidate_bounds(stage.gate, one) for one in value))

    def leave(self, stage: Stage, arrived: _Lost) -> _Lost:
        """Return what a gate makes of both, on whichever piece."""
        gate, (size, loss) = stage.gate, arrived
        if isinstance(gate, Max):
            found = _Lost(size.amax(-1), loss.amax(-1))
        else:
            steepest, start = gate.slopes.abs().amax(0), gate.intercepts.abs().amax(0)
            found = _Lost(steepest * size + start, steepest * loss + self.loss)
        return self._met(_Lost(*(one.reshape(1, *gate.shape) for one in found)))

    def _met(self, one: _Lost) -> _Lost:
        self.total += float(one.size.sum())
        self.largest = max(self.largest, float(one.loss.max()))
        return one


@torch.no_grad()
def underflow(
    network: NetworkGraph, lower: Float[np.ndarray, " n"], upper: Float[np.ndarray, " n"], *, loss: float | None = None
) -> float:
    """Return how much products below the smallest number may change values or their bounds on a box.

    An upper bound; infinite where values may be too large for float64. For functions of values with coefficients a it
    is ``1 + sum(|a|)`` times as much. Two passes of one point.
    """
    largest = torch.as_tensor(np.maximum(np.abs(lower), np.abs(upper)), device=network.device)
    start = largest.reshape(1, *network.input_shape)
    carrier = _Losses(float(start.sum()), LOSS if loss is None else loss)
    carry_to_output(network, carrier, _Lost(start, torch.full_like(start, carrier.loss)))
    lost = carrier.largest + carrier.loss * carrier.total
    return lost if np.isfinite(lost) else np.inf
