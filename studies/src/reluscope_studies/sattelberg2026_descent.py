"""Stochastic gradient descent on the binary cross-entropy of a small dense ReLU network with one logit.

Written out in NumPy: a step on ten points and some hundred weights takes less than PyTorch needs to begin one.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from jaxtyping import Float, Int

import reluscope as rs

Layers = rs.stacked.Layers


def descend(
    points: Float[np.ndarray, "s n"],
    labels: Int[np.ndarray, " s"],
    widths: Sequence[int],
    *,
    epochs: int,
    rate: float,
    batch: int,
    seed: int,
) -> Iterator[Layers]:
    """Train a network, and yield its layers before the first step and after every step.

    Parameters
    ----------
    points : (s, n) float64
    labels : (s,) int
        0 or 1.
    widths : sequence of int
        Units of the hidden layers.
    epochs, batch : int
        Passes over the points in random order, and points per step.
    rate : float
        Of plain gradient descent.
    seed : int
        Of the order, and of the first weights: uniform in ±1/sqrt(inputs of the layer), biases too, as in PyTorch.

    Yields
    ------
    layers [(W, b), ...]
        W is ``(out, in)``; the arrays change with the next step.

    Examples
    --------
    >>> points, labels = np.array([[0.0], [1.0]]), np.array([0, 1])
    >>> [len(layers) for layers in descend(points, labels, (2,), epochs=1, rate=0.1, batch=1, seed=0)]
    [2, 2, 2]
    """
    rng = np.random.default_rng(seed)
    layers = []
    for reads, units in pairwise((points.shape[1], *widths, 1)):
        reach = 1 / np.sqrt(reads)
        layers.append((rng.uniform(-reach, reach, (units, reads)), rng.uniform(-reach, reach, units)))
    yield layers
    for _ in range(epochs):
        order = rng.permutation(len(points))
        for start in range(0, len(points), batch):
            rows = order[start : start + batch]
            for (weight, bias), (slope, shift) in zip(
                layers, gradients(layers, points[rows], labels[rows]), strict=True
            ):
                weight -= rate * slope
                bias -= rate * shift
            yield layers


def gradients(layers: Layers, points: Float[np.ndarray, "s n"], labels: Int[np.ndarray, " s"]) -> Layers:
    """Return the gradient of the mean binary cross-entropy by every weight and bias, as layers."""
    values = [points]
    for weight, bias in layers[:-1]:
        values.append(np.maximum(values[-1] @ weight.T + bias, 0.0))
    weight, bias = layers[-1]
    logits = (values[-1] @ weight.T + bias)[:, 0]
    # The derivative of the loss by the logit; tanh does not overflow.
    back = ((0.5 + 0.5 * np.tanh(logits / 2) - labels) / len(points))[:, None]
    found: Layers = []
    for (weight, _), value in zip(reversed(layers), reversed(values), strict=True):
        found.append((back.T @ value, back.sum(axis=0)))
        back = (back @ weight) * (value > 0)
    return found[::-1]
