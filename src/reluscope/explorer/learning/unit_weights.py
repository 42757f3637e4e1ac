"""The weights of one unit of a gate: found in the model's layers, read, and moved by hand."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from reluscope.errors import InputError, PositionError
from reluscope.networks.network import Network

# Relative to the size of the values: outputs of a float32 layer that are the pre-activations of a gate in float64.
SAME = 1e-3


@dataclass(frozen=True)
class FeedingLayer:
    """Names of the parameters whose rows are the units of a gate."""

    weight: str
    bias: str | None  # of the layer, or of the batch normalization behind it


@dataclass(frozen=True, eq=False)
class UnitWeights:
    """Incoming weights and bias of one unit; `scale` is the norm of the weights."""

    weights: Float[np.ndarray, " k"]
    scale: float
    bias: float | None


@dataclass(frozen=True)
class Move:
    """Another bias, another norm of the weights, or another value of the weight at a position."""

    bias: float | None = None
    scale: float | None = None
    weight: tuple[int, float] | None = None


@torch.no_grad()
def feeding_layers(model: nn.Module, network: Network, points: Tensor) -> list[FeedingLayer | None]:
    """Return for each gate the linear layer, perhaps batch-normalized, whose outputs it cuts; None without one.

    Layers are recognized by their outputs at points, for any forward pass.
    """
    made: list[tuple[FeedingLayer, Tensor]] = []

    def note(name: str, module: nn.Module, given: Tensor, output: Any) -> None:
        if isinstance(module, nn.Linear):
            made.append((FeedingLayer(f"{name}.weight", None if module.bias is None else f"{name}.bias"), output))
        elif isinstance(module, nn.BatchNorm1d) and module.affine:
            before = next((layer for layer, values in reversed(made) if values is given), None)
            if before is not None:
                made.append((FeedingLayer(before.weight, f"{name}.bias"), output))

    def listening(name: str, module: nn.Module) -> torch.utils.hooks.RemovableHandle:
        return module.register_forward_hook(lambda one, given, output: note(name, one, given[0], output))

    hooks = [
        listening(name, module)
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear | nn.BatchNorm1d)
    ]
    try:
        model(points)
    finally:
        for hook in hooks:
            hook.remove()
    return [
        # A batch normalization that has learnt nothing gives what it is given: the last one counts.
        next((layer for layer, values in reversed(made) if _are_same(values, preactivations)), None)
        for preactivations in network.preactivations(points.double())
    ]


def read_unit(state: Mapping[str, np.ndarray], layer: FeedingLayer, unit: int) -> UnitWeights:
    """Return the weights of a unit."""
    weights = state[layer.weight][unit].astype(np.float64)
    bias = None if layer.bias is None else float(state[layer.bias][unit])
    return UnitWeights(weights, float(np.linalg.norm(weights)), bias)


def move_unit(state: Mapping[str, np.ndarray], layer: FeedingLayer, unit: int, move: Move) -> dict[str, np.ndarray]:
    """Return the state with other weights of one unit; everything else is shared.

    InputError for a bias that the unit does not have, or a norm of weights that are all zero.
    """
    found = dict(state)
    weights = found[layer.weight] = state[layer.weight].copy()
    if move.weight is not None:
        place, value = move.weight
        if not 0 <= place < weights.shape[1]:
            raise PositionError(f"weight must be one of 0 to {weights.shape[1] - 1}, got {place}")
        weights[unit, place] = value
    if move.scale is not None:
        norm = float(np.linalg.norm(weights[unit].astype(np.float64)))
        if norm == 0:
            raise InputError("the weights of this unit are all zero, and have no direction to scale: move one first")
        weights[unit] *= move.scale / norm
    if move.bias is not None:
        if layer.bias is None:
            raise InputError("this unit has no bias: move a weight")
        biases = found[layer.bias] = state[layer.bias].copy()
        biases[unit] = move.bias
    return found


def _are_same(values: Tensor, preactivations: Tensor) -> bool:
    if values.shape != preactivations.shape:
        return False
    scale = float(preactivations.abs().max())
    return float((values.double() - preactivations).abs().max()) <= SAME * scale
