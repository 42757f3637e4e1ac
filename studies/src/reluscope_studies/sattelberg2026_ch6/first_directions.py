"""Section 6.4: whether one direction explains less of networks on CIFAR-10 than of networks on MNIST.

The statement is about two kinds of data, so that both are needed here: as many images of each, drawn at random, of
MNIST from its test part, which is split. The networks are the first ones of Table 6.1.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

import reluscope as rs
from reluscope.studies import Change, Outcome, Setting, Size, StatementVerdict, Table
from reluscope_studies.classifiers import trained
from reluscope_studies.interruption import Interruption
from reluscope_studies.labelled import Labelled, labelled, labelled_data
from reluscope_studies.sattelberg2026_ch6._jacobians import look
from reluscope_studies.sattelberg2026_images import SHAPE, drawn, prepared
from reluscope_studies.sattelberg2026_networks import Model, Plan, models, training_of
from reluscope_studies.sizes import ToTrainOn, planned
from reluscope_studies.verdicts import not_comparable, of_pairs

SENTENCE = "how much of a network one direction explains, on CIFAR-10 and on MNIST"
POSITION = 25
REPEATS = ("Figure 6.15", "Figure 6.19")
DATA = "cifar10"
BESIDE = "mnist"
CHANGES: dict[Change, str] = {"epochs": "epochs", "points": ToTrainOn("images")}
# Of the images so many are to train on.
TRAINED_ON = 0.8


@dataclass(frozen=True)
class DirectionsPlan(Plan):
    """How much is done: images of each data, and whether they are 32 x 32 in three channels."""

    images: int
    scaled: bool


PLANS: dict[Size, DirectionsPlan] = {
    "small": DirectionsPlan(15, 32, 8, 1_000, False),
    "medium": DirectionsPlan(5, 128, 32, 2_500, True),
    "full": DirectionsPlan(15, 128, 32, 10_000, True),
}
# Medians over outputs of the share of the variance that positions along the first direction explain.
Explained = Mapping[Model, rs.Finding]


def protocol(setting: Setting) -> Outcome:
    """Train the networks on as many images of both, and compare their first directions."""
    plan = planned(setting, PLANS, CHANGES)
    training, testing = labelled_data(setting)
    number = round(TRAINED_ON * plan.images)
    parts = {
        training.name.partition(" (")[0]: (
            drawn(training, number, setting.seed),
            drawn(testing, plan.images - number, setting.seed),
        )
    }
    if setting.beside is not None:
        parts["MNIST"] = _split(labelled(setting.beside), plan.images, number, setting.seed)
    explained: dict[str, Explained] = {}
    with Interruption() as ctrl_c:
        for data, given in parts.items():
            explained[data] = _explained(setting, plan, data, *prepared(*given, shape=SHAPE if plan.scaled else None))
    ways = "; ".join(training_of(model, plan.epochs).describe() for model in models(1, 1)[:2])
    said = (
        (
            f"Networks of section 6.1, the first of each kind, trained on {number:,} images of each data and asked at "
            f"{plan.images - number:,} others: {ways}. A share is that of the variance of an output over these images "
            "which positions along its first direction explain (Figures 6.15 and 6.19); medians over the outputs."
        ),
        *(f"{note[0].upper()}{note[1:]}: {training.name}." for note in training.notes),
    )
    verdicts = list(_verdicts(explained))
    return Outcome(
        said,
        tuple(finding for one in explained.values() for finding in one.values()),
        (_table(explained),) if explained else (),
        interrupted=ctrl_c.came,
        verdicts=not_comparable(verdicts) if not plan.scaled else tuple(verdicts),
    )


def _split(part: Labelled, images: int, number: int, seed: int) -> tuple[Labelled, Labelled]:
    """Return so many of some images to train on, and the others."""
    rows = np.random.default_rng(seed).permutation(len(part))[:images]
    first, others = (
        replace(part, points=part.points[r], labels=part.labels[r]) for r in (rows[:number], rows[number:])
    )
    return first, others


def _explained(
    setting: Setting, plan: DirectionsPlan, data: str, training: Labelled, testing: Labelled
) -> dict[Model, rs.Finding]:
    found = {}
    for model in models(plan.hidden, plan.filters):
        if model.number <= 1:
            name = f"{data} {model.name}"
            how = training_of(model, plan.epochs)
            network, _ = trained(setting, model, how, training, testing, record=name)
            setting.progress(f"Gradients of {name}")
            shares = [float(along.explained()) for along in look(name, network, testing).along]
            found[model] = rs.Finding.estimate(
                float(np.median(shares)),
                name=f"variance explained by first directions: {name}",
                definition="median over outputs of the share that positions along the first direction explain",
                domain=f"{len(testing):,} images",
                source="sattelberg2026",
                is_share=True,
            )
    return found


def _table(explained: Mapping[str, Explained]) -> Table:
    first = next(iter(explained.values()))
    rows = tuple((model.name, *(f"{100 * float(one[model]):.1f} %" for one in explained.values())) for model in first)
    return Table(("network", *explained), rows, "How much of the outputs their first directions explain, medians.")


def _verdicts(explained: Mapping[str, Explained]) -> Iterator[StatementVerdict]:
    if len(explained) == 2:
        coloured, digits = explained.values()
        bent = [model for model in coloured if model.kind != "linear"]
        yield of_pairs(
            "first directions explain less on CIFAR-10 than on MNIST, but for the linear network",
            "section 6.4, Figures 6.15 and 6.19",
            "less explanatory",
            "; ".join(
                f"{one.name} {100 * float(coloured[one]):.1f} and {100 * float(digits[one]):.1f} %" for one in bent
            ),
            (float(coloured[one]) < float(digits[one]) for one in bent),
        )
