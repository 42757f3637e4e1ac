"""Averages and other fixed combinations along axes: window means, adaptive means, sums, matrices along one axis."""

from dataclasses import dataclass, replace
from typing import Self

from torch import Tensor
from torch.nn import functional

from reluscope.networks.graph.nodes import Affine

_WINDOW = {1: functional.avg_pool1d, 2: functional.avg_pool2d, 3: functional.avg_pool3d}
_ADAPTIVE = {1: functional.adaptive_avg_pool1d, 2: functional.adaptive_avg_pool2d, 3: functional.adaptive_avg_pool3d}


@dataclass(frozen=True, eq=False, kw_only=True)
class WindowMean(Affine):
    """The mean over every full window of the spatial axes of a value ``(channels, *spatial)``.

    Padding and uneven divisors are left to neighbouring nodes.
    """

    kernel: tuple[int, ...]  # one length per spatial axis
    stride: tuple[int, ...]  # one per spatial axis

    def linear(self, *values: Tensor) -> Tensor:
        """Return the means."""
        return _WINDOW[len(self.kernel)](values[0], self.kernel, self.stride)


@dataclass(frozen=True, eq=False, kw_only=True)
class AdaptiveMean(Affine):
    """Means over windows that split every spatial axis as evenly as ``torch.nn.AdaptiveAvgPool2d`` does."""

    def linear(self, *values: Tensor) -> Tensor:
        """Return the means."""
        sizes = self.shape[1:]
        return _ADAPTIVE[len(sizes)](values[0], sizes)


@dataclass(frozen=True, eq=False, kw_only=True)
class AxisSum(Affine):
    """The sum or the mean over some axes."""

    axes: tuple[int, ...]  # summed over, without the batch axis
    mean: bool  # whether to divide by the number of entries

    def linear(self, *values: Tensor) -> Tensor:
        """Return the sums in the node's shape."""
        axes = tuple(axis + 1 for axis in self.axes)
        reduced = values[0].mean(axes) if self.mean else values[0].sum(axes)
        return reduced.reshape(-1, *self.shape)


@dataclass(frozen=True, eq=False, kw_only=True)
class AxisMatrix(Affine):
    """A matrix along one axis: linear interpolation, cumulative sums, products from the left."""

    axis: int  # without the batch axis
    weight: Tensor  # (out, in)

    def linear(self, *values: Tensor) -> Tensor:
        """Return the products."""
        moved = values[0].movedim(self.axis + 1, -1)
        return functional.linear(moved, self.weight).movedim(-1, self.axis + 1)

    def absolute(self) -> Self:
        """Return the node with the matrix's absolute value."""
        return replace(self, weight=self.weight.abs())
