"""Convolution and transposed convolution over one, two or three spatial axes, on values ``(channels, *spatial)``."""

from dataclasses import dataclass, replace
from math import prod
from typing import Self

import torch
from torch import Tensor
from torch.nn import functional

from reluscope.interruption import step_point
from reluscope.networks.graph.nodes import Affine

_CONVOLUTIONS = {1: functional.conv1d, 2: functional.conv2d, 3: functional.conv3d}
# Of kernels that are as large, used at so few places, torch's float64 convolution is slower than one product.
MIN_KERNEL, MAX_PLACES = 2**17, 64
# Patches of some points at a time are multiplied while they are in the cache.
PATCH_BYTES = 2**24
_TRANSPOSED = {1: functional.conv_transpose1d, 2: functional.conv_transpose2d, 3: functional.conv_transpose3d}


@dataclass(frozen=True, eq=False, kw_only=True)
class Convolution(Affine):
    """Cross-correlation with a kernel, as ``torch.nn.Conv1d`` to ``Conv3d``.

    Stride, padding and dilation are per spatial axis; padding is by zeros and the same on both sides.
    """

    weight: Tensor  # (out, in / groups, *kernel)
    bias: Tensor | None = None  # (out,)
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int  # blocks of channels that do not see each other

    @property
    def constant(self) -> Tensor | None:
        """The bias, spread over the spatial axes."""
        return spread(self.bias, len(self.stride))

    def linear(self, *values: Tensor) -> Tensor:
        """Return the convolution without its bias."""
        return self._convolve(values[0], None)

    def apply(self, *values: Tensor) -> Tensor:
        """Return the convolution in one call."""
        return self._convolve(values[0], self.bias)

    def absolute(self) -> Self:
        """Return the convolution with the absolute kernel and bias."""
        return replace(self, weight=self.weight.abs(), bias=None if self.bias is None else self.bias.abs())

    def transposed(self, weights: Tensor) -> list[Tensor]:
        """Return weights of the input from those of the result: by the transposed convolution."""
        sizes = zip(
            self.input_shapes[0][1:], self.shape[1:], self.weight.shape[2:], self.stride, self.padding, self.dilation,
            strict=True,
        )  # fmt: skip
        rest = [
            length - ((number - 1) * stride - 2 * padding + dilation * (kernel - 1) + 1)
            for length, number, kernel, stride, padding, dilation in sizes
        ]
        value = weights.reshape(-1, *self.shape)
        convolve = _TRANSPOSED[len(self.stride)]
        back = convolve(value, self.weight, None, self.stride, self.padding, rest, self.groups, self.dilation)
        return [back.reshape(len(weights), -1)]

    def _convolve(self, value: Tensor, bias: Tensor | None) -> Tensor:
        step = self._at_once(value)
        if len(value) <= step:
            return self._convolved(value, bias)
        parts = (self._at_a_step(some, bias) for some in value.split(step))
        if value.requires_grad:
            return torch.cat(list(parts))
        result = value.new_empty(len(value), *self.shape)
        for part, made in zip(result.split(step), parts, strict=True):
            part.copy_(made)
        return result

    def _at_a_step(self, value: Tensor, bias: Tensor | None) -> Tensor:
        """Convolve some of many points, and look at the clock before."""
        step_point()
        return self._convolved(value, bias)

    def _at_once(self, value: Tensor) -> int:
        """How many points are convolved in one call."""
        if value.device.type != "cpu":
            return max(1, len(value))
        patches = self.weight[0].numel() * self.groups * prod(self.shape[1:])
        return max(1, PATCH_BYTES // (8 * max(1, patches)))

    def _convolved(self, value: Tensor, bias: Tensor | None) -> Tensor:
        if self._has_few_places(value):
            return self._as_one_product(value, bias)
        convolve = _CONVOLUTIONS[len(self.stride)]
        return convolve(value, self.weight, bias, self.stride, self.padding, self.dilation, self.groups)

    def _has_few_places(self, value: Tensor) -> bool:
        """Whether a large kernel is used at so few places that reading it for each point would take the time."""
        is_plain = len(self.stride) == 2 and self.groups == 1 and value.device.type == "cpu"
        return is_plain and self.weight.numel() >= MIN_KERNEL and prod(self.shape[1:]) <= MAX_PLACES

    def _as_one_product(self, value: Tensor, bias: Tensor | None) -> Tensor:
        """Return the convolution of all points as one product of matrices: torch makes one for each point."""
        patches = functional.unfold(value, self.weight.shape[2:], self.dilation, self.padding, self.stride)
        found = self.weight.flatten(1) @ patches.transpose(0, 1).flatten(1)
        found = found.reshape(len(found), len(value), *self.shape[1:]).transpose(0, 1).contiguous()
        return found if bias is None else found + bias[:, None, None]


@dataclass(frozen=True, eq=False, kw_only=True)
class TransposedConvolution(Affine):
    """The transpose of a convolution, as ``torch.nn.ConvTranspose1d`` to ``ConvTranspose3d``.

    Stride, both paddings and dilation are per spatial axis.
    """

    weight: Tensor  # (in, out / groups, *kernel)
    bias: Tensor | None = None  # (out,)
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    output_padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int  # blocks of channels that do not see each other

    @property
    def constant(self) -> Tensor | None:
        """The bias, spread over the spatial axes."""
        return spread(self.bias, len(self.stride))

    def linear(self, *values: Tensor) -> Tensor:
        """Return the transposed convolution without its bias."""
        return self._convolve(values[0], None)

    def apply(self, *values: Tensor) -> Tensor:
        """Return the transposed convolution in one call."""
        return self._convolve(values[0], self.bias)

    def absolute(self) -> Self:
        """Return the transposed convolution with the absolute kernel and bias."""
        return replace(self, weight=self.weight.abs(), bias=None if self.bias is None else self.bias.abs())

    def _convolve(self, value: Tensor, bias: Tensor | None) -> Tensor:
        convolve = _TRANSPOSED[len(self.stride)]
        return convolve(
            value, self.weight, bias, self.stride, self.padding, self.output_padding, self.groups, self.dilation
        )


def spread(bias: Tensor | None, num_spatial: int) -> Tensor | None:
    """Return one constant per channel with axes of length 1 behind it."""
    return None if bias is None else bias.reshape(-1, *(1,) * num_spatial)
