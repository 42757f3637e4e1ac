"""Ranges of all units over a box of inputs, by interval arithmetic with the rounding of floats included.

Intervals are kept as centre and radius: an affine node maps the centre by itself and the radius by the absolute values
of its weights. Both are widened by the rounding of the sums that they come from, so the ranges hold in real arithmetic.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from reluscope.networks.graph import Affine, Max, Pointwise
from reluscope.networks.network import Network

# Sums of n terms are within n eps of the sum of magnitudes, whatever their order; n stays far below this.
ROUNDING = 2.0**-52 * 2**16


@dataclass(frozen=True)
class Ranges:
    """Bounds of the pre-activations of one gate.

    Parameters
    ----------
    lower, upper : (u,) float64, or (u, k) for a max gate
        The pre-activation of every unit lies between them, whatever the input in the box.
    """

    lower: Float[np.ndarray, "..."]
    upper: Float[np.ndarray, "..."]


def unit_ranges(network: Network, lower: Float[np.ndarray, " n"], upper: Float[np.ndarray, " n"]) -> tuple[Ranges, ...]:
    """Return bounds of all pre-activations over the box [lower, upper].

    Parameters
    ----------
    network : Network
    lower, upper : (n,) float64
        Finite ends of the box.

    Returns
    -------
    tuple of Ranges
        One per gate, in order; sound, and wider than necessary: every node forgets how its inputs depend on each other.

    Notes
    -----
    Two forward passes of one point.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.array([[1.0, -1.0]]), np.array([0.5])), (np.eye(1), np.zeros(1))])
    >>> unit_ranges(net, -np.ones(2), np.ones(2))[0].upper.round(6)
    array([2.5])
    """
    shape = (1, *network.input_shape)
    low, high = (torch.tensor(end, dtype=torch.float64, device=network.device).reshape(shape) for end in (lower, upper))
    intervals: dict[int, tuple[Tensor, Tensor]] = {0: (low, high)}
    found: list[Ranges] = []
    for position, node in enumerate(network.nodes):
        if isinstance(node, Affine):
            intervals[position] = _affine(node, [intervals[source] for source in node.inputs])
        elif isinstance(node, Pointwise | Max):
            ends = [node.candidates(end) for end in intervals[node.inputs[0]]]
            found.append(Ranges(*(end[0].cpu().numpy() for end in ends)))
            intervals[position] = _through(node, *ends)
    return tuple(found)


def _affine(node: Affine, intervals: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    centers = [(low + high) / 2 for low, high in intervals]
    # The centre is rounded, so the radius reaches from it to the farther end.
    radii = [torch.maximum(high - center, center - low) for (low, high), center in zip(intervals, centers, strict=True)]
    absolute = node.absolute()
    center = node.apply(*centers)
    radius = absolute.linear(*radii)
    scale = absolute.apply(*(middle.abs() + reach for middle, reach in zip(centers, radii, strict=True)))
    radius = radius + ROUNDING * scale
    return center - radius, center + radius


def _through(gate: Pointwise | Max, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
    """Return the range of a gate's output; a pointwise one is extreme at an end or at a breakpoint between them."""
    if isinstance(gate, Max):
        return gate.apply(low), gate.apply(high)
    ends = [gate.apply(low), gate.apply(high)]
    for level in gate.breakpoints:
        ends.append(gate.apply(torch.clamp(level.expand_as(low), low, high)))
    stacked = torch.stack(ends)
    smallest, largest = stacked.amin(dim=0), stacked.amax(dim=0)
    slack = ROUNDING * torch.maximum(smallest.abs(), largest.abs())
    return smallest - slack, largest + slack
