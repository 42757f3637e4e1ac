"""Plain numbers: the values of a network at points, or with every unit held to a piece."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from reluscope import _kernels
from reluscope.networks.graph.nodes import Affine
from reluscope.networks.graph.operators.linear import Linear

if TYPE_CHECKING:
    from reluscope.networks.passes.stages import Stage

# Of the entries, up to which share taking them out pays.
MOST_LIVE = 0.85


class Numbers:
    """Values ``(s, *shape)``; pre-activations ``(s, u)`` or ``(s, u, k)`` arrive at gates."""

    def affine(self, node: Affine, inputs: Sequence[Tensor]) -> Tensor:
        """Return ``L(x_1, ..., x_j) + c``."""
        return node.apply(*inputs)

    def arrive(self, stage: "Stage", value: Tensor) -> Tensor:
        """Return the pre-activations of the gate."""
        return stage.gate.candidates(value)

    def leave(self, stage: "Stage", arrived: Tensor) -> Tensor:
        """Return the gate's output."""
        return stage.gate.apply(arrived)


class HeldNumbers(Numbers):
    """Values when every unit is held to a piece, whatever it sees."""

    def __init__(self, pieces: Sequence[Tensor]) -> None:
        self.pieces = pieces

    def leave(self, stage: "Stage", arrived: Tensor) -> Tensor:
        """Return the gate's output on the given pieces."""
        return stage.gate.select(arrived, self.pieces[stage.index])


class LiveNumbers(Numbers):
    """Values at many points near to each other: entries that are zero at all of them are left out of products.

    Of the units of a wide layer nearly half are on one constant piece of theirs there, the one where they are zero.
    """

    def affine(self, node: Affine, inputs: Sequence[Tensor]) -> Tensor:
        """Return ``L(x_1, ..., x_j) + c``."""
        value = inputs[0].contiguous()
        if not isinstance(node, Linear) or value.ndim != 2 or value.device.type != "cpu":
            return node.apply(*inputs)
        low, high = _kernels.column_ranges(value.numpy())
        return product_of_live(node, value, (low != 0) | (high != 0))


def product_of_live(node: Linear, value: Tensor, is_live: np.ndarray) -> Tensor:
    """Return ``x W^T + b`` for values ``(s, in)`` whose other entries ``(in,)`` are zero at all points."""
    live = np.flatnonzero(is_live)
    if len(live) > MOST_LIVE * len(is_live):
        return node.apply(value)
    weight = node.weight.index_select(1, torch.from_numpy(live))
    return functional.linear(torch.from_numpy(value.numpy().take(live, axis=1)), weight, node.bias)


NUMBERS, LIVE_NUMBERS = Numbers(), LiveNumbers()
