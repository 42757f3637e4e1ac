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
    """Bounds of the pre-activations of one gate.

    Parameters
    ----------
    lower, upper : (u,) float64, or (u, k) for a max gate
        The pre-activation of every unit lies between them, whatever the input in the box.
    """

    lower: Float[np.ndarray, "..."]
    upper: Float[np.ndarray, "..."]


def unit_ranges(
    network: NetworkGraph, lower: Float[np.ndarray, " n"], upper: Float[np.ndarray, " n"]
) -> tuple[Ranges, ...]:
    """Return bounds of all pre-activations over the box [lower, upper].

    Parameters
    ----------
    network : NetworkGraph
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
    *at_gates, _ = carry(network, Intervals(ANY_ORDER), FiniteEnds(low, high))
    return tuple(Ranges(*(end[0].cpu().numpy() for end in ends)) for ends in at_gates)
