"""Training one PyTorch model, one pass over its samples after the other."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

Loss = Callable[[Tensor, Tensor], Tensor]


def epochs(
    model: nn.Module,
    inputs: Tensor,
    targets: Tensor,
    *,
    loss: Loss,
    optimizer: Optimizer,
    batch: int,
    order: torch.Generator,
    schedule: LRScheduler | None = None,
    least: int = 1,
) -> Iterator[float]:
    """Train a model in place, a pass over the samples each time that the next entry is asked for.

    Parameters
    ----------
    model : nn.Module
        Its first weights are those it comes with.
    inputs, targets : (s, ...) tensors
        On the model's device.
    loss : callable
        Of outputs and targets, a mean over the batch.
    optimizer : Optimizer
    batch : int
        Samples per step.
    order : torch.Generator
        Of the order of the samples, on the CPU.
    schedule : LRScheduler, optional
        Moves on after every step.
    least : int
        Batches of fewer samples are left out.

    Yields
    ------
    float
        Mean loss of the samples in the pass, as it was before each step. There is no end to passes.

    Examples
    --------
    >>> model, x = nn.Linear(1, 1), torch.linspace(-1, 1, 8)[:, None]
    >>> passes = epochs(model, x, 2 * x, loss=nn.functional.mse_loss, batch=4, order=torch.Generator().manual_seed(0),
    ...                 optimizer=torch.optim.SGD(model.parameters(), lr=0.5))
    >>> losses = [next(passes) for _ in range(20)]
    >>> losses[-1] < 1e-3
    True
    """
    while True:
        model.train()
        total, number = torch.zeros((), device=inputs.device), 0
        for rows in torch.randperm(len(inputs), generator=order).to(inputs.device).split(batch):
            if len(rows) < least:
                continue
            optimizer.zero_grad()
            found = loss(model(inputs[rows]), targets[rows])
            found.backward()
            optimizer.step()
            if schedule is not None:
                schedule.step()
            total, number = total + found.detach() * len(rows), number + len(rows)
        yield float(total) / number
