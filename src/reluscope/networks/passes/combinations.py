"""Values of a network at many points as combinations of a few rows, the same combinations for every entry.

Row 0 is taken once by every point, and has the constants of affine nodes; the others are differences, which only linear
parts change. Where a network is affine on many cells and rows are few, sending rows through it costs a small part of
what the points do. Later values have more rows: what an earlier one lacks is zero.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from reluscope.networks.graph.nodes import Affine

if TYPE_CHECKING:
    from reluscope.networks.passes.stages import Stage


class Combinations:
    """Rows ``(k, *shape)``; at gates they are rows ``(k, size)`` of the flattened input."""

    def affine(self, node: Affine, inputs: Sequence[Tensor]) -> Tensor:
        """Return the linear part of every row, with the constant in row 0."""
        number = max(map(len, inputs))
        found = node.linear(*(with_rows(one, number) for one in inputs))
        if node.constant is None:
            return found
        if not node.rounds or any(found.data_ptr() == one.data_ptr() for one in inputs):
            found = found.clone()
        found[0] += node.constant
        return found

    def arrive(self, stage: "Stage", value: Tensor) -> Tensor:
        """Return the rows of the gate's flattened input."""
        return value.reshape(len(value), -1)


def with_rows(value: Tensor, number: int) -> Tensor:
    """Return a value with so many rows: those that it lacks are zero."""
    if len(value) == number:
        return value
    return torch.cat([value, value.new_zeros(number - len(value), *value.shape[1:])])


COMBINATIONS = Combinations()
