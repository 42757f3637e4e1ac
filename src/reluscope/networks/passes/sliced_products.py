"""Sums of products without rounding: both factors cut into slices of so few bits that floats hold every partial sum.

A slice holds integers of b bits times a power of two. A sum of k products of two slices is an integer of at most
2 b + log2 k bits: where that is at most 53, matrix products and convolutions of slices are exact, in whatever order
they sum (Ozaki, Ogita, Oishi, Rump, "Error-free transformations of matrix multiplication by using fast routines of
matrix multiplication and its applications", Numerical Algorithms 59, 2012). What slices leave over is bounded.
"""

from dataclasses import dataclass, replace
from math import ceil, log2, prod

import numpy as np
import torch
from torch import Tensor

from reluscope.networks.graph.nodes import Affine
from reluscope.networks.graph.operators.convolution import Convolution, TransposedConvolution
from reluscope.networks.graph.operators.linear import Linear
from reluscope.networks.graph.operators.reduce import AdaptiveMean, AxisMatrix, AxisSum, WindowMean
from reluscope.networks.passes.double_words import DoubleWord, two_sum

# Bits of the integers that floats hold, and of a slice at most: what is left behind a wider one could round up to more.
BITS, MAX_BITS, MAX_SLICES = 53, 26, 8
# Products of slices that are summed together, those of one unit: no more pairs of slices have it.
TOGETHER = MAX_SLICES
# Bits that sums leave free where they are divided and made whole again.
FREE_BITS = 5
# Nothing is scaled to less than 2^-300: units of products stay far above what underflows.
LEAST = -300


@dataclass(frozen=True)
class Slices:
    """Numbers cut into slices.

    Part j holds multiples of ``2^(exponent - (j + 1) bits + 1)`` of at most ``2^(exponent - j bits)``.
    """

    parts: list[Tensor]
    exponent: np.ndarray  # numbers are at most 2 to this power; broadcastable
    bits: int  # of a slice, with its sign
    is_whole: bool  # whether the slices sum up to the numbers

    def from_slice(self, first: int) -> np.ndarray:
        """Return a bound on what numbers are from one slice on, with what the slices leave over."""
        if self.is_whole and first >= len(self.parts):
            return np.zeros(self.exponent.shape)
        return np.ldexp(2.0, self.exponent - first * self.bits)


def sliced(value: DoubleWord, bits: int, axes: tuple[int, ...]) -> Slices:
    """Cut numbers into slices of at most `MAX_BITS` bits.

    Numbers along ``axes`` share an exponent.
    """
    high, low = value
    largest = high.abs().amax(axes, keepdim=True).cpu().numpy()
    exponent = np.maximum(np.frexp(largest)[1].astype(np.int64), LEAST)
    parts: list[Tensor] = []
    while len(parts) < MAX_SLICES and bool((high != 0).any()):
        # Numbers added to this one lose what is below the slice.
        above = np.ldexp(1.5, exponent - (len(parts) + 1) * bits + BITS)
        anchor = torch.from_numpy(above).to(high.device)
        part = (high + anchor) - anchor
        parts.append(part)
        high, low = two_sum(high - part, low)
    return Slices(parts, exponent, bits, not bool((high != 0).any()))


@dataclass(frozen=True)
class Products:
    """The linear part of an affine node as sums of products.

    For means, results of `of` are to be multiplied by the float nearest to the inverse of ``divisor``, the number of
    entries, broadcastable to the result.
    """

    node: Affine
    weight: Tensor | None  # None where every weight is 1
    terms: int  # products in a sum
    axes: tuple[int, ...] = ()  # of the weights that belong to one entry of the result
    behind: int = 0  # result axes behind that of the weights' other axes
    divisor: Tensor | None = None  # of means only

    @property
    def bits(self) -> int:
        """Bits of slices."""
        if self.weight is None:
            return min(MAX_BITS, BITS - FREE_BITS - ceil(log2(max(1, self.terms))))
        # Absolute values of slices have a bit less each.
        return min(MAX_BITS, (BITS + 2 - ceil(log2(TOGETHER * self.terms))) // 2)

    def of(self, weight: Tensor | None, value: Tensor, exponent: Tensor) -> Tensor:
        """Return the sums of products of two slices; ``exponent`` of 2 is the unit of the value's."""
        if weight is not None:
            changed: dict[str, Tensor] = {"weight": weight}
            return replace(self.node, **changed).linear(value)  # pyright: ignore[reportArgumentType]
        found = self.node.linear(value)
        if self.divisor is None:
            return found
        # The quotient of an integer is near enough to it to tell which one it was.
        return torch.round(found * self.divisor / exponent) * exponent


def products_of(node: Affine) -> Products | None:
    """Return what products a node sums up; None where it moves entries, or adds and scales a few of them."""
    if isinstance(node, Convolution | Linear | TransposedConvolution | AxisMatrix):
        weight = node.weight
        every = tuple(range(weight.ndim))
        if isinstance(node, TransposedConvolution):
            return Products(node, weight, weight.shape[0] // node.groups * prod(weight.shape[2:]), every)
        if isinstance(node, AxisMatrix):
            return Products(node, weight, weight.shape[1], every)
        behind = len(node.stride) if isinstance(node, Convolution) else 0
        return Products(node, weight, prod(weight.shape[1:]), every[1:], behind)
    if isinstance(node, AxisSum):
        terms = prod(node.input_shapes[0][axis] for axis in node.axes)
        divisor = torch.tensor(float(terms), dtype=torch.float64) if node.mean else None
        return Products(node, None, terms, divisor=divisor)
    if isinstance(node, WindowMean):
        terms = prod(node.kernel)
        return Products(node, None, terms, divisor=torch.tensor(float(terms), dtype=torch.float64))
    if isinstance(node, AdaptiveMean):
        divisor = _lengths(node)
        return Products(node, None, int(divisor.max()), divisor=divisor)
    return None


def _lengths(node: AdaptiveMean) -> Tensor:
    """Return of how many entries each entry is the mean."""
    found = torch.ones((), dtype=torch.float64)
    for before, after in zip(node.input_shapes[0][1:], node.shape[1:], strict=True):
        # As torch cuts an axis into windows.
        lengths = [-(-(k + 1) * before // after) - k * before // after for k in range(after)]
        found = found[..., None] * torch.tensor(lengths, dtype=torch.float64)
    return found
