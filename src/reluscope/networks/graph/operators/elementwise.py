"""Entry by entry: scaling and shifting by constants, sums of values."""

from dataclasses import dataclass, replace
from typing import Self

from torch import Tensor

from reluscope.networks.graph.nodes import Affine


@dataclass(frozen=True, eq=False, kw_only=True)
class ScaleShift(Affine):
    """``y = scale * x + shift`` entry by entry, with broadcasting from the right."""

    scale: Tensor | None = None  # None for 1
    shift: Tensor | None = None  # None for 0

    @property
    def constant(self) -> Tensor | None:
        """The shift."""
        return self.shift

    def linear(self, *values: Tensor) -> Tensor:
        """Return ``scale * x`` in the node's shape."""
        scaled = aligned(values[0], len(self.shape))
        if self.scale is not None:
            scaled = scaled * self.scale
        return scaled.expand(-1, *self.shape)

    def absolute(self) -> Self:
        """Return ``y = |scale| x + |shift|``."""
        return replace(
            self,
            scale=None if self.scale is None else self.scale.abs(),
            shift=None if self.shift is None else self.shift.abs(),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Sum(Affine):
    """``y = sign_1 x_1 + ... + sign_j x_j`` with broadcasting from the right."""

    signs: tuple[int, ...]  # 1 or -1, one per input

    def linear(self, *values: Tensor) -> Tensor:
        """Return the signed sum."""
        terms = [aligned(value, len(self.shape)) for value in values]
        result = terms[0] if self.signs[0] > 0 else -terms[0]
        for sign, term in zip(self.signs[1:], terms[1:], strict=True):
            result = result + term if sign > 0 else result - term
        return result.expand(-1, *self.shape)

    def absolute(self) -> Self:
        """Return the sum with all signs positive."""
        return replace(self, signs=(1,) * len(self.signs))


def aligned(value: Tensor, num_axes: int) -> Tensor:
    """Return a batch with axes of length 1 put behind the batch axis until it has ``num_axes`` beside it."""
    missing = num_axes + 1 - value.ndim
    return value.reshape(len(value), *(1,) * missing, *value.shape[1:]) if missing > 0 else value
