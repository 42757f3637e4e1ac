"""A network from a list of weights and biases: ReLU between layers, the last layer affine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from reluscope.errors import InputError, ShapeError
from reluscope.networks.building.builder import GraphBuilder
from reluscope.networks.building.parameters import as_constant, replace_parameters
from reluscope.networks.network import Network


@dataclass(frozen=True, eq=False)
class ArrayTrace:
    """Layers of a fully connected network by the names ``0.weight``, ``0.bias``, ``1.weight``, ..."""

    parameters: Mapping[str, Tensor]

    def lower(self, state: Mapping[str, Any] | None = None) -> Network:
        """Return the network of these layers, with those in ``state`` in place of its own."""
        parameters = replace_parameters(self.parameters, state or {})
        depth = len(parameters) // 2
        builder = GraphBuilder()
        value = builder.input((parameters["0.weight"].shape[1],))
        for layer in range(depth):
            weight, bias = parameters[f"{layer}.weight"], parameters[f"{layer}.bias"]
            value = builder.named(f"layer {layer}").linear(value, weight, bias)
            if layer + 1 < depth:
                value = builder.named(f"relu {layer}").relu(value)
        return replace(builder.build(value), trace=replace(self, parameters=parameters))


def from_arrays(layers: Sequence[Any]) -> Network:
    """Build a fully connected ReLU network from its layers ``(W, b)``, with W ``(out, in)``.

    ReLU follows every layer but the last; gates are ``"relu 0"``, ``"relu 1"``, ... Raises InputError for no layers or
    entries that are not finite, ShapeError for weights that do not fit.
    """
    if not len(layers):
        raise InputError("expected at least one layer (W, b), got an empty list")
    parameters: dict[str, Tensor] = {}
    width: int | None = None
    for position, layer in enumerate(layers):
        weight, bias = _pair(layer, position)
        if weight.ndim != 2:
            raise ShapeError(f"expected the weight of layer {position} to be a matrix (out, in), got {_shape(weight)}")
        if width is not None and weight.shape[1] != width:
            transposed = ": it may be transposed" if weight.shape[0] == width else ""
            raise ShapeError(
                f"expected the weight of layer {position} to be (out, {width}) after {width} units, "
                f"got {_shape(weight)}{transposed}"
            )
        if bias is None:
            bias = torch.zeros(len(weight), dtype=torch.float64)
        if bias.shape != weight.shape[:1]:
            raise ShapeError(f"expected the bias of layer {position} to be ({len(weight)},), got {_shape(bias)}")
        width = len(weight)
        parameters |= {f"{position}.weight": weight, f"{position}.bias": bias}
    return ArrayTrace(parameters).lower()


def _pair(layer: Any, position: int) -> tuple[Tensor, Tensor | None]:
    if isinstance(layer, np.ndarray | Tensor) or not hasattr(layer, "__len__") or len(layer) != 2:
        raise InputError(f"expected layer {position} to be a pair (W, b), got {type(layer).__name__}")
    weight, bias = layer
    return (
        as_constant(weight, f"weight of layer {position}"),
        None if bias is None else as_constant(bias, f"bias of layer {position}"),
    )


def _shape(tensor: Tensor) -> tuple[int, ...]:
    return tuple(tensor.shape)
