"""Plain gradient descent in batches, looked at after chosen epochs."""

from collections.abc import Callable, Collection

import numpy as np
import torch
from jaxtyping import Float, Shaped
from torch import nn

from reluscope_studies.epochs import Loss, epochs


def descend(
    model: nn.Module,
    points: Float[np.ndarray, "s ..."],
    targets: Shaped[np.ndarray, "s ..."],
    *,
    loss: Loss,
    rate: float,
    batch: int,
    looked_at: Collection[int],
    look: Callable[[int], None],
    seed: int,
    device: str = "cpu",
) -> None:
    """Train a model in place, in float32, with a constant rate and without momentum or decay.

    Parameters
    ----------
    model : nn.Module
        Its first weights are those it comes with.
    points, targets : (s, ...) arrays
        Floating-point targets are trained with in float32.
    loss : callable
        Of outputs and targets, a mean over the batch.
    rate : float
    batch : int
    looked_at : collection of int
        Numbers of epochs; 0 is before training, the largest the last.
    look : callable
        Told the number of epochs done.
    seed : int
        Of the order of the samples.
    device : str
    """
    inputs = torch.tensor(points, dtype=torch.float32, device=device)
    kind = torch.float32 if np.issubdtype(targets.dtype, np.floating) else torch.int64
    wanted = torch.tensor(targets, dtype=kind, device=device)
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    order = torch.Generator().manual_seed(seed)
    passes = epochs(model, inputs, wanted, loss=loss, optimizer=optimizer, batch=batch, order=order)
    for epoch in range(max(looked_at) + 1):
        if epoch:
            next(passes)
        if epoch in looked_at:
            look(epoch)
