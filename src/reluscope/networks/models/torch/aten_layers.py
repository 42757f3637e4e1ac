"""Layers with weights, normalisation, pooling and interpolation."""

from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from reluscope.networks.building.builder import Value
from reluscope.networks.building.core import per_axis
from reluscope.networks.models.torch.aten_site import AtenSite, lowers


@lowers("linear")
def linear(site: AtenSite, a: SimpleNamespace) -> Value:
    """``input weight^T + bias``."""
    if not isinstance(a.input, Value) or isinstance(a.weight, Value):
        raise site.product()
    return site.builder.linear(a.input, a.weight, a.bias)


@lowers("addmm")
def addmm(site: AtenSite, a: SimpleNamespace) -> Value:
    """``beta * self + alpha * mat1 @ mat2``."""
    product = site.builder.multiply(_product(site, a.mat1, a.mat2), a.alpha)
    if isinstance(a.self, Value):
        return site.builder.add(site.builder.multiply(a.self, a.beta), product)
    return site.builder.add(product, site.beside(product, a.self * a.beta))


@lowers("mm", "matmul", "bmm", "mv", "dot")
def matmul(site: AtenSite, a: SimpleNamespace) -> Value:
    """Multiply by a constant matrix from either side."""
    other = getattr(a, "other", None)
    if other is None:
        other = a.mat2 if hasattr(a, "mat2") else a.vec if hasattr(a, "vec") else a.tensor
    return _product(site, a.self, other)


def _product(site: AtenSite, left: Any, right: Any) -> Value:
    if isinstance(left, Value) and isinstance(right, Value):
        raise site.product()
    if isinstance(left, Value):
        if not left.shape:
            raise site.batch_error("multiplies along the batch axis")
        return site.builder.matmul(left, _matrices(site, right, len(left.shape) + 1))
    if len(right.shape) < 2:
        raise site.batch_error("multiplies along the batch axis")
    return site.builder.left_matmul(_matrices(site, left, len(right.shape) + 1), right)


def _matrices(site: AtenSite, matrix: Tensor, rank: int) -> Tensor:
    """Drop a constant's batch axis where it has one."""
    if matrix.ndim > rank:
        raise site.batch_error("moves the batch axis")
    return site.one_row(matrix) if matrix.ndim == rank and rank > 2 else matrix


@lowers("conv1d", "conv2d", "conv3d")
def convolution(site: AtenSite, a: SimpleNamespace) -> Value:
    """Convolution with constant kernel; padding by number or by name."""
    x = _channels_first(site, a.input, a.weight.ndim - 1)
    spatial = a.weight.ndim - 2
    dilation = per_axis(a.dilation, spatial)
    padding: Any = a.padding
    if padding == "valid":
        padding = 0
    elif padding == "same":
        # The odd entry goes behind, as in PyTorch.
        reach = [step * (kernel - 1) for step, kernel in zip(dilation, a.weight.shape[2:], strict=True)]
        padding = [(total // 2, total - total // 2) for total in reach]
    return site.builder.convolution(
        x, a.weight, a.bias, stride=a.stride, padding=padding, dilation=dilation, groups=a.groups
    )


@lowers("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def transposed_convolution(site: AtenSite, a: SimpleNamespace) -> Value:
    """Transposed convolution with constant kernel."""
    x = _channels_first(site, a.input, a.weight.ndim - 1)
    return site.builder.transposed_convolution(
        x,
        a.weight,
        a.bias,
        stride=a.stride,
        padding=a.padding,
        output_padding=a.output_padding,
        dilation=a.dilation,
        groups=a.groups,
    )


@lowers("convolution")
def any_convolution(site: AtenSite, a: SimpleNamespace) -> Value:
    """Lower the form into which decompositions bring all convolutions."""
    return transposed_convolution(site, a) if a.transposed else convolution(site, a)


@lowers(
    *("batch_norm", "_native_batch_norm_legit_no_training", "native_batch_norm", "_native_batch_norm_legit"),
    *("cudnn_batch_norm", "_batch_norm_no_update", "instance_norm"),
)
def batch_norm(site: AtenSite, a: SimpleNamespace) -> Value | list[Any]:
    """Normalisation by stored statistics; by those of the batch or the point it is not piecewise linear."""
    training = getattr(a, "training", getattr(a, "use_input_stats", False))
    if training or a.running_mean is None:
        raise site.own_statistics("keep running statistics (track_running_stats=True) and call model.eval()")
    x = a.input if hasattr(a, "input") else a.self
    epsilon = getattr(a, "eps", getattr(a, "epsilon", 1e-5))
    result = site.builder.batch_norm(x, a.running_mean, a.running_var, a.weight, a.bias, epsilon)
    return result if site.operator in {"batch_norm", "instance_norm"} else [result, None, None]


@lowers("avg_pool1d", "avg_pool2d", "avg_pool3d")
def average_pool(site: AtenSite, a: SimpleNamespace) -> Value:
    """Means over windows."""
    return site.builder.average_pool(
        _channels_first(site, a.self, int(site.operator[-2]) + 1),
        a.kernel_size,
        a.stride or None,
        a.padding,
        ceil_mode=a.ceil_mode,
        count_include_pad=a.count_include_pad,
        divisor=getattr(a, "divisor_override", None),
    )


@lowers(
    *("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"),
    *("_adaptive_avg_pool2d", "_adaptive_avg_pool3d"),
)
def adaptive_average_pool(site: AtenSite, a: SimpleNamespace) -> Value:
    """Means over windows that split the axes evenly."""
    x = _channels_first(site, a.self, int(site.operator[-2]) + 1)
    return site.builder.adaptive_average_pool(x, a.output_size)


@lowers(
    *("max_pool1d", "max_pool2d", "max_pool3d"),
    *("max_pool1d_with_indices", "max_pool2d_with_indices", "max_pool3d_with_indices"),
)
def max_pool(site: AtenSite, a: SimpleNamespace) -> Value | list[Any]:
    """Largest entries of windows."""
    result = site.builder.max_pool(
        _channels_first(site, a.self, int(site.operator[8]) + 1),
        a.kernel_size,
        a.stride or None,
        a.padding,
        dilation=a.dilation,
        ceil_mode=a.ceil_mode,
    )
    return [result, None] if site.operator.endswith("indices") else result


@lowers("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d")
def adaptive_max_pool(site: AtenSite, a: SimpleNamespace) -> list[Any]:
    """Largest entries of windows that split the axes evenly."""
    x = _channels_first(site, a.self, int(site.operator[-2]) + 1)
    return [site.builder.adaptive_max_pool(x, a.output_size), None]


@lowers("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d")
def interpolate(site: AtenSite, a: SimpleNamespace) -> Value:
    """Linear or cubic interpolation, one axis after the other, each by its matrix."""
    x: Value = a.input if hasattr(a, "input") else a.self
    spatial = len(x.shape) - 1
    names = ("scales_d", "scales_h", "scales_w")[-spatial:]
    scales: list[Any] | None = getattr(a, "scale_factors", None)
    if scales is None:
        scales = [getattr(a, name, getattr(a, "scales", None)) for name in names]
    lengths = a.output_size
    if lengths is None:
        lengths = [int(length * scale) for length, scale in zip(x.shape[1:], scales, strict=True)]
    for axis in range(spatial):
        cubic = site.operator == "upsample_bicubic2d"
        matrix = _interpolation(x.shape[axis + 1], lengths[axis], a.align_corners, scales[axis], cubic)
        x = site.builder.axis_matrix(x, axis + 1, matrix)
    return x


def _interpolation(length: int, new: int, align_corners: bool, scale: float | None, cubic: bool) -> Tensor:
    """Return the matrix ``(new, length)`` of interpolation along one axis, read off PyTorch's own operator."""
    identity = torch.eye(length, dtype=torch.float64).unsqueeze(1)
    if cubic:
        image = torch.ops.aten.upsample_bicubic2d(identity.unsqueeze(-1), [new, 1], align_corners, scale, None)
    else:
        image = torch.ops.aten.upsample_linear1d(identity, [new], align_corners, scale)
    return image.reshape(length, new).T


def _channels_first(site: AtenSite, x: Value, num_axes: int) -> Value:
    if len(x.shape) != num_axes:
        raise site.batch_error(f"sees a value of shape {x.shape} where a batch of {num_axes} axes is expected")
    return x
