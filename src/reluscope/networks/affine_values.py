"""The values of a network as affine functions on cells, gate by gate, with bounds on the errors of their coefficients.

On a cell where the pieces of all gates so far are known, every value is affine in the input: a coefficient for every
input and a constant, pushed through affine nodes by their linear part and through gates by the slope and intercept of
each unit's piece. Errors follow by running error analysis, e' = |W| (e + c eps |v|) + c eps |b|.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from reluscope.networks.graph import Affine, Pointwise
from reluscope.networks.network import Network
from reluscope.networks.stages import Stage


@dataclass(frozen=True)
class AffineValue:
    """One value of the graph on several cells.

    Parameters
    ----------
    coefficients : (c, n + 1, *shape) tensor
        One slice per input, and the constant last.
    errors : (c, n + 1, *shape) tensor
        Bounds on their errors.
    """

    coefficients: Tensor
    errors: Tensor

    def take(self, cells: Tensor) -> "AffineValue":
        """Return the same on some cells."""
        return AffineValue(self.coefficients[cells], self.errors[cells])


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
    values = dict(values)
    for position, node in stage.leg.plan:
        values[position] = _through(node, [values[source] for source in node.inputs], gamma)
    target = values[stage.leg.target]
    cells, width = target.coefficients.shape[:2]
    maps, errors = (
        part.reshape(cells, width, -1).transpose(1, 2).cpu().numpy() for part in (target.coefficients, target.errors)
    )
    live = {position: values[position] for position in stage.keeps}
    return maps, errors, {**live, stage.position: target}


def close_affinely(stage: Stage, values: AffineValues, pieces: np.ndarray, gamma: float) -> AffineValues:
    """Apply a pointwise gate whose units use the given pieces (c, u)."""
    gate, value = stage.gate, values[stage.position]
    assert isinstance(gate, Pointwise)
    chosen = torch.from_numpy(pieces.astype(np.int64)).to(value.coefficients.device)
    slope, intercept = gate.slope(chosen), gate.intercept(chosen)
    cells, width = value.coefficients.shape[:2]
    shape = (cells, width, *gate.shape)
    coefficients = value.coefficients.reshape(cells, width, -1) * slope[:, None]
    errors = value.errors.reshape(cells, width, -1) * slope[:, None].abs()
    errors = errors + gamma * coefficients.abs() * ((slope != 0) & (slope != 1))[:, None]
    coefficients[:, -1] += intercept
    errors[:, -1] += gamma * intercept.abs()
    return {**values, stage.position: AffineValue(coefficients.reshape(shape), errors.reshape(shape))}


def _through(node: Affine, inputs: list[AffineValue], gamma: float) -> AffineValue:
    cells, width = inputs[0].coefficients.shape[:2]
    flat = [value.coefficients.reshape(cells * width, *value.coefficients.shape[2:]) for value in inputs]
    doubt = [value.errors.reshape(part.shape) + gamma * part.abs() for value, part in zip(inputs, flat, strict=True)]
    coefficients = node.linear(*flat).reshape(cells, width, *node.shape)
    errors = node.absolute().linear(*doubt).reshape(cells, width, *node.shape)
    if node.constant is not None:
        coefficients, errors = coefficients.clone(), errors.clone()
        coefficients[:, -1] += node.constant
        errors[:, -1] += gamma * node.constant.abs()
    return AffineValue(coefficients, errors)
