"""The networks of the paper: plain, with batch norm, and with dropout; trained with early stopping, and kept."""

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from itertools import pairwise, product

import numpy as np
import torch
from torch import nn

import reluscope as rs
from reluscope.studies import Record, Setting
from reluscope_studies.first_weights import glorot
from reluscope_studies.fitting import Fit, fit_classifier
from reluscope_studies.labelled import Labelled
from reluscope_studies.records import plain_findings

KINDS = ("vanilla", "batch norm", "dropout")
# The paper names a rate for its figures in the plane only.
DROPOUT = 0.2


@dataclass(frozen=True)
class Variant:
    """One of the networks that are compared."""

    kind: str
    rate: float
    replicate: int = 0

    @property
    def name(self) -> str:
        """Of its records."""
        return f"{self.kind.replace(' ', '-')}-{self.rate:g}-{self.replicate}"

    @property
    def label(self) -> str:
        """What a reader calls it, whatever the replicate."""
        return f"{self.kind}, rate {self.rate:g}"


@dataclass(frozen=True)
class Architecture:
    """Layers of a classifier of images or flat points.

    Parameters
    ----------
    convolutions : tuple of (filters, stride)
        Layers of 3 x 3 filters without padding, for images only.
    hidden : tuple of int
        Units of the dense hidden layers.
    """

    hidden: tuple[int, ...]
    convolutions: tuple[tuple[int, int], ...] = ()

    def build(self, shape: tuple[int, ...], num_classes: int, kind: str, seed: int) -> nn.Sequential:
        """Return the untrained network: weights after Glorot and Bengio (uniform), biases zero."""
        with torch.random.fork_rng(devices=[]):  # layers draw first weights that are thrown away
            model = self._layers(shape, num_classes, kind)
        return glorot(model, seed=seed)

    def _layers(self, shape: tuple[int, ...], num_classes: int, kind: str) -> nn.Sequential:
        layers: OrderedDict[str, nn.Module] = OrderedDict()

        def add(layer: nn.Module, norm: nn.Module) -> None:
            """Put a layer and its gate, whose names readers of pictures and tables see."""
            number = sum(isinstance(one, nn.ReLU) for one in layers.values()) + 1
            layers[f"affine{number}"] = layer
            if kind == "batch norm":
                layers[f"norm{number}"] = norm
            layers[f"relu{number}"] = nn.ReLU()
            if kind == "dropout":
                layers[f"dropout{number}"] = nn.Dropout(DROPOUT)

        for channels, (filters, stride) in pairwise(((shape[0], 1), *self.convolutions)):
            add(nn.Conv2d(channels[0], filters, 3, stride), nn.BatchNorm2d(filters))
        layers["flatten"] = nn.Flatten()
        size = nn.Sequential(layers).eval()(torch.zeros(1, *shape)).shape[1]
        for reads, units in pairwise((size, *self.hidden)):
            add(nn.Linear(reads, units), nn.BatchNorm1d(units))
        layers["logits"] = nn.Linear((size, *self.hidden)[-1], num_classes)
        return nn.Sequential(layers)

    def describe(self) -> str:
        """Return one phrase."""
        parts = [f"{filters} filters of 3 x 3 at stride {stride}" for filters, stride in self.convolutions]
        widths = set(self.hidden)
        is_even = len(widths) == 1 and len(self.hidden) > 1
        dense = f"{len(self.hidden)} x {max(widths)}" if is_even else " and ".join(map(str, self.hidden))
        return ", ".join([*parts, f"{dense} dense units"])


@dataclass(frozen=True, eq=False)
class Trained:
    """A network after training."""

    variant: Variant
    network: rs.Network
    accuracy: rs.Finding
    epochs: int


@dataclass(frozen=True, eq=False)
class Workshop:
    """Trains networks, or takes them from the records of a setting.

    Parameters
    ----------
    setting : Setting
    architecture : Architecture
    training, testing : Labelled
        Points as networks take them.
    fit : Fit
        Its rate is that of the variant.
    """

    setting: Setting
    architecture: Architecture
    training: Labelled
    testing: Labelled
    fit: dict[float, Fit]
    networks: dict[str, Trained] = field(default_factory=dict)

    def trained(self, variant: Variant) -> Trained:
        """Return a network, trained now if it is not in the records."""
        if variant.name not in self.networks:
            record = self.setting.records.get(variant.name) or self._train(variant)
            state = {name: torch.from_numpy(value.copy()) for name, value in record.arrays.items()}
            network = self._network(self._built(variant), state)
            self.networks[variant.name] = Trained(
                variant, network, rs.Finding.from_dict(record.plain["accuracy"]), record.plain["epochs"]
            )
        return self.networks[variant.name]

    def of_each(self, rate: float, replicates: int) -> tuple[list[Trained], bool]:
        """Return so many networks of each kind, or those that there are on Ctrl-C, and whether it came."""
        found = []
        try:
            for replicate, kind in product(range(replicates), KINDS):
                found.append(self.trained(Variant(kind, rate, replicate)))
        except KeyboardInterrupt:
            return found, True
        return found, False

    def kept(self, variant: Variant) -> Trained | None:
        """Return a network that is trained already."""
        return self.trained(variant) if variant.name in self.setting.records else None

    def _train(self, variant: Variant) -> Record:
        setting, training, testing = self.setting, self.training, self.testing
        model, fit = self._built(variant), self.fit[variant.rate]

        def on_epoch(epoch: int, loss: float) -> None:
            setting.progress(f"Training {variant.name}: epoch {epoch}, held-out loss {loss:.3f}")

        setting.progress(f"Training {variant.name}")
        points = training.points.reshape(len(training), *training.shape)
        seed = _seed(setting.seed, variant)
        epochs = fit_classifier(
            model, points, training.labels, fit=fit, seed=seed, device=setting.device, on_epoch=on_epoch
        )
        state = model.state_dict()
        found = rs.classification.accuracy(self._network(model, state), testing.points, testing.labels)
        plain = {"epochs": epochs, "accuracy": plain_findings({"": found})[""]}
        record = Record(plain, {name: value.numpy() for name, value in state.items()})
        setting.records[variant.name] = record
        return record

    def _built(self, variant: Variant) -> nn.Sequential:
        number = int(max(self.training.labels.max(), self.testing.labels.max())) + 1
        return self.architecture.build(self.training.shape, number, variant.kind, _seed(self.setting.seed, variant))

    def _network(self, model: nn.Sequential, state: dict[str, torch.Tensor]) -> rs.Network:
        model.load_state_dict(state)
        return rs.load(model.eval(), input_shape=self.training.shape).to(self.setting.device)


def centred(data: Labelled) -> Labelled:
    """Return data scaled from [0, 1] to [-1, 1], as the paper has them."""
    return replace(data, points=2 * data.points - 1)


def _seed(seed: int, variant: Variant) -> int:
    """Networks of one replicate begin with the same weights, whatever their kind and rate."""
    return int(np.random.default_rng([seed, variant.replicate]).integers(2**31))
