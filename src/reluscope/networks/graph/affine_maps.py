"""Affine maps, one per point or region: ``f(z) = weight z + bias``."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from jaxtyping import Float
from torch import Tensor

from reluscope.shown import Shown


@dataclass(frozen=True, eq=False, repr=False)
class AffineMaps(Shown):
    """A batch of affine maps between flattened spaces.

    Parameters
    ----------
    weight : (s, m, n) tensor
        One matrix per map.
    bias : (s, m) tensor
        One constant per map.

    Examples
    --------
    >>> import torch
    >>> maps = AffineMaps(torch.eye(2)[None], torch.ones(1, 2))
    >>> maps(torch.tensor([[1.0, 2.0]]))
    tensor([[2., 3.]])
    """

    weight: Float[Tensor, "s m n"]
    bias: Float[Tensor, "s m"]

    def __len__(self) -> int:
        return len(self.weight)

    def __getitem__(self, rows: slice | Tensor | list[int]) -> Self:
        return type(self)(self.weight[rows], self.bias[rows])

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        return zip(self.weight, self.bias, strict=True)

    def __call__(self, z: Float[Tensor, "s n"]) -> Float[Tensor, "s m"]:
        """Return the value of every map at its own point."""
        return (self.weight @ z.unsqueeze(-1)).squeeze(-1) + self.bias
