"""Entries moved, repeated or framed: reshape, select, concatenate, pad."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import torch
from torch import Tensor
from torch.nn import functional

from reluscope.networks.graph.nodes import Affine


@dataclass(frozen=True, eq=False, kw_only=True)
class Reshape(Affine):
    """The same entries in row-major order under another shape."""

    rounds: ClassVar[bool] = False

    def linear(self, *values: Tensor) -> Tensor:
        """Return the value under the node's shape."""
        return values[0].reshape(-1, *self.shape)


@dataclass(frozen=True, eq=False, kw_only=True)
class Select(Affine):
    """Entries picked by position, repeats allowed.

    Permutations, slices, indexing, flips, expansion, reflection padding and nearest upsampling are all of this kind.
    """

    index: Tensor  # positions in the flattened input

    rounds: ClassVar[bool] = False

    def linear(self, *values: Tensor) -> Tensor:
        """Return the picked entries."""
        flat = values[0].reshape(len(values[0]), -1)
        return flat.index_select(1, self.index.reshape(-1)).reshape(-1, *self.shape)


@dataclass(frozen=True, eq=False, kw_only=True)
class Concatenate(Affine):
    """Values one after the other along an axis, given without the batch axis."""

    axis: int

    rounds: ClassVar[bool] = False

    def linear(self, *values: Tensor) -> Tensor:
        """Return the concatenation."""
        return torch.cat(values, dim=self.axis + 1)


@dataclass(frozen=True, eq=False, kw_only=True)
class Padded(Affine):
    """A border of constant entries around the value."""

    padding: tuple[int, ...]  # as in ``torch.nn.functional.pad``; negative cuts off
    border: Tensor | None = None  # of the node's shape, zero inside; None for zeros

    rounds: ClassVar[bool] = False

    @property
    def constant(self) -> Tensor | None:
        """The border's entries."""
        return self.border

    def linear(self, *values: Tensor) -> Tensor:
        """Return the value with a border of zeros."""
        return functional.pad(values[0], self.padding)

    def absolute(self) -> Self:
        """Return the node with the border's absolute value."""
        return self if self.border is None else replace(self, border=self.border.abs())
