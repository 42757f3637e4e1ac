"""The model of a lesson: layers of equal width between units of the data and units of the targets."""

from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Float
from torch import nn

from reluscope.explorer.learning.lesson import Lesson

ACTIVATIONS = {
    "relu": nn.ReLU,
    "leaky_relu": lambda: nn.LeakyReLU(0.1),
    "hardtanh": nn.Hardtanh,
    "relu6": nn.ReLU6,
}


def layered_model(
    lesson: Lesson, points: Float[np.ndarray, "s n"], num_outputs: int, targets: Float[np.ndarray, "s t"] | None
) -> nn.Sequential:
    """Return the untrained model of a lesson; weights are drawn from PyTorch's generator.

    Inputs are standardized by the means and deviations of the points; outputs are brought to the units of `targets`
    where there are any.
    """
    model = nn.Sequential()
    mean, deviation = _moments(points)
    model.add_module("standardized", _rescaled(1 / deviation, -mean / deviation))
    sizes = [points.shape[1], *[lesson.width] * lesson.hidden]
    for number, (fan_in, fan_out) in enumerate(pairwise(sizes), start=1):
        # The bias of batch normalization stands for that of the layer.
        model.add_module(f"linear{number}", nn.Linear(fan_in, fan_out, bias=not lesson.batch_norm))
        if lesson.batch_norm:
            model.add_module(f"norm{number}", nn.BatchNorm1d(fan_out))
        model.add_module(f"layer{number}", ACTIVATIONS[lesson.activation]())
        if lesson.dropout > 0:
            model.add_module(f"dropout{number}", nn.Dropout(lesson.dropout))
    model.add_module("output", nn.Linear(sizes[-1], num_outputs))
    if targets is not None:
        mean, deviation = _moments(targets)
        model.add_module("rescaled", _rescaled(deviation, mean))
    return model


def _rescaled(factor: Float[np.ndarray, " n"], shift: Float[np.ndarray, " n"]) -> nn.Linear:
    """Return ``factor x + shift``, which is not trained."""
    layer = nn.Linear(len(factor), len(factor)).requires_grad_(False)
    layer.weight.copy_(torch.diag(torch.as_tensor(factor)))
    layer.bias.copy_(torch.as_tensor(shift))
    return layer


def _moments(rows: Float[np.ndarray, "s n"]) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """Return means and standard deviations of columns; constant columns have deviation 1."""
    deviation = rows.std(axis=0)
    return rows.mean(axis=0), np.where(deviation > 0, deviation, 1.0)
