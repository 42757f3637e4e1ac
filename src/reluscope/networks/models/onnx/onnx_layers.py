"""Products with matrices, convolutions, normalisation by constants, and average pooling."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import torch
from torch import Tensor

from reluscope.networks.building.builder import Value
from reluscope.networks.models.onnx.onnx_evaluation import evaluate
from reluscope.networks.models.onnx.onnx_site import Activation, NodeSite, Result, Shape, lowers
from reluscope.networks.models.operators import sums_and_products

_MAX_ENTRIES = 2**24


@lowers("Gemm")
def gemm(site: NodeSite) -> Activation:
    """``alpha A B + beta C`` with A or B transposed on demand, one of them constant."""
    first, second = site.operands[:2]
    if isinstance(first, Activation) and isinstance(second, Activation):
        raise site.product()
    alpha, beta = site.setting("alpha", 1.0), site.setting("beta", 1.0)
    if isinstance(first, Activation):
        weight = site.weight(1)
        assert weight is not None
        weight = alpha * (weight if site.setting("transB", 0) else weight.T)
        x = _transposed(site, first) if site.setting("transA", 0) else first
        shape = (x.shape[0], len(weight))
        bias = _as_bias(site, beta, shape)
        product = site.builder.linear(x.value, weight, bias)
        return site.close(product, shape) if bias is not None else _plus(site, product, shape, beta)
    if not isinstance(second, Activation):
        raise site.unsupported("with constant factors and a summand that depends on the input")
    weight = site.weight(0)
    assert weight is not None
    weight = alpha * (weight.T if site.setting("transA", 0) else weight)
    x = _transposed(site, second) if site.setting("transB", 0) else second
    product = site.builder.left_matmul(weight, site.whole(x))
    return _plus(site, product, (len(weight), x.shape[1]), beta)


@lowers("MatMul")
def matmul(site: NodeSite) -> Activation:
    """Lower ``A B`` over the last two axes, one of them constant."""
    first, second = site.operands[:2]
    if isinstance(first, Activation) and isinstance(second, Activation):
        raise site.product()
    on_left = isinstance(second, Activation)
    x, weight = (second, site.weight(0)) if on_left else (first, site.weight(1))
    assert isinstance(x, Activation)
    assert weight is not None

    def product(value: Value, factor: Tensor) -> Value:
        if on_left:
            return site.builder.left_matmul(factor, value)
        return site.builder.matmul(value, factor)

    if weight.ndim == 2 and len(x.shape) > 1 + on_left:
        # The leading axes pass through, the batch axis among them.
        rest = (len(weight), x.shape[-1]) if on_left else (x.shape[-2], weight.shape[1])
        return site.close(product(x.value, weight), (*x.shape[:-2], *rest))
    if len(x.shape) > 1:
        value = product(site.whole(x), weight)
        return site.close(value, value.shape)
    # A vector is one column on the right and one row on the left, and the product loses that axis again.
    matrix = site.builder.reshape(x.value, (-1, 1) if on_left else (1, -1))
    if weight.ndim == 1:
        return site.close(product(matrix, weight[None] if on_left else weight[:, None]), ())
    value = product(matrix, weight)
    return site.close(value, (*value.shape[:-2], value.shape[-2 if on_left else -1]))


def row_by_row(handler: Callable[[NodeSite], Result]) -> Callable[[NodeSite], Result]:
    """Return a handler of one image as one of several along the first axis, which is no batch."""

    def run(site: NodeSite) -> Result:
        x = site.activation()
        if len(x.shape) < 2 or x.shape[0] == 1:
            return handler(site)
        whole, rows = site.whole(x), []
        for row in range(x.shape[0]):
            one = site.close(site.builder.take(whole, 0, row), (1, *x.shape[1:]))
            found = handler(replace(site, operands=[one, *site.operands[1:]]))
            (found,) = found[:1] if isinstance(found, list) else [found]
            assert isinstance(found, Activation)
            rows.append(found)
        parts = [site.whole(row) for row in rows]
        joined = site.close(site.builder.concatenate(parts, 0), (len(parts), *rows[0].shape[1:]))
        return [joined, *[None] * (len(site.node.output) - 1)]

    return run


@lowers("Conv")
@row_by_row
def convolution(site: NodeSite) -> Activation:
    """Convolution over one, two or three spatial axes with a constant kernel."""
    x, weight, bias = _image(site), site.weight(1), site.weight(2)
    assert weight is not None
    settings = _windows(site, x.shape[1:], weight.shape[2:])
    return site.point(site.builder.convolution(x, weight, bias, groups=site.setting("group", 1), **settings))


@lowers("ConvTranspose")
@row_by_row
def transposed_convolution(site: NodeSite) -> Activation:
    """Transposed convolution with a constant kernel; its output may be cut or extended to a wanted shape."""
    x, weight, bias = _image(site), site.weight(1), site.weight(2)
    assert weight is not None
    spatial = weight.ndim - 2
    stride, dilation = site.setting("strides", [1] * spatial), site.setting("dilations", [1] * spatial)
    extra = site.setting("output_padding", [0] * spatial)
    automatic = site.setting("auto_pad", "NOTSET")
    wanted = site.setting("output_shape")
    if wanted is None and automatic in {"SAME_UPPER", "SAME_LOWER"}:
        wanted = [length * step for length, step in zip(x.shape[1:], stride, strict=True)]
    if wanted is not None:
        padding = []
        for axis, length in enumerate(wanted[-spatial:]):
            reach = dilation[axis] * (weight.shape[2 + axis] - 1) + 1
            total = stride[axis] * (x.shape[1 + axis] - 1) + extra[axis] + reach - length
            small = total // 2
            padding.append((total - small, small) if automatic != "SAME_UPPER" else (small, total - small))
    else:
        padding = [(0, 0)] * spatial if automatic == "VALID" else _given_padding(site, spatial)
    settings = {"stride": stride, "dilation": dilation, "groups": site.setting("group", 1)}
    beyond = [more for more, step, gap in zip(extra, stride, dilation, strict=True) if more >= max(step, gap)]
    if beyond or any(min(pair) < 0 for pair in padding):
        # PyTorch has no such form: the rows beyond the last input see the bias alone.
        cut = [(-before, more - after) for (before, after), more in zip(padding, extra, strict=True)]
        value = site.builder.pad(site.builder.transposed_convolution(x, weight, **settings), [(0, 0), *cut])
        return site.point(value if bias is None else site.builder.add(value, bias.reshape(-1, *(1,) * spatial)))
    settings |= {"padding": padding, "output_padding": extra}
    return site.point(site.builder.transposed_convolution(x, weight, bias, **settings))


@lowers("BatchNormalization")
@row_by_row
def batch_norm(site: NodeSite) -> Activation | list[Activation | None]:
    """Normalisation by stored statistics; by those of the batch it is not piecewise linear."""
    x = site.activation()
    if site.setting("training_mode", 0) or (site.opset < 14 and len([name for name in site.node.output if name]) > 1):
        raise site.own_statistics("export the model in evaluation mode")
    if len(x.shape) < 2:
        raise site.unsupported(f"on a tensor of shape {x.shape}, which has no batch axis in front")
    scale, bias, mean, variance = (site.weight(position) for position in (1, 2, 3, 4))
    assert scale is not None
    assert mean is not None
    assert variance is not None
    epsilon = site.setting("epsilon", 1e-5)
    if not site.setting("spatial", 1):
        # Opsets 6 to 8 could keep statistics for every entry.
        factor = scale.reshape(x.value.shape) / torch.sqrt(variance.reshape(x.value.shape) + epsilon)
        shift = -mean.reshape(x.value.shape) * factor + (0.0 if bias is None else bias.reshape(x.value.shape))
        return Activation(site.builder.scale_shift(x.value, factor, shift), x.shape)
    value = site.builder.batch_norm(x.value, mean, variance, scale, bias, epsilon)
    return [Activation(value, x.shape), *[None] * (len(site.node.output) - 1)]


@lowers("Einsum", "Col2Im", "AffineGrid", "CenterCropPad", "MaxUnpool", "RotaryEmbedding", "TensorScatter")
def probed(site: NodeSite) -> list[Activation]:
    """Operators that are affine in their one activation, turned into matrices by evaluating them on unit tensors."""
    places = [place for place, operand in enumerate(site.operands) if isinstance(operand, Activation)]
    if len(places) != 1:
        raise site.product()
    x = site.operands[places[0]]
    assert isinstance(x, Activation)

    def images(unit: Tensor) -> list[Tensor]:
        operands = [unit.numpy() if operand is x else operand for operand in site.operands]
        found = evaluate(site.node, operands, site.opset)  # pyright: ignore[reportArgumentType]
        return [torch.from_numpy(np.array(one, dtype=np.float64)) for one in found if one is not None]

    offsets, flat = images(torch.zeros(x.shape, dtype=torch.float64)), site.builder.reshape(x.value, (-1,))
    made = []
    for place, offset in enumerate(offsets):
        matrix, shape = sums_and_products.images_of_units(
            site, x.shape, lambda unit, at=place: images(unit)[at] - offsets[at], most=_MAX_ENTRIES
        )
        made.append(site.close(site.builder.linear(flat, matrix, offset.reshape(-1)), shape))
    return made


@lowers("AveragePool", "MaxPool")
def pool(site: NodeSite) -> list[Activation | None]:
    """Means or largest entries of windows; where the largest were is not continuous."""
    kernel, settings = site.setting("kernel_shape"), {"ceil_mode": bool(site.setting("ceil_mode", 0))}
    pool = site.builder.max_pool
    if site.operator == "AveragePool":
        pool, settings["count_include_pad"] = site.builder.average_pool, bool(site.setting("count_include_pad", 0))
    found = _of_channels(site, lambda x: pool(x, kernel, **_windows(site, x.shape[1:], kernel), **settings))
    return [found, *[None] * (len(site.node.output) - 1)]


@lowers("GlobalAveragePool", "GlobalMaxPool")
def global_pool(site: NodeSite) -> Activation:
    """Mean or largest entry over all spatial axes."""
    pool = site.builder.amax if site.operator == "GlobalMaxPool" else site.builder.mean
    return _of_channels(site, lambda x: pool(x, range(1, len(x.shape)), keepdims=True))


def _windows(site: NodeSite, lengths: Shape, kernel: Sequence[int]) -> dict[str, Any]:
    """Return stride, dilation, and the padding before and after each spatial axis, given or automatic."""
    spatial = len(lengths)
    stride, dilation = site.setting("strides", [1] * spatial), site.setting("dilations", [1] * spatial)
    automatic, padding = site.setting("auto_pad", "NOTSET"), [(0, 0)] * spatial
    if automatic == "NOTSET":
        padding = _given_padding(site, spatial)
    elif automatic != "VALID":
        padding = []
        for length, size, step, spacing in zip(lengths, kernel, stride, dilation, strict=True):
            total = max(0, (-(-length // step) - 1) * step + spacing * (size - 1) + 1 - length)
            small, large = total // 2, total - total // 2
            padding.append((small, large) if automatic == "SAME_UPPER" else (large, small))
    return {"stride": stride, "dilation": dilation, "padding": padding}


def _given_padding(site: NodeSite, spatial: int) -> list[tuple[int, int]]:
    pads = site.setting("pads", [0] * (2 * spatial))
    return [(pads[axis], pads[spatial + axis]) for axis in range(spatial)]


def _of_channels(site: NodeSite, pool: Callable[[Value], Value]) -> Activation:
    """Return windows of a value ``(channels, *spatial)``; they do not mix channels, so a leading axis may join them."""
    x = site.activation()
    if len(x.shape) < 3:
        raise site.unsupported(f"on a tensor of shape {x.shape}: it needs a batch axis, channels and spatial axes")
    pooled = pool(site.builder.reshape(x.value, (prod(x.shape[:2]), *x.shape[2:])))
    return site.close(pooled, (*x.shape[:2], *pooled.shape[1:]))


def _image(site: NodeSite) -> Value:
    x = site.activation()
    if len(x.shape) < 3:
        raise site.unsupported(f"on a tensor of shape {x.shape}: it needs a batch axis, channels and spatial axes")
    return x.value


def _transposed(site: NodeSite, x: Activation) -> Activation:
    return site.close(site.builder.permute(site.whole(x), (1, 0)), x.shape[::-1])


def _as_bias(site: NodeSite, beta: float, shape: Shape) -> Tensor | None:
    """Return the summand C as a bias per column, None where it is more than that."""
    summand = site.operand(2)
    if not isinstance(summand, np.ndarray) or np.broadcast_shapes(summand.shape, (1, shape[1])) != (1, shape[1]):
        return None
    bias = site.weight(2)
    assert bias is not None
    return beta * bias.reshape(-1).expand(shape[1])


def _plus(site: NodeSite, product: Value, shape: Shape, beta: float) -> Activation:
    """Return ``product + beta C`` for any C."""
    summand = site.operand(2)
    if summand is None:
        return site.close(product, shape)
    whole = site.builder.reshape(product, shape)
    if isinstance(summand, Activation):
        other: Value | Tensor = site.builder.multiply(site.whole(summand), beta)
    else:
        weight = site.weight(2)
        assert weight is not None
        other = beta * weight
    return site.close(site.builder.add(whole, other), shape)
