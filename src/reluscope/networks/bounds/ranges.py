"""Ranges of all units over a box of inputs, by interval arithmetic with the rounding of floats included."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from reluscope.networks.passes.boxes import FiniteEnds, Intervals
from reluscope.networks.passes.carry import carry
from reluscope.networks.passes.network_graph import NetworkGraph
from reluscope.networks.passes.rounding import ANY_ORDER


@dataclass(frozen=True)
class Ranges:
    """Bounds of the pre-activations of one gate, valid for every input in the box."""

    lower: Float[np.ndarray, "..."]
    upper: Float[np.ndarray, "..."]


def unit_ranges(
    network: NetworkGraph, lower: Float[np.ndarray, " n"], upper: Float[np.ndarray, " n"]
) -> tuple[Ranges, ...]:
    """Return bounds of all pre-activations over the box [lower, upper], one per gate.

    Ends have to be finite. Bounds are sound, and wider than necessary: each node ignores how its inputs depend on each
    other. Two forward passes of one point.
    """
    shape = (1, *network.input_shape)
    low, high = (torch.tensor(end, dtype=torch.float64, device=network.device).reshape(shape) for end in (lower, upper))
    *at_gates, _ = carry(network, Intervals(ANY_ORDER), FiniteEnds(low, high))
    return tuple(Ranges(*(end[0].cpu().numpy() for end in ends)) for ends in at_gates)
