"""Figures of chapters 6 and 7 of ResNet-18, ResNet-152 and Inception-v3, whose last layer alone is trained.

Each is opened whole, from the image of 32 x 32 pixels that it resizes to the ten outputs, as one piecewise affine map.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import nn

import reluscope as rs
from reluscope.studies import Data, Outcome, Picture, Setting, Table
from reluscope_studies.labelled import Labelled
from reluscope_studies.sattelberg2026_ch6._jacobians import jacobian_pictures, look

# Affine functions per output that networks are left, as far as there are images for them (Figures 7.3 and 7.4).
NUMBERS = (1, 2, 5, 10, 20, 50, 100)
METRICS = {
    "cka": "CKA of coefficients",
    "scaled_distance": "Squared distances of coefficients scaled by the largest",
    "output_cross_entropy": "Cross-entropies of outputs",
}
COMPRESSION: dict[Data, str] = {"mnist": "Figure 7.3", "cifar10": "Figure 7.4"}
SIMILARITY: dict[Data, tuple[str, str, str]] = {
    "mnist": ("Figure 7.12", "Figure 7.10", "Figure 7.14"),
    "cifar10": ("Figure 7.13", "Figure 7.11", "Figure 7.16"),
}


class _Features(nn.Module):
    """What the last layer of a network reads."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.model.features(x)  # pyright: ignore[reportCallIssue]


def whole_network(model: nn.Module, side: int, last: nn.Module, shape: tuple[int, ...]) -> rs.Network:
    """Return resizing, features and last layer as one network.

    Parameters
    ----------
    model : Module
        With a method ``features``, in evaluation mode.
    side : int
        Pixels in a row of the images that it reads.
    last : Module
        On the features.
    shape : (channels, height, width)
        Of the images that are resized.
    """
    resized = nn.Upsample(size=(side, side), mode="bilinear", align_corners=False)
    parts = nn.Sequential(OrderedDict(resized=resized, features=_Features(model), logits=last))
    return rs.load(parts.eval(), input_shape=shape)


def asked_of(
    setting: Setting, name: Data, networks: Mapping[str, rs.Network], training: Labelled, testing: Labelled
) -> Outcome:
    """Return what the Jacobians of networks say at some images.

    Parameters
    ----------
    setting : Setting
    name : {"mnist", "cifar10"}
    networks : mapping of names to Network
        By both optimisers; those by SGD alone are shown where the last layer matters little, as in the dissertation.
    training, testing : Labelled
        Centres of maps are found on the first, everything else on the second.
    """
    by_sgd = {label: network for label, network in networks.items() if label.endswith("SGD")}
    looked = []
    for number, (label, network) in enumerate(by_sgd.items()):
        setting.progress(f"Gradients of {label}", number / len(by_sgd))
        looked.append(look(label, network, testing))
    curves = _curves(setting, by_sgd, training, testing)
    setting.progress("Comparing the networks")
    found = rs.similarity.compare(networks, testing.points, metrics=tuple(METRICS))
    said = (
        f"Jacobians are taken at {len(testing):,} test images, and for centres of maps at {len(training):,} training "
        "images. Maps from one network's coefficients to another's (Figures 7.8 and 7.9) want more images than an "
        "affine function has coefficients, 3,073 here, and are left out. Networks this deep have bounds on rounding "
        "that are wider than their outputs: numbers are as computed in float64, ESTIMATES, and bars in pictures say "
        "what the bounds leave open."
    )
    findings = (
        *(finding for one in looked for finding in one.of_directions()),
        *(
            replace(curve.finding("accuracy", row), name=f"accuracy with {number:,} maps per output, {label}")
            for label, curve in curves.items()
            for row, number in enumerate(curve.keys["num_clusters"])
        ),
    )
    pictures = (*jacobian_pictures(f"{name}-pretrained", looked, testing), *_pictures(name, curves, found))
    return Outcome((said,), findings, (_compressed(curves, COMPRESSION[name]),), pictures)


def _curves(
    setting: Setting, networks: Mapping[str, rs.Network], training: Labelled, testing: Labelled
) -> dict[str, rs.Findings]:
    """Return accuracies over the number of affine functions per output, by the dissertation's rule."""
    numbers = [number for number in NUMBERS if number <= len(training)]
    curves = {}
    for place, (label, network) in enumerate(networks.items()):
        setting.progress(f"Compressing {label}", place / len(networks))
        of_training, of_testing = (rs.coefficients.matrix(network, part.points) for part in (training, testing))
        curves[label] = rs.compression.accuracy_curve(
            of_training, of_testing, testing.labels, numbers, rules=("own_map",), seed=setting.seed
        )
    return curves


def _pictures(name: Data, curves: Mapping[str, rs.Findings], found: rs.Findings) -> list[Picture]:
    return [
        Picture(
            f"{name}-pretrained-compression",
            rs.plots.curves_of_networks(curves, columns=len(curves)),
            f"Accuracy over the number of affine functions per output, by the nearest map ({COMPRESSION[name]}).",
        ),
        *(
            Picture(
                f"{name}-pretrained-{metric.replace('_', '-')}",
                rs.plots.similarity(found, metric),
                f"{METRICS[metric]} ({figure}).",
            )
            for metric, figure in zip(METRICS, SIMILARITY[name], strict=True)
        ),
    ]


def _compressed(curves: Mapping[str, rs.Findings], figure: str) -> Table:
    numbers = next(iter(curves.values())).keys["num_clusters"].tolist()
    rows = tuple(
        (
            label,
            f"{100 * float(curve.finding('network_accuracy')):.1f}",
            *(f"{100 * float(curve.finding('accuracy', row)):.1f}" for row in range(len(numbers))),
        )
        for label, curve in curves.items()
    )
    caption = (
        "Accuracies in % at the images at which Jacobians are taken, of the networks, and with so many affine "
        f"functions per output by the dissertation's rule, the nearest map ({figure})."
    )
    return Table(("network", "itself", *(f"k = {number:,}" for number in numbers)), rows, caption)
