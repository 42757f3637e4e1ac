"""Training classifiers of images for a number of epochs, once: trained ones are kept in the records of a study."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import nn
from torch.nn.functional import cross_entropy

import reluscope as rs
from reluscope.studies import Record, Setting
from reluscope_studies.epochs import epochs
from reluscope_studies.labelled import Labelled
from reluscope_studies.records import plain_findings
from reluscope_studies.training import Training


class Architecture(Protocol):
    """A network to train: its name, and its first weights by a seed."""

    @property
    def name(self) -> str:
        """Which of the records is its own."""
        ...

    def build(self, shape: tuple[int, ...], num_classes: int, seed: int) -> nn.Sequential:
        """Return the untrained network."""
        ...


def trained(
    setting: Setting,
    architecture: Architecture,
    how: Training,
    training: Labelled,
    testing: Labelled,
    *,
    record: str | None = None,
) -> tuple[rs.Network, rs.Finding]:
    """Return a network, trained now if it is not in the records, and its accuracy on the test samples.

    Parameters
    ----------
    setting : Setting
    architecture : Architecture
    how : Training
    training, testing : Labelled
    record : str, optional
        Name of the record; by default that of the architecture.
    """
    name = record or architecture.name
    number = int(max(training.labels.max(), testing.labels.max())) + 1
    model = architecture.build(training.shape, number, setting.seed)
    kept = setting.records.get(name)
    if kept is None:
        setting.progress(f"Training {name}")

        def on_epoch(epoch: int, loss: float) -> None:
            setting.progress(f"Training {name}: epoch {epoch}, loss {loss:.3f}")

        points = training.points.reshape(len(training), *training.shape)
        train(model, points, training.labels, training=how, seed=setting.seed, device=setting.device, on_epoch=on_epoch)
        network = rs.load(model, input_shape=training.shape).to(setting.device)
        found = rs.classification.accuracy(network, testing.points, testing.labels)
        arrays = {name: value.numpy() for name, value in model.state_dict().items()}
        setting.records[name] = Record({"accuracy": plain_findings({"": found})[""]}, arrays)
        return network, found
    model.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in kept.arrays.items()})
    network = rs.load(model.eval(), input_shape=training.shape).to(setting.device)
    return network, rs.Finding.from_dict(kept.plain["accuracy"])


def train(
    model: nn.Module,
    points: Float[np.ndarray, "s ..."],
    labels: Int[np.ndarray, " s"],
    *,
    training: Training,
    seed: int,
    device: str = "cpu",
    on_epoch: Callable[[int, float], None] | None = None,
) -> None:
    """Train a classifier in place with cross-entropy, in float32, and leave it in evaluation mode on the CPU.

    Parameters
    ----------
    model : nn.Module
    points : (s, *shape) float64
    labels : (s,) int
    training : Training
    seed : int
        Of the order of the samples.
    device : str
    on_epoch : callable, optional
        Told after every epoch its number and the mean loss.
    """
    inputs = torch.tensor(points, dtype=torch.float32, device=device)
    targets = torch.tensor(labels, dtype=torch.int64, device=device)
    model.to(device)
    optimizer, decay = _optimizer(model, training)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + decay * step))
    passes = epochs(
        model,
        inputs,
        targets,
        loss=cross_entropy,
        optimizer=optimizer,
        batch=training.batch,
        order=torch.Generator().manual_seed(seed),
        schedule=schedule,
    )
    for epoch, loss in zip(range(1, training.epochs + 1), passes, strict=False):
        if on_epoch is not None:
            on_epoch(epoch, loss)
    model.to("cpu").eval()


def _optimizer(model: nn.Module, how: Training) -> tuple[torch.optim.Optimizer, float]:
    """Return the optimiser, and by how much its rate decays with each step."""
    rate, parameters = how.learning_rate, model.parameters()
    if how.optimizer == "RMSprop":
        return torch.optim.RMSprop(parameters, lr=rate, alpha=0.9, eps=1e-7), 1e-6
    if how.optimizer == "SGD":
        return torch.optim.SGD(parameters, lr=rate, momentum=how.momentum, weight_decay=how.weight_decay), 0.0
    return (torch.optim.Adam if how.optimizer == "Adam" else torch.optim.AdamW)(parameters, lr=rate), 0.0
