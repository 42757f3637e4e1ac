"""Training many small fully connected ReLU networks at once: their parameters are stacked and stepped together.

The first layers of all networks read the same samples, so they are one matrix; later layers are padded to common widths
and multiplied as a batch. Padded units have zero weights and no gradient, so they stay zero. The loss is the sum of the
networks' losses and Adam works entry by entry: every network is trained as it would be by itself.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

Layers = list[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Recipe:
    """How networks are trained.

    Parameters
    ----------
    epochs, batch : int
        Passes over the data, and samples per step.
    learning_rate : float
        Of Adam with its usual other constants.
    """

    epochs: int
    batch: int = 128
    learning_rate: float = 2e-3

    def describe(self) -> str:
        """Return one phrase."""
        return f"{self.epochs} epochs of Adam at rate {self.learning_rate:g} in batches of {self.batch}"


def train_classifiers(
    points: Float[np.ndarray, "s n"],
    labels: Int[np.ndarray, " s"],
    widths: Sequence[tuple[int, ...]],
    *,
    num_classes: int,
    seeds: Sequence[int],
    recipe: Recipe,
    device: str = "cpu",
    tell: Callable[[float], None] | None = None,
) -> list[Layers]:
    """Train one network for every entry of ``widths``, with cross-entropy.

    Parameters
    ----------
    points : (s, n) float64
    labels : (s,) int
        Class numbers.
    widths : sequence of tuples
        Units of the hidden layers of every network, all of the same depth, at least one layer.
    num_classes : int
        Outputs.
    seeds : sequence of int
        One per network, for its first weights: uniform in ±1/sqrt(inputs of the layer), biases too. The first seed
        also orders the samples, for all networks alike.
    recipe : Recipe
    device : str
    tell : callable, optional
        Told the share that is done.

    Returns
    -------
    list of layers [(W, b), ...] per network
        W is ``(out, in)``, float32.

    Notes
    -----
    In float32. A network depends on its own seed, and on the others only through rounding.

    Examples
    --------
    >>> points = np.linspace(-1, 1, 64)[:, None]
    >>> layers, _ = train_classifiers(points, (points[:, 0] > 0).astype(int), [(2,), (3,)], num_classes=2,
    ...                               seeds=[0, 1], recipe=Recipe(2))
    >>> [weight.shape for weight, bias in layers]
    [(2, 1), (2, 2)]
    """
    sizes = [(points.shape[1], *hidden, num_classes) for hidden in widths]
    first = [_first_weights(size, seed) for size, seed in zip(sizes, seeds, strict=True)]
    stack = _Stack(first, device)
    inputs = torch.tensor(points, dtype=torch.float32, device=device)
    targets = torch.tensor(labels, device=device)
    optimizer = torch.optim.Adam(stack.parameters, lr=recipe.learning_rate, fused=True)
    order = torch.Generator().manual_seed(seeds[0])
    steps = [-(-len(inputs) // recipe.batch) * epoch for epoch in range(recipe.epochs + 1)]
    for epoch in range(recipe.epochs):
        shuffled = torch.randperm(len(inputs), generator=order)
        for step, rows in enumerate(shuffled.split(recipe.batch)):
            outputs = stack(inputs[rows])
            many = targets[rows].repeat(len(outputs))
            loss = cross_entropy(outputs.flatten(0, 1), many, reduction="sum") / len(rows)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if tell is not None and step % 20 == 0:
                tell((steps[epoch] + step) / steps[-1])
    return stack.layers()


def _first_weights(sizes: Sequence[int], seed: int) -> list[tuple[Tensor, Tensor]]:
    generator = torch.Generator().manual_seed(seed)
    layers = []
    for reads, units in pairwise(sizes):
        reach = 1 / sqrt(reads)
        weight, bias = (torch.rand(*shape, generator=generator) for shape in ((units, reads), (units,)))
        layers.append((reach * (2 * weight - 1), reach * (2 * bias - 1)))
    return layers


class _Stack:
    """Networks side by side."""

    def __init__(self, networks: list[list[tuple[Tensor, Tensor]]], device: str) -> None:
        self.sizes = [[len(bias) for _, bias in layers] for layers in networks]
        self.widest = [max(units) for units in zip(*self.sizes, strict=True)]
        weight, bias = (torch.cat([layers[0][part] for layers in networks]) for part in (0, 1))
        self.parameters: list[Tensor] = [weight.T.contiguous(), bias]
        # Where the units of the first layers are once every network has as many as the widest.
        self.places = torch.cat(
            [torch.arange(units[0]) + index * self.widest[0] for index, units in enumerate(self.sizes)]
        )
        for layer in range(1, len(self.widest)):
            weight = torch.zeros(len(networks), self.widest[layer - 1], self.widest[layer])
            bias = torch.zeros(len(networks), 1, self.widest[layer])
            for index, layers in enumerate(networks):
                units, reads = layers[layer][0].shape
                weight[index, :reads, :units] = layers[layer][0].T
                bias[index, 0, :units] = layers[layer][1]
            self.parameters += [weight, bias]
        self.places = self.places.to(device)
        self.parameters = [parameter.to(device).requires_grad_() for parameter in self.parameters]

    def __call__(self, x: Tensor) -> Tensor:
        """Return outputs (networks, samples, classes)."""
        weight, bias, *later = self.parameters
        found = torch.relu(torch.addmm(bias, x, weight))
        wide = x.new_zeros(len(x), len(self.sizes) * self.widest[0])
        value = wide.index_copy(1, self.places, found).view(len(x), len(self.sizes), -1).transpose(0, 1)
        for layer in range(0, len(later), 2):
            value = torch.baddbmm(later[layer + 1], value, later[layer])
            if layer + 2 < len(later):
                value = torch.relu(value)
        return value

    def layers(self) -> list[Layers]:
        """Return the layers of every network without its padding."""
        weight, bias, *later = (parameter.detach().cpu() for parameter in self.parameters)
        parts = [units[0] for units in self.sizes]
        found: list[Layers] = []
        for index, (mine, shift) in enumerate(zip(weight.T.split(parts), bias.split(parts), strict=True)):
            layers = [(mine.numpy().copy(), shift.numpy().copy())]
            for layer, (reads, units) in enumerate(pairwise(self.sizes[index])):
                matrix, constant = later[2 * layer][index], later[2 * layer + 1][index]
                layers.append((matrix[:reads, :units].T.numpy().copy(), constant[0, :units].numpy().copy()))
            found.append(layers)
        return found
