"""Layers with weights, and pooling by averages, on values ``(channels, *spatial)``."""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from reluscope.errors import ShapeError, UnsupportedOperatorError
from reluscope.networks.building.arithmetic import Arithmetic
from reluscope.networks.building.arrangement import MovedEntries
from reluscope.networks.building.core import Value, constant, per_axis
from reluscope.networks.building.windows import num_windows, window_positions
from reluscope.networks.graph.operators.convolution import Convolution, TransposedConvolution
from reluscope.networks.graph.operators.linear import Linear
from reluscope.networks.graph.operators.reduce import AdaptiveMean, WindowMean

Sizes = int | Sequence[int]
Padding = int | Sequence[int] | Sequence[tuple[int, int]]


class Layers(Arithmetic, MovedEntries):
    """Methods for linear maps, convolutions, normalisation and average pooling."""

    def linear(self, x: Value, weight: Tensor, bias: Tensor | None = None) -> Value:
        """``x W^T + b`` on the last axis, W ``(out, in)``, b ``(out,)``."""
        if not x.shape or weight.ndim != 2 or x.shape[-1] != weight.shape[1]:
            raise ShapeError(
                f"expected {self.place} to multiply a last axis of {weight.shape[-1]}, got a value {x.shape}"
            )
        shape = (*x.shape[:-1], len(weight))
        bias = None if bias is None else constant(bias).expand(len(weight))
        return self.add_affine(Linear, x, shape, weight=constant(weight), bias=bias)

    def fixed(self, x: Value, row: Tensor) -> Value:
        """Return a constant as a value that depends on x by a matrix of zeros."""
        zeros = torch.zeros(row.numel(), prod(x.shape), dtype=torch.float64)
        return self.reshape(self.linear(self.flatten(x), zeros, row.reshape(-1)), tuple(row.shape))

    def matmul(self, x: Value, matrix: Tensor) -> Value:
        """``x @ matrix``; a vector drops the last axis, leading axes of the matrix are batched."""
        if matrix.ndim == 1:
            return self.squeeze(self.linear(x, matrix[None]), [-1])
        if matrix.ndim == 2 or all(length == 1 for length in matrix.shape[:-2]):
            product = self.linear(x, matrix.reshape(matrix.shape[-2:]).T)
            return self.reshape(product, (1,) * (matrix.ndim - max(2, len(x.shape))) + product.shape)
        return self._swap(self._stack_matmul(matrix.mT, self._swap(x)))

    def left_matmul(self, matrix: Tensor, x: Value) -> Value:
        """``matrix @ x``; a vector drops the axis it multiplies, leading axes of the matrix are batched."""
        if len(x.shape) == 1:
            return self.linear(x, matrix) if matrix.ndim > 1 else self.linear(x, matrix[None])
        if matrix.ndim == 1:
            return self.squeeze(self.axis_matrix(x, -2, matrix[None]), [-2])
        if matrix.ndim == 2 or all(length == 1 for length in matrix.shape[:-2]):
            product = self.axis_matrix(x, -2, matrix.reshape(matrix.shape[-2:]))
            return self.reshape(product, (1,) * (matrix.ndim - len(x.shape)) + product.shape)
        return self._stack_matmul(matrix, x)

    def convolution(
        self,
        x: Value,
        weight: Tensor,
        bias: Tensor | None = None,
        *,
        stride: Sizes = 1,
        padding: Padding = 0,
        dilation: Sizes = 1,
        groups: int = 1,
    ) -> Value:
        """Convolution with a kernel ``(out, in / groups, *kernel)``; padding per axis, or (before, after) per axis."""
        spatial = weight.ndim - 2
        self._check_channels(x, weight.shape[1] * groups, spatial)
        strides, dilations = per_axis(stride, spatial), per_axis(dilation, spatial)
        pads = pairs(padding, spatial)
        if any(before != after for before, after in pads):
            x = self.pad(x, [(0, 0), *pads])
            pads = [(0, 0)] * spatial
        lengths = [
            num_windows(length, kernel, step, pair, spacing, False)
            for length, kernel, step, pair, spacing in zip(
                x.shape[1:], weight.shape[2:], strides, pads, dilations, strict=True
            )
        ]
        return self.add_affine(
            Convolution,
            x,
            (len(weight), *lengths),
            weight=constant(weight),
            bias=None if bias is None else constant(bias),
            stride=strides,
            padding=tuple(before for before, _ in pads),
            dilation=dilations,
            groups=groups,
        )

    def transposed_convolution(
        self,
        x: Value,
        weight: Tensor,
        bias: Tensor | None = None,
        *,
        stride: Sizes = 1,
        padding: Padding = 0,
        output_padding: Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
    ) -> Value:
        """Transposed convolution with a kernel ``(in, out / groups, *kernel)``; padding is cut off the result."""
        spatial = weight.ndim - 2
        self._check_channels(x, len(weight), spatial)
        strides, dilations = per_axis(stride, spatial), per_axis(dilation, spatial)
        extra = per_axis(output_padding, spatial)
        pads = pairs(padding, spatial)
        uneven = any(before != after for before, after in pads)
        cut = [(0, 0)] * spatial if uneven else pads
        lengths = [
            (length - 1) * step - 2 * pad + spacing * (kernel - 1) + more + 1
            for length, kernel, step, (pad, _), spacing, more in zip(
                x.shape[1:], weight.shape[2:], strides, cut, dilations, extra, strict=True
            )
        ]
        result = self.add_affine(
            TransposedConvolution,
            x,
            (weight.shape[1] * groups, *lengths),
            weight=constant(weight),
            bias=None if bias is None else constant(bias),
            stride=strides,
            padding=tuple(before for before, _ in cut),
            output_padding=extra,
            dilation=dilations,
            groups=groups,
        )
        return self.pad(result, [(0, 0), *((-b, -a) for b, a in pads)]) if uneven else result

    def batch_norm(
        self,
        x: Value,
        mean: Tensor,
        variance: Tensor,
        weight: Tensor | None = None,
        bias: Tensor | None = None,
        epsilon: float = 1e-5,
    ) -> Value:
        """Normalise every channel by constants: ``(x - mean) / sqrt(variance + epsilon) * weight + bias``."""
        scale = 1.0 / torch.sqrt(constant(variance) + epsilon)
        scale = scale if weight is None else scale * constant(weight)
        shift = -constant(mean) * scale
        shift = shift if bias is None else shift + constant(bias)
        column = (-1, *(1,) * (len(x.shape) - 1))
        return self.scale_shift(x, scale.reshape(column), shift.reshape(column))

    def average_pool(
        self,
        x: Value,
        kernel: Sizes,
        stride: Sizes | None = None,
        padding: Padding = 0,
        *,
        dilation: Sizes = 1,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor: int | None = None,
    ) -> Value:
        """Means over windows, as ``torch.nn.AvgPool2d`` and the ONNX operator AveragePool count them."""
        windows = windows_of(x.shape, kernel, stride, padding, dilation)
        kernels, strides, dilations = zip(*((one.kernel, one.stride, one.dilation) for one in windows), strict=True)
        frame, counts = [(0, 0)], np.ones((), dtype=np.float64)
        for length, size, step, pair, spacing in windows:
            places = window_positions(length, size, step, pair, spacing, ceil_mode)
            last = length + pair[1] if count_include_pad else length
            first = -pair[0] if count_include_pad else 0
            counts = np.multiply.outer(counts, ((places >= first) & (places < last)).sum(axis=1))
            frame.append((pair[0], max(0, int(places[-1, -1]) + 1 - length)))
        x = self.pad(x, frame)
        full, shape = prod(kernels), (x.shape[0], *counts.shape)
        if any(spacing != 1 for spacing in dilations):
            weight = torch.full((x.shape[0], 1, *kernels), 1.0 / full, dtype=torch.float64)
            means = self.convolution(x, weight, stride=strides, dilation=dilations, groups=x.shape[0])
        else:
            means = self.add_affine(WindowMean, x, shape, kernel=kernels, stride=strides)
        means = self._crop(means, shape)
        divisors = np.full(counts.shape, divisor) if divisor else counts
        if (divisors == full).all():
            return means
        return self.scale_shift(means, scale=torch.from_numpy(full / divisors))

    def adaptive_average_pool(self, x: Value, size: Sizes) -> Value:
        """Means over windows that split every spatial axis into ``size`` parts."""
        lengths = per_axis(size, len(x.shape) - 1)
        return self.add_affine(AdaptiveMean, x, (x.shape[0], *lengths))

    def _check_channels(self, x: Value, channels: int, spatial: int) -> None:
        if len(x.shape) != spatial + 1 or x.shape[0] != channels:
            raise ShapeError(
                f"expected {self.place} to see {channels} channels and {spatial} spatial axes, got {x.shape}"
            )

    def _crop(self, x: Value, shape: tuple[int, ...]) -> Value:
        return self.pad(x, [(0, want - have) for want, have in zip(shape, x.shape, strict=True)])

    def _swap(self, x: Value) -> Value:
        axes = list(range(len(x.shape)))
        axes[-2:] = axes[:-3:-1]
        return self.permute(x, axes)

    def _stack_matmul(self, matrix: Tensor, x: Value) -> Value:
        """``matrix @ x`` with one matrix per leading index, as a grouped convolution of width one."""
        lead = tuple(matrix.shape[:-2])
        if len(x.shape) < 2 or x.shape[-2] != matrix.shape[-1]:
            raise ShapeError(f"expected {self.place} to multiply {matrix.shape[-1]} rows, got a value {x.shape}")
        try:
            lead = tuple(torch.broadcast_shapes(lead, x.shape[:-2]))
        except RuntimeError as error:
            raise UnsupportedOperatorError(f"{self.place} multiplies {tuple(matrix.shape)} by {x.shape}") from error
        rows, inner, columns = matrix.shape[-2], matrix.shape[-1], x.shape[-1]
        stack = constant(matrix).expand(*lead, rows, inner).reshape(-1, inner, 1)
        flat = self.reshape(self.expand(x, (*lead, inner, columns)), (-1, columns))
        product = self.convolution(flat, stack, groups=prod(lead))
        return self.reshape(product, (*lead, rows, columns))


class Window(NamedTuple):
    """How a window slides along an axis."""

    length: int
    kernel: int
    stride: int
    padding: tuple[int, int]
    dilation: int


def windows_of(
    shape: tuple[int, ...], kernel: Sizes, stride: Sizes | None, padding: Padding, dilation: Sizes
) -> list[Window]:
    """Return the windows per spatial axis; strides are those of kernels if None."""
    spatial = len(shape) - 1
    kernels = per_axis(kernel, spatial)
    strides = kernels if stride is None or stride == () else per_axis(stride, spatial)
    settings = (shape[1:], kernels, strides, pairs(padding, spatial), per_axis(dilation, spatial))
    return [Window(*each) for each in zip(*settings, strict=True)]


def pairs(padding: Padding, num_axes: int) -> list[tuple[int, int]]:
    """Return (before, after) per axis from one number, one per axis, or pairs."""
    if isinstance(padding, int):
        return [(padding, padding)] * num_axes
    result: list[tuple[int, int]] = []
    for entry in padding:
        result.append((entry, entry) if isinstance(entry, int) else (int(entry[0]), int(entry[1])))
    return result * num_axes if len(result) == 1 else result
