"""Adam with decoupled weight decay, and gradient descent with momentum, on all weights as one vector.

The update rules are those of ``torch.optim.AdamW`` and ``torch.optim.SGD``, whose first use imports PyTorch's compiler,
which takes seconds.
"""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor, nn

MOMENTUM = 0.9
BETAS, EPSILON = (0.9, 0.999), 1e-8


class Optimiser(Protocol):
    """Changes weights by their gradients."""

    def step(self, rate: float, weight_decay: float) -> None:
        """Take one step."""
        ...


class Adam:
    """Steps along running means of gradients, divided by their running sizes; weights shrink beside that."""

    def __init__(self, weights: Sequence[nn.Parameter]) -> None:
        self._weights, self._taken = weights, 0
        self._mean = torch.zeros_like(_joined(weights))
        self._square = torch.zeros_like(self._mean)

    @torch.no_grad()
    def step(self, rate: float, weight_decay: float) -> None:
        """Take one step."""
        self._taken += 1
        gradient, vector = _gradient(self._weights), _joined(self._weights)
        self._mean.lerp_(gradient, 1 - BETAS[0])
        self._square.lerp_(gradient.square(), 1 - BETAS[1])
        first, second = (1 - beta**self._taken for beta in BETAS)
        size = (self._square / second).sqrt_().add_(EPSILON)
        _spread(vector.mul_(1 - rate * weight_decay).addcdiv_(self._mean, size, value=-rate / first), self._weights)


class Descent:
    """Steps along gradients, with momentum; weight decay is the gradient of half the squared weights."""

    def __init__(self, weights: Sequence[nn.Parameter]) -> None:
        self._weights = weights
        self._velocity = torch.zeros_like(_joined(weights))

    @torch.no_grad()
    def step(self, rate: float, weight_decay: float) -> None:
        """Take one step."""
        vector = _joined(self._weights)
        self._velocity.mul_(MOMENTUM).add_(_gradient(self._weights)).add_(vector, alpha=weight_decay)
        _spread(vector.sub_(self._velocity, alpha=rate), self._weights)


OPTIMISERS = {"adam": Adam, "sgd": Descent}


def _joined(weights: Sequence[nn.Parameter]) -> Tensor:
    return torch.cat([one.detach().reshape(-1) for one in weights])


def _gradient(weights: Sequence[nn.Parameter]) -> Tensor:
    """Return the gradients as one vector, and forget them; zero for weights that were not used."""
    parts = [torch.zeros_like(one) if one.grad is None else one.grad for one in weights]
    for one in weights:
        one.grad = None
    return torch.cat([part.reshape(-1) for part in parts])


def _spread(vector: Tensor, weights: Sequence[nn.Parameter]) -> None:
    """Write a vector into the weights."""
    for one, part in zip(weights, vector.split([one.numel() for one in weights]), strict=True):
        one.copy_(part.view_as(one))
