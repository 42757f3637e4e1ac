"""Training one PyTorch classifier until held-out samples say that it gets no better (early stopping)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import nn
from torch.nn.functional import cross_entropy

from reluscope_studies.epochs import epochs

MEASURED_AT_ONCE = 4096


@dataclass(frozen=True)
class Fit:
    """How one network is trained.

    Parameters
    ----------
    learning_rate : float
        Of Adam with its usual other constants.
    batch : int
        Samples per step.
    most_epochs : int
        Passes over the samples that are trained on, at most.
    patience : int
        Epochs without a smaller held-out loss after which training ends.
    held_out : float
        Share of the samples, drawn at random, that are held out.
    """

    learning_rate: float
    batch: int = 256
    most_epochs: int = 100
    patience: int = 5
    held_out: float = 1 / 12

    def describe(self, rates: Sequence[float] = ()) -> str:
        """Return one phrase, for several learning rates if they are given."""
        rate = " and ".join(f"{rate:g}" for rate in rates or (self.learning_rate,))
        return (
            f"Adam at rate {rate} in batches of {self.batch}, until the loss on {self.held_out:.0%} of "
            f"the training samples, held out, was not smaller for {self.patience} epochs (at most {self.most_epochs}); "
            "the weights with the smallest are kept"
        )


def fit_classifier(
    model: nn.Module,
    points: Float[np.ndarray, "s ..."],
    labels: Int[np.ndarray, " s"],
    *,
    fit: Fit,
    seed: int,
    device: str = "cpu",
    on_epoch: Callable[[int, float], None] | None = None,
) -> int:
    """Train a classifier in place with cross-entropy, in float32, and leave it in evaluation mode on the CPU.

    Parameters
    ----------
    model : nn.Module
        Takes points and returns one logit per class; its first weights are those it comes with.
    points : (s, ...) array
        In the shape that the model takes.
    labels : (s,) int
    fit : Fit
    seed : int
        Of what is held out, the order of the samples, and the model's own random numbers (dropout).
    device : str
        Where it is trained.
    on_epoch : callable, optional
        Told after every epoch its number, and the held-out loss.

    Returns
    -------
    int
        Epochs up to the weights that were kept.

    Notes
    -----
    The global generator of PyTorch, which dropout draws from, is put back.

    Examples
    --------
    >>> points = np.linspace(-1, 1, 96)[:, None]
    >>> model = nn.Sequential(nn.Linear(1, 4), nn.ReLU(), nn.Linear(4, 2))
    >>> fit_classifier(model, points, (points[:, 0] > 0).astype(int), fit=Fit(1e-2, most_epochs=2), seed=0) <= 2
    True
    """
    order = np.random.default_rng(seed).permutation(len(points))
    number = min(len(points) - 1, max(1, round(fit.held_out * len(points))))
    inputs = torch.tensor(points, dtype=torch.float32, device=device)
    targets = torch.tensor(labels, dtype=torch.int64, device=device)
    chosen = torch.from_numpy(order).to(device)
    held, own = chosen[:number], chosen[number:]
    model.to(device)
    passes = epochs(
        model,
        inputs[own],
        targets[own],
        loss=cross_entropy,
        optimizer=torch.optim.Adam(model.parameters(), lr=fit.learning_rate, fused=True),
        batch=fit.batch,
        order=torch.default_generator,
        least=2,  # batch norm has no variance of one sample
    )
    best, kept, epoch_of_best = float("inf"), _copied(model), 0
    with torch.random.fork_rng(devices=[device] if torch.device(device).type == "cuda" else []):
        torch.manual_seed(seed)
        for epoch, _ in zip(range(1, fit.most_epochs + 1), passes, strict=False):
            loss = _loss(model, inputs, targets, held)
            if on_epoch is not None:
                on_epoch(epoch, loss)
            if loss < best:
                best, kept, epoch_of_best = loss, _copied(model), epoch
            if epoch - epoch_of_best >= fit.patience:
                break
    model.load_state_dict(kept)
    model.to("cpu").eval()
    return epoch_of_best


def _copied(model: nn.Module) -> dict[str, torch.Tensor]:
    return {name: value.detach().clone() for name, value in model.state_dict().items()}


@torch.no_grad()
def _loss(model: nn.Module, inputs: torch.Tensor, targets: torch.Tensor, rows: torch.Tensor) -> float:
    model.eval()
    total = sum(
        cross_entropy(model(inputs[some]), targets[some], reduction="sum").item()
        for some in rows.split(MEASURED_AT_ONCE)
    )
    return total / len(rows)
