"""Bounds on the rounding of the gradients of pre-activations and outputs, unit by unit."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor

from reluscope.networks.passes.carry import carry
from reluscope.networks.passes.magnitudes import GradientMagnitudes, gradients_of_inputs

if TYPE_CHECKING:
    from reluscope.networks.passes.network_graph import NetworkGraph


@torch.no_grad()
def gradient_errors(
    network: "NetworkGraph", pieces: Sequence[Tensor], largest: Sequence[Tensor | None], number: int, unit: float
) -> tuple[list[Tensor], Float[Tensor, "s m"]]:
    """Return bounds on the rounding of gradients of pre-activations and outputs on regions of points.

    ``largest`` is the largest entry of each pre-activation's gradient; None stands for sums over paths, which bound it.
    Bounds are 0 at padding. Two forward passes.
    """
    carrier = GradientMagnitudes(unit)
    walk = carry(network, carrier, gradients_of_inputs(number, network.input_shape, network.device))
    found = []
    for piece, size in zip(pieces, largest, strict=True):
        found.append(next(walk).error)
        carrier.hold(piece, size)
    return found, next(walk).error.reshape(number, -1)
