"""Plain numbers: the values of a network at points, or with every unit held to a piece."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from torch import Tensor

from reluscope.networks.graph import Affine

if TYPE_CHECKING:
    from reluscope.networks.stages import Stage


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
    """Values when every unit is held to a piece, whatever it sees.

    Parameters
    ----------
    pieces : sequence of (s, u) tensors
        One per gate.
    """

    def __init__(self, pieces: Sequence[Tensor]) -> None:
        self.pieces = pieces

    def leave(self, stage: "Stage", arrived: Tensor) -> Tensor:
        """Return the gate's output on the given pieces."""
        return stage.gate.select(arrived, self.pieces[stage.index])


NUMBERS = Numbers()
