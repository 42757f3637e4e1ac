"""Rows of Tables 6.1 and 7.1 of which only the last layer is trained: ResNet-18, ResNet-152 and Inception-v3.

Weights are those of torchvision, as files of its state dictionaries in the folder that the environment variable
RELUSCOPE_WEIGHTS names: resnet18.pth, resnet152.pth and inceptionv3.pth. Where one is missing the network has random
weights, and statistics of its batch normalisation from the training images: then its row says what the architecture
gives to a linear layer without any training, and stands beside no printed number.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import nn
from torch.nn.functional import interpolate

import reluscope as rs
from reluscope.studies import Change, Data, Outcome, Record, Setting, Size, StatementVerdict, Table
from reluscope_studies import printed
from reluscope_studies.classifiers import train
from reluscope_studies.inception import InceptionV3
from reluscope_studies.interruption import Interruption
from reluscope_studies.labelled import Labelled, labelled_data, stands_beside
from reluscope_studies.residual_networks import ResNet, resnet
from reluscope_studies.sattelberg2026_ch6._pretrained_jacobians import asked_of, whole_network
from reluscope_studies.sattelberg2026_images import SHAPE, drawn, prepared
from reluscope_studies.sattelberg2026_networks import ACCURACIES, NEAR, OPTIMIZERS, PRETRAINED, Model, training_of
from reluscope_studies.sizes import ToTrainOn, planned

WEIGHTS = "RELUSCOPE_WEIGHTS"
CHANGES: dict[Change, str] = {"epochs": "epochs", "points": ToTrainOn("most")}
BLOCK, FEWEST_ASKED = 50, 10


@dataclass(frozen=True)
class Plan:
    """How large the networks and their images are.

    Parameters
    ----------
    width : float
        Of the paper's numbers of channels.
    sides : mapping
        Pixels of the images, by the network.
    most : int or None
        Samples of each part; None for all.
    epochs : int
        Of the last layer.
    per_asked : int
        Of so many samples of each part Jacobians are taken at one, at ten at least.
    """

    width: float
    sides: Mapping[str, int]
    most: int | None
    epochs: int
    per_asked: int

    def asked(self, part: Labelled, seed: int) -> Labelled:
        """Return the samples at which Jacobians are taken."""
        return drawn(part, max(FEWEST_ASKED, len(part) // self.per_asked), seed)


# Inception-v3 expects 299 pixels; the dissertation prints 229 (errata.md).
PLANS: dict[Size, Plan] = {
    "small": Plan(1 / 16, {"resnet18": 32, "resnet152": 32, "inceptionv3": 75}, 600, 15, 20),
    "full": Plan(1.0, {"resnet18": 224, "resnet152": 224, "inceptionv3": 299}, None, 15, 10),
}


def report(setting: Setting, name: Data) -> Outcome:
    """Train the last layer of every network by both optimisers."""
    plan = planned(setting, PLANS, CHANGES)
    given = labelled_data(setting)
    few = (drawn(given[0], plan.most, setting.seed), drawn(given[1], plan.most, setting.seed))
    training, testing = prepared(*few, shape=SHAPE)
    accuracies: dict[tuple[str, str], rs.Finding] = {}
    is_pretrained: dict[str, bool] = {}
    networks: dict[str, rs.Network] = {}
    asked = Outcome((), ())
    with Interruption() as ctrl_c:
        for network in PRETRAINED:
            model, is_pretrained[network] = _built(setting, plan, network, training)
            name_of_features = f"{network}, pretrained" if is_pretrained[network] else network
            parts = _features(setting, name_of_features, plan.sides[network], model, training, testing)
            for optimizer in OPTIMIZERS:
                label = f"{network} {optimizer}"
                setting.progress(f"Training the last layer of {label}")
                last, accuracies[network, optimizer] = _last_layer(setting, plan, label, parts, training, testing)
                networks[label] = whole_network(model, plan.sides[network], last, training.shape)
        few = (plan.asked(part, setting.seed) for part in (training, testing))
        asked = asked_of(setting, name, networks, *few)
    with_paper = stands_beside(given[0], name) and setting.size != "small"
    return Outcome(
        (*_said(plan, training, testing, is_pretrained), *asked.sentences),
        (*accuracies.values(), *asked.findings),
        (_table(name, accuracies, is_pretrained), *asked.tables),
        asked.pictures,
        interrupted=ctrl_c.came,
        verdicts=tuple(_verdicts(name, accuracies, is_pretrained)) if with_paper else (),
    )


def built(network: str, width: float, seed: int) -> tuple[ResNet | InceptionV3, bool]:
    """Return a network without its own last layer's use, in evaluation mode, and whether its weights are pretrained."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = (
            InceptionV3(width=width) if network == "inceptionv3" else resnet(network, base=max(1, round(64 * width)))
        )
    folder = os.environ.get(WEIGHTS)
    path = None if folder is None else Path(folder) / f"{network}.pth"
    if path is None or not path.is_file():
        return model.eval(), False
    try:
        kept = torch.load(path, map_location="cpu", weights_only=True)
        model.load_state_dict({key: value for key, value in kept.items() if not key.startswith("AuxLogits.")})
    except Exception as error:  # of a damaged file the reader says anything
        raise rs.errors.InputError(
            f"expected torchvision's weights of {network} in {path}, of the width that the study has at full size, got "
            "others: take the file away for random weights"
        ) from error
    return model.eval(), True


def calibrate(model: nn.Module, images: torch.Tensor) -> None:
    """Set the statistics of batch normalisation to those of images, the mean over blocks."""
    norms = [layer for layer in model.modules() if isinstance(layer, nn.BatchNorm2d)]
    for layer in norms:
        layer.reset_running_stats()
        layer.momentum = None
    model.train()
    with torch.no_grad():
        for block in images.split(BLOCK):
            model.features(block)  # pyright: ignore[reportCallIssue]
    model.eval()


def _built(setting: Setting, plan: Plan, network: str, training: Labelled) -> tuple[ResNet | InceptionV3, bool]:
    """Return what `built` does, random networks with the statistics of some training images."""
    model, is_pretrained = built(network, plan.width, setting.seed)
    model.to(setting.device)
    if not is_pretrained:
        calibrate(model, _resized(_images(training)[: 4 * BLOCK].to(setting.device), plan.sides[network]))
    return model, is_pretrained


def _images(part: Labelled) -> torch.Tensor:
    return torch.tensor(part.points.reshape(len(part), *part.shape), dtype=torch.float32)


def _features(
    setting: Setting, name: str, side: int, model: nn.Module, training: Labelled, testing: Labelled
) -> tuple[Float[np.ndarray, "s n"], Float[np.ndarray, "t n"]]:
    """Return what the last layer reads of both parts, from the records if it is there."""
    kept = setting.records.get(name)
    if kept is None:
        parts = []
        for number, part in enumerate((training, testing)):
            setting.progress(f"Features of {name}", number / 2)
            with torch.no_grad():
                blocks = [
                    model.features(_resized(block.to(setting.device), side)).cpu().numpy()  # pyright: ignore[reportCallIssue]
                    for block in _images(part).split(BLOCK)
                ]
            parts.append(np.concatenate(blocks).astype(np.float64))
        kept = setting.records[name] = Record({}, {"training": parts[0], "testing": parts[1]})
    return kept.arrays["training"], kept.arrays["testing"]


def _resized(images: torch.Tensor, side: int) -> torch.Tensor:
    return interpolate(images, size=(side, side), mode="bilinear", align_corners=False)


def _last_layer(
    setting: Setting,
    plan: Plan,
    label: str,
    parts: tuple[Float[np.ndarray, "s n"], Float[np.ndarray, "t n"]],
    training: Labelled,
    testing: Labelled,
) -> tuple[nn.Module, rs.Finding]:
    """Return a linear layer, trained on the features, and its accuracy."""
    optimizer = label.rsplit(" ", 1)[1]
    how = training_of(Model("linear", "SGD" if optimizer == "SGD" else "AdamW", 0, 1, 1), plan.epochs)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(setting.seed)
        layer = nn.Sequential(nn.Linear(parts[0].shape[1], int(training.labels.max()) + 1))
    train(layer, parts[0], training.labels, training=how, seed=setting.seed, device=setting.device)
    found = _right(layer, parts[1], testing.labels)
    accuracy = rs.Finding.estimate(
        found,
        name=f"accuracy, {label}",
        definition="share of test images, in float32, the last layer alone trained",
        domain=f"{len(testing):,} of {testing.name}",
        source="sattelberg2026",
        is_share=True,
    )
    return layer, accuracy


def _right(layer: nn.Module, points: Float[np.ndarray, "s n"], labels: Int[np.ndarray, " s"]) -> float:
    with torch.no_grad():
        chosen = layer(torch.tensor(points, dtype=torch.float32)).argmax(dim=1).numpy()
    return float((chosen == labels).mean())


def _said(plan: Plan, training: Labelled, testing: Labelled, is_pretrained: Mapping[str, bool]) -> tuple[str, ...]:
    sides = ", ".join(f"{network} {side}" for network, side in plan.sides.items())
    how = (
        f"Networks with {plan.width:g} of their channels, images of {training.name} resized to 32 x 32 and then to so "
        f"many pixels: {sides}; {len(training):,} to train the last layer on, for {plan.epochs} epochs, as the other "
        f"networks of the table, and {len(testing):,} to test with."
    )
    random = [network for network, loaded in is_pretrained.items() if not loaded]
    weights = (
        f"Random weights, nothing trained but the last layer: {', '.join(random)}. With torchvision's files in the "
        f"folder that {WEIGHTS} names, at full size, they are the dissertation's."
        if random
        else "All networks have torchvision's weights."
    )
    return how, weights


def _table(name: Data, accuracies: Mapping[tuple[str, str], rs.Finding], is_pretrained: Mapping[str, bool]) -> Table:
    rows = tuple(
        (
            network,
            "pretrained" if loaded else "random",
            *ACCURACIES[name][network],
            *(
                f"{100 * float(accuracies[network, optimizer]):.2f}" if (network, optimizer) in accuracies else "-"
                for optimizer in OPTIMIZERS
            ),
        )
        for network, loaded in is_pretrained.items()
    )
    columns = ("network", "weights here", "paper (pretrained), SGD", "paper (pretrained), AdamW", "SGD", "AdamW")
    caption = (
        f"Accuracies on test images in % (Tables 6.1 and 7.1, {printed.place('sattelberg2026', 'Table 6.1')}). The "
        "paper's are of pretrained networks; of random ones nothing follows about them."
    )
    return Table(columns, rows, caption)


def _verdicts(
    name: Data, accuracies: Mapping[tuple[str, str], rs.Finding], is_pretrained: Mapping[str, bool]
) -> list[StatementVerdict]:
    found = []
    for (network, optimizer), accuracy in accuracies.items():
        if is_pretrained[network]:
            said = ACCURACIES[name][network][OPTIMIZERS.index(optimizer)]
            ours = 100 * float(accuracy)
            found.append(
                StatementVerdict(
                    f"accuracy of {network} by {optimizer}", "Table 6.1", f"{said} %", f"{ours:.2f} %",
                    abs(ours - float(said)) <= NEAR,
                )
            )  # fmt: skip
    return found
