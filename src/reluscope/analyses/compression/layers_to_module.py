"""Layers as a PyTorch module of Linear, Conv2d, gates and pooling, in float64."""

from math import prod

import torch
from torch import Tensor, nn

from reluscope.analyses.compression.layer_chain import ChannelGate, Layer
from reluscope.errors import UnsupportedOperatorError
from reluscope.networks.graph.left_off import LeftOff


def to_sequential(layers: list[Layer], input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> nn.Sequential:
    """Return layers as a module that takes batches ``(s, *input_shape)`` to ``(s, *output_shape)``.

    It consists of Linear, Conv2d, gates, MaxPool2d and Flatten.
    """
    modules: list[nn.Module] = []
    is_flat = len(input_shape) == 1
    for layer in layers:
        if layer.is_dense and not is_flat:
            modules.append(nn.Flatten())
            is_flat = True
        modules.append(_affine(layer))
        gate = None if layer.gate is None else _gate(layer.gate)
        modules += [part for part in (layer.pool_before, gate, layer.pool_after) if part is not None]
    last = layers[-1]
    if tuple(last.shape) != output_shape:
        modules.append(_last_shape(output_shape))
    return nn.Sequential(*modules)


def _last_shape(shape: tuple[int, ...]) -> nn.Module:
    if not shape:
        return nn.Flatten(0)
    return nn.Flatten() if len(shape) == 1 else nn.Sequential(nn.Flatten(), nn.Unflatten(1, shape))


def _affine(layer: Layer) -> nn.Module:
    outputs, inputs, places = layer.weight.shape
    if layer.kernel is None:
        module: nn.Module = nn.Linear(inputs * places, outputs, dtype=torch.float64)
        weight = layer.weight.reshape(outputs, -1)
    else:
        module = nn.Conv2d(
            inputs,
            outputs,
            layer.kernel.size,  # pyright: ignore[reportArgumentType]
            layer.kernel.stride,  # pyright: ignore[reportArgumentType]
            layer.kernel.padding,  # pyright: ignore[reportArgumentType]
            layer.kernel.dilation,  # pyright: ignore[reportArgumentType]
            dtype=torch.float64,
        )
        assert places == prod(layer.kernel.size)
        weight = layer.weight.reshape(outputs, inputs, *layer.kernel.size)
    with torch.no_grad():
        _parameter(module, "weight").copy_(torch.as_tensor(weight))
        _parameter(module, "bias").copy_(torch.as_tensor(layer.bias))
    return module


def _parameter(module: nn.Module, name: str) -> Tensor:
    found = getattr(module, name)
    assert isinstance(found, Tensor)
    return found


def _gate(gate: ChannelGate) -> nn.Module:
    if gate.kind == "relu":
        return nn.ReLU()
    if gate.kind == "leaky_relu":
        return nn.LeakyReLU(float(gate.slopes[0, 0]))
    if gate.kind == "prelu":
        module = nn.PReLU(gate.slopes.shape[1], dtype=torch.float64)
        with torch.no_grad():
            module.weight.copy_(torch.as_tensor(gate.slopes[0]))
        return module
    if gate.kind == "relu6":
        return nn.ReLU6()
    low, high = (float(level) for level in gate.breakpoints[:, 0])
    return nn.Hardtanh(low, high)


def last_module(left_off: LeftOff) -> nn.Module:
    """Return the module for what a model ends with behind its network.

    UnsupportedOperatorError if PyTorch has no module for it.
    """
    match left_off.name:
        case "sigmoid":
            return nn.Sigmoid()
        case "tanh":
            return nn.Tanh()
        case "log_sigmoid":
            return nn.LogSigmoid()
        case "softplus":
            return nn.Softplus(left_off.beta)
    if left_off.of_two or len(left_off.axes) != 1:
        raise UnsupportedOperatorError(
            f"expected a {left_off.name} of the network's outputs along one axis, which a module of PyTorch is, got "
            "another: give network.logits"
        )
    kind = nn.Softmax if left_off.name == "softmax" else nn.LogSoftmax
    return kind(left_off.axes[0] + 1)
