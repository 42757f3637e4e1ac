"""Convolutional networks of images, pruned by channels and by magnitudes, one epoch of training after each step."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
import torch
from torch import nn

import reluscope as rs
from reluscope.studies import Change, Outcome, Picture, Record, Setting, Size, StatementVerdict, Table
from reluscope_studies import pictures, plots, pruning
from reluscope_studies.classifiers import Training, train, trained
from reluscope_studies.interruption import Interruption
from reluscope_studies.labelled import Labelled, labelled_data
from reluscope_studies.sattelberg2026_ch3._pruned_similarity import (
    pruned_similarity,
    similarity_table,
    similarity_verdict,
)
from reluscope_studies.sattelberg2026_images import drawn
from reluscope_studies.sizes import ToTrainOn, planned
from reluscope_studies.verdicts import not_comparable, of_cases

AMOUNTS = (0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99)
DROP = 0.01
CHANNELS, WEIGHTS = "channels", "weights"


@dataclass(frozen=True)
class Plan:
    """The size of a study: how many steps of pruning, samples and epochs.

    Parameters
    ----------
    channels : int
        Of each of the three convolutions.
    training : Training
    judged : int
        Training samples on which the loss without a channel is measured.
    least_accuracy : float
        Where the removal of channels ends.
    compared : int
        Test images on which pruned networks are compared.
    images : int, optional
        Most images to train on; all of them by default.
    """

    channels: int
    training: Training
    judged: int
    least_accuracy: float
    compared: int
    images: int | None = None


SGD = Training("SGD", 1e-3, 30, 40, momentum=0.9, weight_decay=1e-4)
CHANGES: dict[Change, str] = {"epochs": "training.epochs", "points": ToTrainOn("images")}
PLANS: dict[Size, Plan] = {
    "small": Plan(8, replace(SGD, learning_rate=1e-2), 500, 0.3, 100),
    # The dissertation's network, and a sixth of its images.
    "medium": Plan(32, SGD, 500, 0.3, 200, 10_000),
    "full": Plan(32, SGD, 5_000, 0.3, 500),
}


@dataclass(frozen=True)
class Convolutions:
    """Convolutions of 3 x 3, three in the dissertation, each followed by ReLU and max pooling, and a dense layer."""

    channels: tuple[int, ...]

    @property
    def name(self) -> str:
        """Which of the records is its own."""
        return "network"

    def build(self, shape: tuple[int, ...], num_classes: int, seed: int) -> nn.Sequential:
        """Return the untrained network."""
        parts: list[nn.Module] = []
        reads, side = shape[0], shape[-1]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            for channels in self.channels:
                parts += [nn.Conv2d(reads, channels, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
                reads, side = channels, side // 2
            return nn.Sequential(*parts, nn.Flatten(), nn.Linear(reads * side * side, num_classes))


def report(setting: Setting, name: str, said: Mapping[str, str], keeps: Mapping[str, float], figure: str) -> Outcome:
    """Train a network, prune it both ways, and compare.

    Parameters
    ----------
    setting : Setting
    name : str
        Of the data, before those of pictures.
    said : mapping
        What the dissertation says of removed channels and of removed weights.
    keeps : mapping
        The share of weights down to which it says that the network keeps its accuracy, by the same.
    figure : str
    """
    plan = planned(setting, PLANS, CHANGES)
    given, testing = labelled_data(setting)
    training = drawn(given, plan.images, setting.seed)
    curves: dict[str, pruning.PruningCurve] = {}
    original, compared = None, None
    with Interruption() as ctrl_c:
        work = _Work(setting, plan, training, testing)
        original = work.accuracy
        for kind in (CHANNELS, WEIGHTS):
            curves[kind] = work.curve(kind)
        compared = pruned_similarity(setting, curves, testing, plan.compared)
    kinds = tuple(curves)
    fewest = {kind: curve.fewest_weights(DROP) for kind, curve in curves.items()}
    findings = [finding for finding in (original, *fewest.values()) if finding is not None]
    names = {f"{kind} removed": curve for kind, curve in curves.items()}
    picture = Picture(
        f"{name}-pruned",
        plots.with_paper(
            pictures.pruning_curves(names),
            at=[100 * share for share in dict.fromkeys(keeps.values())],
            said=" and ".join(f"{100 * share:.0f} %" for share in dict.fromkeys(keeps.values())),
        ),
        "Accuracy on test images over the weights that are left; where channels are removed, with the numbers of "
        "channels of the three convolutions that are left. Dotted: down to where the dissertation keeps the accuracy"
        f"{_by_kind(keeps)}.",
    )
    return Outcome(
        _sentences(setting, plan, training, testing),
        tuple(findings),
        (
            _summary(fewest, said),
            *(_table(kind, curve) for kind, curve in curves.items()),
            *(() if compared is None else (similarity_table(*compared, kinds),)),
        ),
        (picture,) if curves else (),
        interrupted=ctrl_c.came,
        verdicts=(
            *_verdicts(setting, fewest, {kind: _fell(curve) for kind, curve in curves.items()}, keeps, figure),
            *(() if compared is None else similarity_verdict(compared[0], kinds)),
        ),
    )


class _Work:
    """A trained network, and its pruning, kept in the records."""

    def __init__(self, setting: Setting, plan: Plan, training: Labelled, testing: Labelled) -> None:
        self.setting, self.plan, self.training, self.testing = setting, plan, training, testing
        self.num_classes = int(max(training.labels.max(), testing.labels.max())) + 1
        architecture = Convolutions((plan.channels,) * 3)
        _, self.accuracy = trained(setting, architecture, plan.training, training, testing)
        self.module = self._module(architecture.channels, setting.records[architecture.name].arrays)

    def curve(self, kind: str) -> pruning.PruningCurve:
        """Return the accuracies over the course of pruning, from the records if they are there."""
        if kind not in self.setting.records:
            found = self._prune(kind)
            arrays = {
                f"{step} {name}": values.cpu().numpy()
                for step, module in enumerate(found.modules)
                for name, values in module.state_dict().items()
            }
            channels = {"channels": found.findings.details["channels"]}
            self.setting.records[kind] = Record(found.findings.to_dict(), arrays | channels)
        record = self.setting.records[kind]
        channels = record.arrays["channels"]
        modules = (self._step(step, tuple(left), record.arrays) for step, left in enumerate(channels.tolist()))
        findings = replace(rs.Findings.from_dict(record.plain), details={"channels": channels})
        return pruning.PruningCurve(tuple(modules), findings)

    def _prune(self, kind: str) -> pruning.PruningCurve:
        tests = {
            "test_x": self.testing.points.reshape(len(self.testing), *self.testing.shape),
            "test_labels": self.testing.labels,
        }
        title = f"Pruning {kind} of the network"
        common = {
            "fine_tune": self._fine_tuning(),
            "progress": lambda share: self.setting.progress(title, share),
            **tests,
        }
        if kind == WEIGHTS:
            return pruning.prune_by_magnitude(self.module, AMOUNTS, **common)
        judged = np.random.default_rng(self.setting.seed).permutation(len(self.training))[: self.plan.judged]
        images = self.training.points[judged].reshape(-1, *self.training.shape)
        return pruning.prune_channels(
            self.module, images, self.training.labels[judged], least_accuracy=self.plan.least_accuracy, **common
        )

    def _fine_tuning(self) -> Callable[[nn.Module], None]:
        """Return a function that trains a network for one epoch, each time in another order of samples."""
        seeds = count(self.setting.seed + 1)
        images = self.training.points.reshape(len(self.training), *self.training.shape)
        one_epoch, device = replace(self.plan.training, epochs=1), self.setting.device

        def fine_tune(module: nn.Module) -> None:
            train(module, images, self.training.labels, training=one_epoch, seed=next(seeds), device=device)
            module.to(device)

        return fine_tune

    def _step(self, step: int, channels: tuple[int, ...], arrays: Mapping[str, np.ndarray]) -> nn.Sequential:
        prefix = f"{step} "
        own = {name.removeprefix(prefix): one for name, one in arrays.items() if name.startswith(prefix)}
        return self._module(channels, own)

    def _module(self, channels: tuple[int, ...], arrays: Mapping[str, np.ndarray]) -> nn.Sequential:
        module = Convolutions(channels).build(self.training.shape, self.num_classes, 0)
        module.load_state_dict({name: torch.from_numpy(one.copy()) for name, one in arrays.items()})
        return module.to(self.setting.device).eval()


def _sentences(setting: Setting, plan: Plan, training: Labelled, testing: Labelled) -> tuple[str, ...]:
    shape = " x ".join(map(str, training.shape))
    said = [
        (
            f"Three convolutions of {plan.channels} channels and 3 x 3 entries, each with ReLU and max pooling, and a "
            f"dense layer, trained on {training.name} ({len(training):,} images of {shape} numbers): "
            f"{plan.training.describe()}. Convolutions keep the size of the image, which the dissertation leaves open."
        ),
        (
            f"Channels go one after the other: that without which the loss on {min(plan.judged, len(training)):,} "
            f"training images is least, then one epoch of training, down to an accuracy of {plan.least_accuracy:.0%}. "
            "Of weights the smallest go, all layers together, each share from the trained network itself, then one "
            f"epoch of training. Accuracies are on {len(testing):,} test images."
        ),
        *(f"{note[0].upper()}{note[1:]}: {data.name}." for data in (training, testing) for note in data.notes),
    ]
    if setting.size == "small":
        said.append("This is the small size: fewer channels and a larger rate; numbers are not the dissertation's.")
    return tuple(said)


def _fell(curve: pruning.PruningCurve) -> bool:
    """Tell whether an accuracy on the curve is lower than the first by more than what counts as lost."""
    accuracies = curve.findings["accuracy"].value
    return bool(accuracies.min() < accuracies[0] - DROP)


def _by_kind(keeps: Mapping[str, float]) -> str:
    if len(set(keeps.values())) == 1:
        return ""
    return ", " + ", ".join(f"{100 * share:.0f} % where {kind} are removed" for kind, share in keeps.items())


def _verdicts(
    setting: Setting,
    fewest: Mapping[str, rs.Finding],
    fell: Mapping[str, bool],
    keeps: Mapping[str, float],
    figure: str,
) -> tuple[StatementVerdict, ...]:
    """Return what becomes of what section 3.4.5 says of accuracies; smaller networks on digits decide nothing.

    Where pruning ended before an accuracy fell, fewer weights might have kept it.
    """
    if set(fewest) != set(keeps):
        return ()
    shares = {kind: float(found) for kind, found in fewest.items()}
    said = {kind: f"{100 * share:.1f} %" for kind, share in shares.items()}
    said = {kind: share if fell[kind] else f"{share} (where pruning ended)" for kind, share in said.items()}
    found = [
        of_cases(
            f"accuracies are kept down to {100 * keeps[kind]:.0f} % of the weights ({kind} removed)",
            f"section 3.4.5, {figure}",
            f"{100 * keeps[kind]:.0f} %",
            f"within {100 * DROP:g} point down to {said[kind]}",
            [shares[kind] <= keeps[kind]] if fell[kind] or shares[kind] <= keeps[kind] else (),
        )
        for kind in keeps
    ]
    found.append(
        of_cases(
            "accuracies fall faster where channels are removed",
            f"section 3.4.5, {figure}",
            "in words",
            f"within {100 * DROP:g} point down to {said[CHANNELS]} by channels and {said[WEIGHTS]} by weights",
            [shares[CHANNELS] > shares[WEIGHTS]] if fell[max(shares, key=lambda kind: shares[kind])] else (),
        )
    )
    return not_comparable(found) if setting.size == "small" else tuple(found)


def _summary(fewest: Mapping[str, rs.Finding], said: Mapping[str, str]) -> Table:
    rows = tuple(
        (f"{kind} removed", said[kind], f"{100 * float(fewest[kind]):.0f} %" if kind in fewest else "")
        for kind in (CHANNELS, WEIGHTS)
    )
    caption = f"Weights that keep the accuracy: here the fewest that lose at most {100 * DROP:g} point."
    return Table(("pruning", "the dissertation", "here"), rows, caption)


def _table(kind: str, curve: pruning.PruningCurve) -> Table:
    found = curve.findings
    shares, accuracies, channels = found["share_of_weights"], found["accuracy"], found.details["channels"].tolist()
    rows = tuple(
        (f"{100 * share:.1f} %", "-".join(map(str, left)), f"{100 * right:.2f} %")
        for share, left, right in zip(shares.value, channels, accuracies.value, strict=True)
    )
    return Table(("weights", "channels", "accuracy"), rows, f"Steps: {shares.method}.")
