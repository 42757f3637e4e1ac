"""Training many small fully connected classifiers at once, as one stack."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from jaxtyping import Float, Int

import reluscope as rs


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
    progress: bool | Callable[[float], None] = False,
) -> list[rs.stacked.Layers]:
    """Train one network for every entry of ``widths``, with cross-entropy, in float32.

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
        One per network, for its first weights, which are PyTorch's usual ones. The first seed also orders the samples,
        for all networks alike.
    recipe : Recipe
    device : str
    progress : bool or callable
        Whether to show a bar, or a function that is told the share that is done.

    Returns
    -------
    list of layers [(W, b), ...] per network
        W is ``(out, in)``, float32.

    Examples
    --------
    >>> points = np.linspace(-1, 1, 64)[:, None]
    >>> layers, _ = train_classifiers(points, (points[:, 0] > 0).astype(int), [(2,), (3,)], num_classes=2,
    ...                               seeds=[0, 1], recipe=Recipe(2))
    >>> [weight.shape for weight, bias in layers]
    [(2, 1), (2, 2)]
    """
    first = rs.stacked.initialize(
        widths, num_inputs=points.shape[1], num_outputs=num_classes, seeds=seeds, device=device
    )
    done = rs.stacked.train(
        first,
        points,
        np.eye(num_classes)[labels],
        loss="cross_entropy",
        optimizer=partial(torch.optim.Adam, lr=recipe.learning_rate, fused=True),
        epochs=recipe.epochs,
        batch=recipe.batch,
        order=seeds[0],
        progress=progress,
    )
    return [done.stack.layers(index) for index in range(len(done.stack))]
