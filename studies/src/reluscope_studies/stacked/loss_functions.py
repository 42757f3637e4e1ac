"""Losses of many networks, means over samples and outputs as in PyTorch, with their derivatives by the outputs.

The cross-entropy of classes, which PyTorch adds up over outputs, is here the mean over them of parts as many times as
large.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, log_softmax

from reluscope.arguments import read_arguments, read_option
from reluscope.errors import ShapeError
from reluscope.extending.analyses import Shown
from reluscope_studies.stacked.stack import Stack


@dataclass(frozen=True, repr=False)
class LossFunction(Shown):
    """A mean over samples and outputs, network by network.

    Parameters
    ----------
    name : str
        As a reader would say it.
    of_each : callable
        From outputs and targets (k, s, m) to losses of the same shape, before the mean.
    slopes : callable
        From outputs and targets laid out as (k, m, s), as training has them, to derivatives by the outputs of all these
        losses together.
    """

    name: str
    of_each: Callable[[Tensor, Tensor], Tensor]
    slopes: Callable[[Tensor, Tensor], Tensor]

    @read_arguments
    def __call__(self, outputs: Float[Tensor, "k s m"], targets: Float[Tensor, "k s m"]) -> Float[Tensor, " k"]:
        """Return the loss of every network."""
        return self.of_each(outputs, targets).mean(dim=(1, 2))


LOSS_FUNCTIONS = {
    "mse": LossFunction(
        "mean squared error",
        lambda outputs, targets: (outputs - targets).square_(),
        lambda outputs, targets: (outputs - targets).mul_(2),
    ),
    "bce": LossFunction(
        "binary cross-entropy with logits",
        lambda outputs, targets: binary_cross_entropy_with_logits(outputs, targets, reduction="none"),
        lambda outputs, targets: torch.sigmoid(outputs).sub_(targets),
    ),
    "cross_entropy": LossFunction(
        "cross-entropy of classes",
        lambda outputs, targets: log_softmax(outputs, dim=2).mul_(targets).mul_(-outputs.shape[2]),
        lambda outputs, targets: (
            torch.softmax(outputs, dim=1).mul_(targets.sum(dim=1, keepdim=True)).sub_(targets).mul_(outputs.shape[1])
        ),
    ),
}


@read_arguments
def signs_agree(outputs: Float[Tensor, "k s m"], targets: Float[Tensor, "k s m"]) -> Bool[Tensor, " k"]:
    """Return which networks have every sample right: outputs above 0 where the target is 1, and nowhere else.

    Examples
    --------
    >>> signs_agree(torch.tensor([[[0.3], [-2.0]], [[0.3], [2.0]]]), torch.tensor([[1.0], [0.0]]).expand(2, 2, 1))
    tensor([ True, False])
    """
    return ((outputs > 0) == (targets > 0.5)).flatten(1).all(dim=1)


def loss_function(name: str) -> LossFunction:
    """Return the loss function of a name.

    InputError if there is none.
    """
    return LOSS_FUNCTIONS[read_option(name, "loss", LOSS_FUNCTIONS)]


def read_targets(stack: Stack, y: ArrayLike | Tensor, num_samples: int) -> Float[Tensor, "k s m"]:
    """Return targets network by network, from those of all networks or of each.

    Targets of all networks are (s,) or (s, m), those of each (k, s, m). ShapeError if they are neither.
    """
    targets = stack._read_numbers(y, "y")
    own = (len(stack), num_samples, stack.sizes[-1])
    if targets.ndim == 1:
        targets = targets[:, None]
    if targets.shape not in (own, own[1:]):
        raise ShapeError(
            f"expected targets of shape {own[1:]} for all networks, or {own} for each its own, got "
            f"{tuple(targets.shape)}"
        )
    return targets.expand(own)
