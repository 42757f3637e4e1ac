"""Multiplication of the last axis by a matrix: ``y = x W^T + b``."""

from dataclasses import dataclass, replace
from typing import Self

import scipy.sparse
from torch import Tensor
from torch.nn import functional

from reluscope.networks.graph.nodes import Affine


@dataclass(frozen=True, eq=False, kw_only=True)
class Linear(Affine):
    """``y = x W^T + b`` on the last axis."""

    weight: Tensor  # (out, in)
    bias: Tensor | None = None  # (out,)

    @property
    def constant(self) -> Tensor | None:
        """The bias."""
        return self.bias

    def linear(self, *values: Tensor) -> Tensor:
        """Return ``x W^T``."""
        return functional.linear(values[0], self.weight)

    def apply(self, *values: Tensor) -> Tensor:
        """Return ``x W^T + b`` in one call."""
        return functional.linear(values[0], self.weight, self.bias)

    def absolute(self) -> Self:
        """Return ``y = x |W|^T + |b|``."""
        return replace(self, weight=self.weight.abs(), bias=None if self.bias is None else self.bias.abs())

    def matrix(self) -> list[scipy.sparse.csr_array]:
        """Return W, repeated in blocks where the value has more than one axis."""
        if len(self.shape) > 1:
            return super().matrix()
        return [scipy.sparse.csr_array(self.weight.cpu().numpy())]
