"""Operators that become gates."""

from math import prod

import numpy as np
import torch
from torch import Tensor

from reluscope.errors import NotPiecewiseLinearError
from reluscope.networks.building.builder import Value
from reluscope.networks.models.onnx.onnx_layers import channels, padding_of
from reluscope.networks.models.onnx.onnx_operands import broadcast
from reluscope.networks.models.onnx.onnx_site import Activation, NodeSite, lowers

# No float32 lies beyond: exporters write these where they mean that there is no bound.
_FARTHEST = float(np.finfo(np.float32).max)


@lowers("PRelu")
def prelu(site: NodeSite) -> Activation:
    """``x`` or ``slope x`` with constant slopes, broadcast."""
    x, slope = site.activation(), site.operand(1)
    if isinstance(slope, Activation):
        raise NotPiecewiseLinearError(f"expected constant slopes, but those of PRelu at {site.place} are computed")
    table = site.weight(1)
    assert table is not None
    if site.opset < 7 and table.ndim == 1 and table.numel() > 1:
        table = table.reshape(-1, *(1,) * (len(x.shape) - 2))
    if table.ndim == len(x.shape) > len(x.value.shape):
        table = table[0]
    return Activation(site.builder.prelu(x.value, table, name=site.name), x.shape)


@lowers("Clip")
def clip(site: NodeSite) -> Activation:
    """``min(max(x, low), high)``."""
    x = site.activation()
    low, high = _bound(site, 1, "min"), _bound(site, 2, "max")
    kind = "relu6" if (low, high) == (0.0, 6.0) else "clamp"
    return Activation(site.builder.clamp(x.value, low, high, kind=kind, name=site.name), x.shape)


@lowers("Max", "Min")
def extreme(site: NodeSite) -> Activation:
    """Take the largest or the smallest of any number of tensors, broadcast: one gate for values, one for constants."""
    sides, shape = broadcast(site, site.operands)
    values = [side for side in sides if isinstance(side, Value)]
    bounds = [side for side in sides if isinstance(side, Tensor)]
    builder, largest = site.builder, site.operator == "Max"
    if len(values) == 1:
        result = values[0]
    elif len(values) == 2:
        result = (builder.maximum if largest else builder.minimum)(*values, name=site.name)
    else:
        result = _extreme_of_many(site, values, largest)
    if bounds:
        bound = bounds[0]
        for other in bounds[1:]:
            bound = torch.maximum(bound, other) if largest else torch.minimum(bound, other)
        result = (builder.maximum if largest else builder.minimum)(result, bound, name=site.name)
    return site.close(result, shape)


@lowers("MaxPool")
def max_pool(site: NodeSite) -> Activation | list[Activation | None]:
    """Largest entries of windows; where they were is not continuous."""
    x = site.activation()
    value = channels(site, x)
    kernel = site.setting("kernel_shape")
    stride, dilation = site.setting("strides", [1] * len(kernel)), site.setting("dilations", [1] * len(kernel))
    pooled = site.builder.max_pool(
        value,
        kernel,
        stride,
        padding_of(site, value.shape[1:], kernel, stride, dilation),
        dilation=dilation,
        ceil_mode=bool(site.setting("ceil_mode", 0)),
        name=site.name,
    )
    return [site.close(pooled, (*x.shape[:2], *pooled.shape[1:])), *[None] * (len(site.node.output) - 1)]


@lowers("GlobalMaxPool")
def global_max_pool(site: NodeSite) -> Activation:
    """Largest entry of each channel."""
    x = site.activation()
    value = channels(site, x)
    pooled = site.builder.amax(value, range(1, len(value.shape)), keepdims=True, name=site.name)
    return site.close(pooled, (*x.shape[:2], *pooled.shape[1:]))


def _extreme_of_many(site: NodeSite, values: list[Value], largest: bool) -> Value:
    shape = np.broadcast_shapes(*(value.shape for value in values))
    if not largest:
        values = [site.builder.negate(value, name=site.name) for value in values]
    flat = [site.builder.reshape(value, (prod(value.shape),), name=site.name) for value in values]
    joined = site.builder.concatenate(flat, 0, name=site.name)
    starts = np.cumsum([0, *(prod(value.shape) for value in values)])
    columns = [
        np.broadcast_to(start + np.arange(prod(value.shape)).reshape(value.shape), shape).reshape(-1)
        for start, value in zip(starts, values, strict=False)
    ]
    kind = "maximum" if largest else "minimum"
    result = site.builder.max_of(joined, np.stack(columns, axis=1), shape, kind=kind, name=site.name)
    return result if largest else site.builder.negate(result, name=site.name)


def _bound(site: NodeSite, position: int, name: str) -> float | None:
    found = site.given(position, name)
    if found is None:
        return None
    bound = float(np.asarray(found).item())
    return None if abs(bound) >= _FARTHEST and (bound < 0) == (name == "min") else bound
