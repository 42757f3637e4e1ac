"""What a training makes small: cross-entropy of classes, or squared distances to target values."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from reluscope.analyses.classification.class_predictions import num_classes
from reluscope.datasets.dataset import Dataset
from reluscope.errors import InputError
from reluscope.networks.network import Network


@dataclass(frozen=True, eq=False)
class Objective:
    """Loss and accuracy of outputs ``(k, m)`` at rows of the data."""

    truth: Tensor  # classes (s,), or values (s, m)
    scale: float  # that squared distances are divided by

    @property
    def is_classification(self) -> bool:
        """Whether the largest output is a class."""
        return self.truth.ndim == 1

    def loss(self, outputs: Tensor, rows: Tensor) -> Tensor:
        """Return the mean loss."""
        truth = self.truth[rows]
        if not self.is_classification:
            return functional.mse_loss(outputs, truth.to(outputs.dtype)) / self.scale
        if outputs.shape[1] == 1:
            return functional.binary_cross_entropy_with_logits(outputs[:, 0], truth.to(outputs.dtype))
        return functional.cross_entropy(outputs, truth)

    def accuracy(self, outputs: Tensor, rows: Tensor) -> float | None:
        """Return the share of rows whose class is right; None for values."""
        if not self.is_classification or not len(rows):
            return None
        classes = (outputs[:, 0] > 0).long() if outputs.shape[1] == 1 else outputs.argmax(dim=1)
        return float((classes == self.truth[rows]).double().mean())


def outputs_for(data: Dataset, most_classes: int) -> tuple[int, bool]:
    """Return how many outputs a model for data needs, and whether they stand for classes."""
    assert data.targets is not None
    classes = 0 if data.labels is None else int(data.labels.max()) + 1
    # Whole numbers without end are values, and no classes.
    return (max(2, classes), True) if 0 < classes <= most_classes else (data.targets.shape[1], False)


def objective_of(network: Network, data: Dataset) -> Objective:
    """Return the objective of a network on data; InputError if the labels fit neither its classes nor its outputs."""
    assert data.targets is not None
    labels, targets = data.labels, data.targets
    if labels is not None and int(labels.max()) < num_classes(network):
        return Objective(torch.as_tensor(labels.copy()), 1.0)
    if targets.shape[1] != network.num_outputs:
        has = "columns of targets" if labels is None else "classes"
        count = targets.shape[1] if labels is None else int(labels.max()) + 1
        raise InputError(
            f"the model has {network.num_outputs:,} output{'s' * (network.num_outputs != 1)}, and {data.name} has "
            f"{count:,} {has}: give a model with an output for each"
        )
    return Objective(torch.as_tensor(targets.copy()), float(targets.var(axis=0).mean()) or 1.0)
