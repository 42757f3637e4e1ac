"""Figures 7.3 and 7.4: accuracies of networks that are left k affine functions per output; regions that images use."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import reluscope as rs
from reluscope.studies import Picture, Record, Setting, Table
from reluscope_studies.labelled import Labelled
from reluscope_studies.sattelberg2026_ch7._plan import ComparisonPlan
from reluscope_studies.sattelberg2026_networks import OPTIMIZERS, Model

# How a rule is called in tables; the first is the dissertation's.
RULES: dict[rs.compression.Rule, str] = {
    "own_map": "by the nearest map",
    "mean_input": "by the nearest mean input",
    "nearest_sample": "by the nearest training image",
}
DROP = 0.01


@dataclass(frozen=True, eq=False)
class Compressed:
    """A network and what is left of it.

    Parameters
    ----------
    model : Model
    curve : Findings
        Accuracies on the test images, centres from the training images.
    regions : Finding
        How many regions the training images lie in.
    num_sharing, num_samples : int
        Training images that share their region with another one, and all.
    """

    model: Model
    curve: rs.Findings
    regions: rs.Finding
    num_sharing: int
    num_samples: int

    def at(self, number: int, rule: rs.compression.Rule = "own_map") -> float:
        """Return the accuracy with a number of functions per output, in %."""
        return 100 * float(self.curve.where(rule=rule, num_clusters=number).finding("accuracy"))

    @property
    def original(self) -> float:
        """The accuracy of the network itself, in %."""
        return 100 * float(self.curve.finding("network_accuracy"))

    @property
    def numbers(self) -> list[int]:
        """The numbers of functions per output that were tried, ascending."""
        return np.unique(self.curve.keys["num_clusters"]).tolist()


def compressed(
    setting: Setting, plan: ComparisonPlan, model: Model, network: rs.Network, training: Labelled, testing: Labelled
) -> Compressed:
    """Return what the records have of a network, or make it now."""
    name = f"{model.name}, compressed"
    kept = setting.records.get(name)
    if kept is None:
        setting.progress(f"Compressing {model.name}")
        of_training = rs.coefficients.matrix(network, training.points, budget=rs.Budget(memory=plan.memory))
        of_testing = rs.coefficients.matrix(network, testing.points, budget=rs.Budget(memory=plan.memory))
        curve = rs.compression.accuracy_curve(
            of_training, of_testing, testing.labels, plan.numbers, rules=tuple(RULES), seed=setting.seed
        )
        kept = setting.records[name] = Record(_plain(curve, of_training))
    return _found(model, kept.plain)


def _plain(curve: rs.Findings, training: rs.coefficients.CoefficientMatrices) -> dict[str, Any]:
    regions = rs.compression.region_samples(training)
    counts = regions["num_samples_in_region"].value
    return {
        "curve": curve.to_dict(),
        "regions": rs.compression.regions_holding(regions, 1.0).to_dict(),
        "num_sharing": int(counts[counts > 1].sum()),
        "num_samples": len(training),
    }


def _found(model: Model, plain: Any) -> Compressed:
    curve, regions = rs.Findings.from_dict(plain["curve"]), rs.Finding.from_dict(plain["regions"])
    return Compressed(model, curve, regions, plain["num_sharing"], plain["num_samples"])


def findings(every: list[Compressed]) -> list[rs.Finding]:
    """Return regions and how many functions matter, with the names of network and rule; accuracies are in tables."""
    found = []
    for one in every:
        found.append(replace(one.regions, name=f"{one.regions.name}, {one.model.name}"))
        for rule, said in RULES.items():
            fewest = rs.compression.fewest_clusters(one.curve, DROP, rule)
            if fewest is not None:
                found.append(replace(fewest, name=f"{fewest.name}, {one.model.name}, {said}"))
    return found


def named_accuracies(curve: rs.Findings, rule: rs.compression.Rule, said: str) -> list[rs.Finding]:
    """Return the accuracies by one rule, each with its number of functions in its name."""
    rows = curve.where(rule=rule)
    return [
        replace(rows.finding("accuracy", row), name=f"accuracy with {number:,} maps per output, {said}")
        for row, number in enumerate(rows.keys["num_clusters"])
    ]


def tables(every: list[Compressed], figure: str) -> list[Table]:
    """Return accuracies over the number of functions, one table per rule, and how many functions and regions matter."""
    numbers = every[0].numbers
    found = []
    for rule, said in RULES.items():
        rows = tuple(
            (one.model.name, f"{one.original:.1f}", *(f"{one.at(k, rule):.1f}" for k in numbers)) for one in every
        )
        whose = (
            f"as in {figure}, which takes the network's Jacobian at every image"
            if rule == "own_map"
            else "which reads the image alone; not in the dissertation"
        )
        caption = f"Accuracies on test images in %, with k affine functions per output that are chosen {said}, {whose}."
        found.append(Table(("network", "itself", *(f"k = {number:,}" for number in numbers)), rows, caption))
    return [*found, _matter(every)]


def _matter(every: list[Compressed]) -> Table:
    rows = []
    for one in every:
        fewest = [rs.compression.fewest_clusters(one.curve, DROP, rule) for rule in RULES]
        most = one.numbers[-1]
        said = [f"above {most:,}" if few is None else f"{int(few):,}" for few in fewest]
        sharing = f"{100 * one.num_sharing / one.num_samples:.2f} %"
        rows.append((one.model.name, *said, f"{int(one.regions):,} {one.regions.claim}", sharing))
    columns = ("network", *RULES.values(), "regions of training images", "images that share one")
    caption = (
        f"How many functions per output keep the accuracy within {100 * DROP:g} percentage point, of the numbers that "
        f"were tried (UPPER: other centres may do with fewer); and in how many regions the {every[0].num_samples:,} "
        "training images lie (ESTIMATE where rounding could change codes, as where pixels of a flat background tie "
        "in a pooling)."
    )
    return Table(columns, tuple(rows), caption)


def sentences(every: list[Compressed]) -> list[str]:
    """Return what the dissertation says about compression, beside what came out."""
    numbers = every[0].numbers
    others = [one.at(1) for one in every if one.model.kind in ("simple", "complex")]
    dense = [one.at(1) for one in every if one.model.kind == "dense"]
    middle = numbers[len(numbers) // 2]
    drops = {
        optimizer: [
            one.original - one.at(middle)
            for one in every
            if one.model.optimizer == optimizer and one.model.kind != "linear"
        ]
        for optimizer in OPTIMIZERS
    }
    sharing = [100 * one.num_sharing / one.num_samples for one in every if one.model.kind == "simple"]
    of_one = (
        f"With one affine function per output, dense networks are right on {min(dense):.1f} to {max(dense):.1f} % of "
        f"the test images, convolutional ones on {min(others):.1f} to {max(others):.1f} % (the dissertation: dense "
        "networks do not fail as catastrophically)."
    )
    of_optimizers = (
        f"With {middle}, networks trained by SGD lose {np.median(drops['SGD']):.1f} points in the median, those by "
        f"AdamW {np.median(drops['AdamW']):.1f} (the dissertation: a significant difference, AdamW losing more)."
    )
    of_regions = (
        f"Of the training images, {max(sharing):.2f} % at most share their region of a simple network with another one "
        "(the dissertation, on MNIST: less than 1 %)."
    )
    return [of_one, of_optimizers, of_regions]


def picture(every: list[Compressed], name: str, figure: str) -> Picture:
    """Return accuracies over the number of functions, of one network of every kind by both optimisers."""
    chosen = [
        one for optimizer in OPTIMIZERS for one in every if one.model.optimizer == optimizer and one.model.number <= 1
    ]
    return Picture(
        f"{name}-compression",
        rs.plots.curves_of_networks(
            {one.model.name: one.curve for one in chosen}, columns=len(chosen) // len(OPTIMIZERS)
        ),
        f"Accuracy over the number of affine functions per output ({figure}; the dissertation's rule is the nearest "
        "map). Of two networks alike the first is shown.",
    )
