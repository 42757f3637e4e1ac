"""How networks are trained, and training many small fully connected classifiers at once, as one stack."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Int

from reluscope_studies import stacked


@dataclass(frozen=True)
class Training:
    """How a network is trained.

    Parameters
    ----------
    optimizer : {"RMSprop", "Adam", "SGD", "AdamW"}
        RMSprop as in the example ``cifar10_cnn`` of Keras: after k steps the rate is divided by ``1 + 1e-6 k``. Adam
        and AdamW with PyTorch's other constants.
    learning_rate : float
    epochs, batch : int
    momentum, weight_decay : float
        Of SGD.
    """

    optimizer: Literal["RMSprop", "Adam", "SGD", "AdamW"]
    learning_rate: float
    epochs: int
    batch: int
    momentum: float = 0.0
    weight_decay: float = 0.0

    def describe(self) -> str:
        """Return one phrase."""
        said = f"{self.epochs} epochs of {self.optimizer} at rate {self.learning_rate:g} in batches of {self.batch}"
        if self.momentum or self.weight_decay:
            said += f", momentum {self.momentum:g}, weight decay {self.weight_decay:g}"
        return said


def train_classifiers(
    points: Float[np.ndarray, "s n"],
    labels: Int[np.ndarray, " s"],
    widths: Sequence[tuple[int, ...]],
    *,
    num_classes: int,
    seeds: Sequence[int],
    training: Training,
    device: str = "cpu",
    progress: bool | Callable[[float], None] = False,
) -> list[stacked.Layers]:
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
    training : Training
        By Adam, AdamW or SGD, without momentum and weight decay.
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
    ...                               seeds=[0, 1], training=Training("Adam", 2e-3, 2, 128))
    >>> [weight.shape for weight, bias in layers]
    [(2, 1), (2, 2)]
    """
    first = stacked.initialize(widths, num_inputs=points.shape[1], num_outputs=num_classes, seeds=seeds, device=device)
    done = stacked.train(
        first,
        points,
        np.eye(num_classes)[labels],
        loss="cross_entropy",
        optimizer=partial(getattr(torch.optim, training.optimizer), lr=training.learning_rate, fused=True),
        epochs=training.epochs,
        batch=training.batch,
        order=seeds[0],
        progress=progress,
    )
    return [done.stack.layers(index) for index in range(len(done.stack))]
