"""Losses of many networks on all samples, in chunks of bounded memory."""

import torch
from jaxtyping import Float
from numpy.typing import ArrayLike
from torch import Tensor

from reluscope.arguments import read_arguments
from reluscope_studies.stacked.loss_functions import LossFunction, loss_function, read_targets
from reluscope_studies.stacked.stack import Stack

# Of the values of all units of a chunk: they stay in the cache of a core, and on a GPU fill it.
MAX_BYTES = {"cpu": 2**20, "cuda": 2**28}


@read_arguments
def losses(stack: Stack, x: ArrayLike | Tensor, y: ArrayLike | Tensor, *, loss: str) -> Float[Tensor, " k"]:
    """Return the loss of every network, the mean over samples and outputs.

    Parameters
    ----------
    stack : Stack
    x : (s, n)
    y : (s,), (s, m) or (k, s, m)
        Targets of all networks, or of each its own; for cross-entropies 0 and 1.
    loss : {"mse", "bce", "cross_entropy"}
        Mean squared error, binary cross-entropy with logits, or cross-entropy of as many classes as outputs, whose
        targets are the classes' probabilities.

    Returns
    -------
    (k,) tensor
        In the precision of the stack.

    Raises
    ------
    InputError, ShapeError
        If there is no such loss, or points or targets do not fit.

    Examples
    --------
    >>> from reluscope_studies.stacked import initialize
    >>> stack = initialize((3,), num_inputs=1, seeds=range(5))
    >>> losses(stack, [[0.0], [1.0]], [0.0, 1.0], loss="mse").shape
    torch.Size([5])
    """
    function = loss_function(loss)
    points = stack.read_points(x)
    return losses_of(stack, points, read_targets(stack, y, len(points)), function)


def losses_of(
    stack: Stack, points: Float[Tensor, "s n"], targets: Float[Tensor, "k s m"], function: LossFunction
) -> Float[Tensor, " k"]:
    """Return the losses from points and targets that have been read; see `losses`."""
    room = MAX_BYTES.get(stack.device.type, MAX_BYTES["cuda"])
    most = max(1, room // (stack.dtype.itemsize * len(points) * sum(stack.sizes)))
    chunks = [slice(start, start + most) for start in range(0, len(stack), most)]
    return torch.cat([function(stack.take(rows)._outputs(points), targets[rows]) for rows in chunks])
