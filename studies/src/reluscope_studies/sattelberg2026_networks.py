"""The dissertation's networks for images (sections 6.1 and 7.1): linear, dense, simple and complex convolutional ones.

Convolutions have 3 x 3 kernels, pooling takes the largest of 2 x 2 pixels: before the gate in the simple network, after
it in the complex one. The dissertation names no padding; here a convolution keeps the size of the image.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import torch
from torch import nn

import reluscope as rs
from reluscope.studies import Data, Picture, StatementVerdict, Table
from reluscope_studies import plots, printed
from reluscope_studies.classifiers import Training
from reluscope_studies.verdicts import not_comparable, of_cases

Kind = Literal["linear", "dense", "simple", "complex"]
Optimizer = Literal["SGD", "AdamW"]

OPTIMIZERS: tuple[Optimizer, ...] = ("SGD", "AdamW")
# Accuracies on test images in %, by SGD and by AdamW (Tables 6.1 and 7.1).
_COLUMNS: Mapping[Data, int] = {"mnist": 1, "cifar10": 3}
ACCURACIES: Mapping[Data, Mapping[str, tuple[str, str]]] = {
    name: {row[0]: (row[first], row[first + 1]) for row in printed.rows("sattelberg2026", "Table 6.1")}
    for name, first in _COLUMNS.items()
}
PRETRAINED = ("resnet18", "resnet152", "inceptionv3")
# Within so many points of per cent a printed accuracy is confirmed: the order of samples and the resizing differ.
NEAR = 1.0
# Networks that are trained for less are like the dissertation's if all accuracies are within so many points.
COMPARABLE = 10.0


@dataclass(frozen=True)
class Model:
    """A network of the table: what it is made of, which of two it is, and how it is trained.

    Parameters
    ----------
    kind : {"linear", "dense", "simple", "complex"}
    optimizer : {"SGD", "AdamW"}
    number : int
        1 or 2, of networks that differ by their first weights; 0 where there is one only.
    hidden, filters : int
        Units of the hidden layer, and filters of every convolution.
    """

    kind: Kind
    optimizer: Optimizer
    number: int
    hidden: int
    filters: int

    @property
    def row(self) -> str:
        """Its row in the dissertation's Table 6.1."""
        return f"{self.kind} {self.number}" if self.number else self.kind

    @property
    def name(self) -> str:
        """Row and optimiser."""
        return f"{self.row} {self.optimizer}"

    def build(self, shape: tuple[int, ...], num_classes: int, seed: int) -> nn.Sequential:
        """Return the untrained network, with PyTorch's first weights."""
        layers: OrderedDict[str, nn.Module] = OrderedDict()
        channels = shape[0]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(10 * seed + self.number)
            for number in range(1, {"simple": 2, "complex": 3}.get(self.kind, 0) + 1):
                gates = [(f"relu{number}", nn.ReLU()), (f"pool{number}", nn.MaxPool2d(2))]
                layers[f"conv{number}"] = nn.Conv2d(channels, self.filters, 3, padding=1)
                layers |= gates if self.kind == "complex" else gates[::-1]
                channels = self.filters
            layers["flatten"] = nn.Flatten()
            size = nn.Sequential(layers)(torch.zeros(1, *shape)).shape[1]
            if self.kind == "dense":
                layers["dense1"], layers["relu1"] = nn.Linear(size, self.hidden), nn.ReLU()
                size = self.hidden
            layers["logits"] = nn.Linear(size, num_classes)
            return nn.Sequential(layers)


def models(hidden: int, filters: int) -> tuple[Model, ...]:
    """Return the networks of Table 6.1 that need no pretrained ones, in its order, by both optimisers."""
    kinds: Sequence[tuple[Kind, int]] = [
        ("linear", 0), ("dense", 1), ("dense", 2), ("simple", 1), ("simple", 2), ("complex", 1), ("complex", 2),
    ]  # fmt: skip
    return tuple(Model(kind, optimizer, number, hidden, filters) for kind, number in kinds for optimizer in OPTIMIZERS)


@dataclass(frozen=True)
class Plan:
    """How long the networks of the table are trained, and how large they are.

    Parameters
    ----------
    epochs, hidden, filters : int
        Of training; units of the dense networks' layer; filters of every convolution.
    """

    epochs: int
    hidden: int
    filters: int


def training_of(model: Model, epochs: int) -> Training:
    """Return how a network is trained: SGD as printed, AdamW by default constants, batches of 32."""
    if model.optimizer == "SGD":
        return Training("SGD", 0.01, epochs, 32, momentum=0.5, weight_decay=0.01)
    return Training("AdamW", 1e-3, epochs, 32)


def accuracy_table(data: Data, found: Mapping[Model, rs.Finding], printed_as: str, *, with_paper: bool = True) -> Table:
    """Return accuracies, beside those of the dissertation, which are the ``printed_as``, where they can be compared."""
    ours = {model.name: f"{100 * float(accuracy):.2f}" for model, accuracy in found.items()}
    papers = ACCURACIES[data] if with_paper else {}
    pretrained = PRETRAINED if with_paper else ()
    rows = tuple(
        (row, *papers.get(row, ()), *(ours.get(f"{row} {optimizer}", "-") for optimizer in OPTIMIZERS))
        for row in dict.fromkeys([*(model.row for model in found), *pretrained])
    )
    columns = ("network", *(("paper, SGD", "paper, AdamW") if with_paper else ()), "SGD", "AdamW")
    caption = f"Accuracies on test images in % ({printed_as}; pretrained networks are in ch6/pretrained)."
    return Table(columns, rows, caption)


def with_accuracies(
    verdicts: Sequence[StatementVerdict],
    data: Data,
    accuracies: Mapping[Model, rs.Finding],
    place: str,
    *,
    with_paper: bool,
    is_full: bool,
) -> tuple[StatementVerdict, ...]:
    """Return the verdicts of the accuracies and the given ones.

    Networks on other data decide nothing, nor do those that are trained for less and whose accuracies are farther than
    ten points from the dissertation's.

    Parameters
    ----------
    verdicts : sequence of StatementVerdict
    data : {"mnist", "cifar10"}
    accuracies : mapping of models to Finding
    place : str
        The table of accuracies.
    with_paper : bool
        Whether networks and images are the dissertation's.
    is_full : bool
        Whether the networks are trained as long as the dissertation's.
    """
    if not with_paper:
        return not_comparable(verdicts)
    found = (*accuracy_verdicts(data, accuracies, place, is_full=is_full), *verdicts)
    farthest = max(abs(100 * float(accuracy) - _printed(data, one)) for one, accuracy in accuracies.items())
    return found if is_full or farthest <= COMPARABLE else not_comparable(found)


def accuracy_verdicts(
    data: Data, found: Mapping[Model, rs.Finding], place: str, *, is_full: bool
) -> list[StatementVerdict]:
    """Return what becomes of the printed accuracies, within a point, and of their order by kinds of networks.

    Accuracies of networks that are not trained as long as the dissertation's (``is_full``) are not comparable.
    """
    said = {one: _printed(data, one) for one in found}
    ours = {one: 100 * float(accuracy) for one, accuracy in found.items()}
    near = [abs(ours[one] - said[one]) <= NEAR for one in found]
    farthest = max(found, key=lambda one: abs(ours[one] - said[one]))
    levels = {
        way: {
            name: [ours[one] for one in found if one.kind in kinds and one.optimizer == way]
            for name, kinds in (
                ("linear", ("linear",)),
                ("dense", ("dense",)),
                ("convolutional", ("simple", "complex")),
            )
        }
        for way in OPTIMIZERS
    }
    kinds = {way: [name for name, values in of_kind.items() if values] for way, of_kind in levels.items()}
    steps = [(levels[way][low], levels[way][high]) for way in OPTIMIZERS for low, high in pairwise(kinds[way])]
    accuracies = of_cases(
        "accuracies on test images",
        place,
        f"{len(near)} numbers",
        f"{sum(near)} within {NEAR:g} point; the farthest is {farthest.name}, {ours[farthest]:.1f} for "
        f"{said[farthest]:.1f} %",
        near,
    )
    return [
        *((accuracies,) if is_full else not_comparable((accuracies,))),
        of_cases(
            "dense networks do better than linear ones, convolutional ones better than dense ones",
            place,
            "for both optimisers",
            "; ".join(
                f"by {way}: " + ", ".join(f"{name} {_range(levels[way][name])} %" for name in kinds[way])
                for way in OPTIMIZERS
            ),
            (max(low) < min(high) for low, high in steps),
        ),
    ]


def _printed(data: Data, one: Model) -> float:
    """Return the dissertation's accuracy in %."""
    return float(ACCURACIES[data][one.row][OPTIMIZERS.index(one.optimizer)])


def _range(values: Sequence[float]) -> str:
    return " to ".join(dict.fromkeys(f"{one:.1f}" for one in (min(values), max(values))))


def accuracy_picture(data: Data, found: Mapping[Model, rs.Finding], name: str) -> Picture:
    """Return the same accuracies, printed and ours, as a picture."""
    models_of = {optimizer: {one.row: one for one in found if one.optimizer == optimizer} for optimizer in OPTIMIZERS}
    rows = [(row, optimizer) for row in ACCURACIES[data] for optimizer in OPTIMIZERS if row in models_of[optimizer]]
    printed_ones = np.array([float(ACCURACIES[data][row][OPTIMIZERS.index(optimizer)]) for row, optimizer in rows])
    ours = np.array([100 * float(found[models_of[optimizer][row]]) for row, optimizer in rows])
    names = [f"{row}, {optimizer}" for row, optimizer in rows]
    figure = plots.counts_beside(printed_ones, {"here": ours}, rows=names, label="accuracy on test images, %")
    return Picture(f"{name}-accuracies", figure, "Accuracies on test images, the dissertation's and ours.")
