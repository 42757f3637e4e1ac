"""Products with matrices, convolutions, normalisation by constants, and average pooling."""

from math import prod

import numpy as np
import torch
from torch import Tensor

from reluscope.networks.building.builder import Value
from reluscope.networks.models.onnx.onnx_evaluation import evaluate
from reluscope.networks.models.onnx.onnx_site import Activation, NodeSite, Shape, lowers
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
        product = site.builder.linear(x.value, weight, bias, name=site.name)
        return site.close(product, shape) if bias is not None else _plus(site, product, shape, beta)
    if not isinstance(second, Activation):
        raise site.unsupported("with constant factors and a summand that depends on the input")
    weight = site.weight(0)
    assert weight is not None
    weight = alpha * (weight.T if site.setting("transA", 0) else weight)
    x = _transposed(site, second) if site.setting("transB", 0) else second
    product = site.builder.left_matmul(weight, site.whole(x), name=site.name)
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
            return site.builder.left_matmul(factor, value, name=site.name)
        return site.builder.matmul(value, factor, name=site.name)

    if weight.ndim == 2 and len(x.shape) > 1 + on_left:
        # The leading axes pass through, the batch axis among them.
        rest = (len(weight), x.shape[-1]) if on_left else (x.shape[-2], weight.shape[1])
        return site.close(product(x.value, weight), (*x.shape[:-2], *rest))
    if len(x.shape) > 1:
        value = product(site.whole(x), weight)
        return site.close(value, value.shape)
    # A vector is one column on the right and one row on the left, and the product loses that axis again.
    matrix = site.builder.reshape(x.value, (-1, 1) if on_left else (1, -1), name=site.name)
    if weight.ndim == 1:
        return site.close(product(matrix, weight[None] if on_left else weight[:, None]), ())
    value = product(matrix, weight)
    return site.close(value, (*value.shape[:-2], value.shape[-2 if on_left else -1]))


@lowers("Conv")
def convolution(site: NodeSite) -> Activation:
    """Convolution over one, two or three spatial axes with a constant kernel."""
    x, weight, bias = _image(site), site.weight(1), site.weight(2)
    assert weight is not None
    spatial = weight.ndim - 2
    stride, dilation = site.setting("strides", [1] * spatial), site.setting("dilations", [1] * spatial)
    value = site.builder.convolution(
        x,
        weight,
        bias,
        stride=stride,
        padding=padding_of(site, x.shape[1:], weight.shape[2:], stride, dilation),
        dilation=dilation,
        groups=site.setting("group", 1),
        name=site.name,
    )
    return site.point(value)


@lowers("ConvTranspose")
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
    pads = site.setting("pads", [0] * (2 * spatial))
    padding = [(pads[axis], pads[spatial + axis]) for axis in range(spatial)]
    if wanted is not None:
        padding = []
        for axis, length in enumerate(wanted[-spatial:]):
            reach = dilation[axis] * (weight.shape[2 + axis] - 1) + 1
            total = stride[axis] * (x.shape[1 + axis] - 1) + extra[axis] + reach - length
            small = total // 2
            padding.append((total - small, small) if automatic != "SAME_UPPER" else (small, total - small))
    elif automatic == "VALID":
        padding = [(0, 0)] * spatial
    beyond = [more for more, step, gap in zip(extra, stride, dilation, strict=True) if more >= max(step, gap)]
    if beyond or any(min(pair) < 0 for pair in padding):
        # PyTorch has no such form: the rows beyond the last input see the bias alone.
        padding = [(before, after - more) for (before, after), more in zip(padding, extra, strict=True)]
        extra = [0] * spatial
        plain = site.builder.transposed_convolution(
            x, weight, None, stride=stride, dilation=dilation, groups=site.setting("group", 1), name=site.name
        )
        value = site.builder.pad(plain, [(0, 0), *((-before, -after) for before, after in padding)], name=site.name)
        if bias is not None:
            value = site.builder.add(value, bias.reshape(-1, *(1,) * spatial), name=site.name)
        return site.point(value)
    value = site.builder.transposed_convolution(
        x,
        weight,
        bias,
        stride=stride,
        padding=padding,
        output_padding=extra,
        dilation=dilation,
        groups=site.setting("group", 1),
        name=site.name,
    )
    return site.point(value)


@lowers("BatchNormalization")
def batch_norm(site: NodeSite) -> Activation | list[Activation | None]:
    """Normalisation by stored statistics; by those of the batch it is not piecewise linear."""
    x = site.activation()
    if site.setting("training_mode", 0) or (site.opset < 14 and len([name for name in site.node.output if name]) > 1):
        raise site.own_statistics("export the model in evaluation mode")
    if len(x.shape) < 2 or (x.shape[0] != 1):
        raise site.unsupported(f"on a tensor of shape {x.shape}, which has no batch axis of one point in front")
    scale, bias, mean, variance = (site.weight(position) for position in (1, 2, 3, 4))
    assert scale is not None
    assert mean is not None
    assert variance is not None
    epsilon = site.setting("epsilon", 1e-5)
    if not site.setting("spatial", 1):
        # Opsets 6 to 8 could keep statistics for every entry.
        factor = scale.reshape(x.value.shape) / torch.sqrt(variance.reshape(x.value.shape) + epsilon)
        shift = -mean.reshape(x.value.shape) * factor + (0.0 if bias is None else bias.reshape(x.value.shape))
        return Activation(site.builder.scale_shift(x.value, factor, shift, name=site.name), x.shape)
    value = site.builder.batch_norm(x.value, mean, variance, scale, bias, epsilon, name=site.name)
    return [Activation(value, x.shape), *[None] * (len(site.node.output) - 1)]


@lowers("Einsum", "Col2Im")
def probed(site: NodeSite) -> Activation:
    """Operators that are linear in their one activation, turned into a matrix by evaluating them on unit tensors."""
    places = [place for place, operand in enumerate(site.operands) if isinstance(operand, Activation)]
    if len(places) != 1:
        raise site.product()
    x = site.operands[places[0]]
    assert isinstance(x, Activation)

    def image(unit: Tensor) -> Tensor:
        operands = [unit.numpy() if operand is x else operand for operand in site.operands]
        return torch.from_numpy(evaluate(site.node, operands, site.opset)[0].copy())  # pyright: ignore[reportArgumentType]

    matrix, shape = sums_and_products.images_of_units(site, x.shape, image, most=_MAX_ENTRIES)
    flat = site.builder.reshape(x.value, (-1,), name=site.name)
    return site.close(site.builder.linear(flat, matrix, name=site.name), shape)


@lowers("AveragePool")
def average_pool(site: NodeSite) -> Activation:
    """Means over windows."""
    x = site.activation()
    value = channels(site, x)
    kernel = site.setting("kernel_shape")
    stride, dilation = site.setting("strides", [1] * len(kernel)), site.setting("dilations", [1] * len(kernel))
    means = site.builder.average_pool(
        value,
        kernel,
        stride,
        padding_of(site, value.shape[1:], kernel, stride, dilation),
        dilation=dilation,
        ceil_mode=bool(site.setting("ceil_mode", 0)),
        count_include_pad=bool(site.setting("count_include_pad", 0)),
        name=site.name,
    )
    return site.close(means, (*x.shape[:2], *means.shape[1:]))


@lowers("GlobalAveragePool")
def global_average_pool(site: NodeSite) -> Activation:
    """Mean over all spatial axes."""
    x = site.activation()
    value = site.builder.global_average_pool(channels(site, x), name=site.name)
    return site.close(value, (*x.shape[:2], *value.shape[1:]))


def padding_of(
    site: NodeSite, lengths: Shape, kernel: list[int] | Shape, stride: list[int], dilation: list[int]
) -> list[tuple[int, int]]:
    """Return the padding before and after each spatial axis, given or automatic."""
    spatial = len(lengths)
    automatic = site.setting("auto_pad", "NOTSET")
    if automatic == "NOTSET":
        pads = site.setting("pads", [0] * (2 * spatial))
        return [(pads[axis], pads[spatial + axis]) for axis in range(spatial)]
    if automatic == "VALID":
        return [(0, 0)] * spatial
    result = []
    for length, size, step, spacing in zip(lengths, kernel, stride, dilation, strict=True):
        total = max(0, (-(-length // step) - 1) * step + spacing * (size - 1) + 1 - length)
        small, large = total // 2, total - total // 2
        result.append((small, large) if automatic == "SAME_UPPER" else (large, small))
    return result


def channels(site: NodeSite, x: Activation) -> Value:
    """Return a value ``(channels, *spatial)``; windows do not mix channels, so a leading axis may join them."""
    if len(x.shape) < 3:
        raise site.unsupported(f"on a tensor of shape {x.shape}: it needs a batch axis, channels and spatial axes")
    return site.builder.reshape(x.value, (prod(x.shape[:2]), *x.shape[2:]), name=site.name)


def _image(site: NodeSite) -> Value:
    x = site.activation()
    if len(x.shape) < 3 or x.shape[0] != 1:
        raise site.unsupported(f"on a tensor of shape {x.shape}: it needs a batch axis of one point in front")
    return x.value


def _transposed(site: NodeSite, x: Activation) -> Activation:
    return site.close(site.builder.permute(site.whole(x), (1, 0), name=site.name), x.shape[::-1])


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
    whole = site.builder.reshape(product, shape, name=site.name)
    if isinstance(summand, Activation):
        other: Value | Tensor = site.builder.multiply(site.whole(summand), beta, name=site.name)
    else:
        weight = site.weight(2)
        assert weight is not None
        other = beta * weight
    return site.close(site.builder.add(whole, other, name=site.name), shape)
