"""The values of a network as affine functions on cells, gate by gate, with bounds on the errors of their coefficients.

On a cell where the pieces of all gates so far are known, every value is affine in the input: a coefficient for every
input and a constant, as `RoundedMaps` carries them.
"""

import numpy as np
import torch

from reluscope.networks.carriers.maps import AffineValue, RoundedMaps
from reluscope.networks.graph import Pointwise
from reluscope.networks.network import Network
from reluscope.networks.stages import Stage

AffineValues = dict[int, AffineValue]


def affine_input(network: Network, num_cells: int, scale: float = 1.0) -> AffineValues:
    """Return the input as an affine function of coordinates in units of ``scale``, on each of some cells."""
    n = network.num_inputs
    basis = scale * torch.eye(n + 1, n, dtype=torch.float64, device=network.device).reshape(n + 1, *network.input_shape)
    coefficients = basis.expand(num_cells, *basis.shape)
    return {0: AffineValue(coefficients, torch.zeros_like(coefficients))}


def advance_affinely(stage: Stage, values: AffineValues, gamma: float) -> tuple[np.ndarray, np.ndarray, AffineValues]:
    """Run the affine nodes up to a pointwise gate.

    Parameters
    ----------
    stage : Stage
    values : dict
        What the stage starts from.
    gamma : float
        Relative rounding of a sum.

    Returns
    -------
    maps, errors : (c, u, n + 1) float64
        Pre-activations: coefficients, and bounds on their errors.
    live : dict
        What later stages still read, and under the gate's position what goes into it.
    """
    carrier = RoundedMaps(gamma, has_constant=True)
    values = stage.leg.carry(carrier, values)
    target = values[stage.leg.target]
    maps, errors = (part.transpose(1, 2).cpu().numpy() for part in carrier.arrive(stage, target))
    return maps, errors, {position: values[position] for position in stage.keeps} | {stage.position: target}


def close_affinely(stage: Stage, values: AffineValues, pieces: np.ndarray, gamma: float) -> AffineValues:
    """Apply a pointwise gate whose units use the given pieces (c, u)."""
    assert isinstance(stage.gate, Pointwise)
    carrier = RoundedMaps(gamma, has_constant=True)
    value = values[stage.position]
    carrier.hold(torch.from_numpy(pieces.astype(np.int64)).to(value.coefficients.device))
    return {**values, stage.position: carrier.leave(stage, carrier.arrive(stage, value))}
