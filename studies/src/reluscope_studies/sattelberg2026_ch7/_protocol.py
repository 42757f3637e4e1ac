"""What the study asks of the networks of one kind of data: accuracies, compression, similarities of all pairs."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

import reluscope as rs
from reluscope.studies import Data, Outcome, Picture, Record, Setting
from reluscope_studies.classifiers import trained
from reluscope_studies.labelled import Labelled, labelled_data, stands_beside
from reluscope_studies.sattelberg2026_ch7 import _compression, _similarity, _statements
from reluscope_studies.sattelberg2026_ch7._comparison import compared
from reluscope_studies.sattelberg2026_ch7._plan import CHANGES, PLANS, ComparisonPlan
from reluscope_studies.sattelberg2026_images import drawn, prepared, summed
from reluscope_studies.sattelberg2026_networks import OPTIMIZERS, accuracy_picture, accuracy_table, models, training_of
from reluscope_studies.sizes import planned

# Figures of the accuracy over the number of maps.
COMPRESSION: dict[Data, str] = {"mnist": "Figure 7.3", "cifar10": "Figure 7.4"}
# The networks of Figure 7.7.
MAPPED_FROM, MAPPED_TO = "dense 1 AdamW", "simple 1 AdamW"


def report(setting: Setting, name: Data) -> Outcome:
    """Train the networks, compress each, and compare all pairs.

    Parameters
    ----------
    setting : Setting
    name : {"mnist", "cifar10"}
        Of the dissertation's data; stands before the names of pictures.
    """
    plan = planned(setting, PLANS, CHANGES)
    given = labelled_data(setting)
    few = (drawn(given[0], plan.training, setting.seed), drawn(given[1], plan.testing, setting.seed))
    training, testing = prepared(*few, shape=plan.shape(few[0]))
    with_paper = stands_beside(given[0], name)
    every = sorted(models(plan.hidden, plan.filters), key=lambda model: OPTIMIZERS.index(model.optimizer))
    networks: dict[str, rs.Network] = {}
    accuracies, compressed = {}, []
    for model in every:
        networks[model.name], accuracies[model] = trained(
            setting, model, training_of(model, plan.epochs), training, testing
        )
        compressed.append(_compression.compressed(setting, plan, model, networks[model.name], training, testing))
    similar = compared(setting, plan, networks, training, testing)
    named = [replace(found, name=f"accuracy, {model.name}") for model, found in accuracies.items()]
    return Outcome(
        (
            *_setup(setting, plan, given, training, testing),
            *_compression.sentences(compressed),
            *_of_maps(similar, name),
        ),
        (*named, *_compression.findings(compressed), *_similarity.findings(similar, every)),
        (
            accuracy_table(name, accuracies, "Table 7.1", with_paper=with_paper),
            *_compression.tables(compressed, COMPRESSION[name]),
            _similarity.summary(similar, every, with_paper=with_paper and name == "cifar10"),
            *_similarity.mapped(similar, every, name, with_paper=with_paper and name == "cifar10"),
            _similarity.conditions(similar),
        ),
        (
            *((accuracy_picture(name, accuracies, name),) if with_paper else ()),
            _compression.picture(compressed, name, COMPRESSION[name]),
            *_similarity.pictures(similar, every, name, with_paper=with_paper and name == "cifar10"),
            _mapped_coefficients(setting, plan, networks, training, testing, name),
        ),
        verdicts=_statements.verdicts(
            name,
            accuracies,
            compressed,
            similar,
            COMPRESSION[name],
            with_paper=with_paper and plan.side is None,
            is_full=plan.training is None and plan.epochs >= PLANS["full"].epochs,
        ),
    )


def _setup(
    setting: Setting, plan: ComparisonPlan, given: tuple[Labelled, Labelled], training: Labelled, testing: Labelled
) -> list[str]:
    ways = "; ".join(training_of(model, plan.epochs).describe() for model in models(1, 1)[:2])
    shape = " x ".join(map(str, training.shape))
    networks = (
        f"Networks of section 7.1 trained on {given[0].name} ({len(training):,} images of {shape} numbers, centred by "
        f"channel): {ways}. Convolutions keep the size of the image, which the dissertation leaves open. Centres and "
        f"maps are found on the training images and judged on {len(testing):,} of {given[1].name}. The pretrained "
        "networks are left out."
    )
    said = [
        networks,
        *(f"{note[0].upper()}{note[1:]}: {data.name}." for data in given for note in data.notes),
    ]
    if plan.side is not None:
        said.append(
            f"This is the {setting.size} size: {plan.hidden} hidden units, {plan.filters} filters, images of at most "
            f"{plan.side} x {plan.side} pixels, at most {plan.training:,} to train on and {plan.testing:,} to judge "
            f"with, and {plan.epochs} epochs, in place of 128, 32, 32 x 32 in three channels, all, and 15; numbers are "
            "not the dissertation's."
        )
    return said


def _of_maps(similar: rs.Findings, name: Data) -> list[str]:
    of_linear = (
        "A linear network has the same coefficients at every image. A map from it can give one affine function only, "
        "and the best is the mean of the other network's: its accuracies after mapping are those of k = 1. Of its "
        "coefficients, centred, nothing is left, so that CKA is 0/0: what Figures 7.12 and 7.13 show of linear "
        "networks cannot come from equation 7.7, and a dash stands here."
    )
    of_scales = (
        "Equation 7.5 scales by the largest coefficient, not the largest absolute one, so that a network whose "
        "large coefficients are negative is divided by too little. Both are here."
    )
    said = [of_linear, of_scales]
    lacking = [note for note in similar.notes if "samples do not determine" in note]
    if lacking:
        said.append(f"There are fewer training images than coefficients: {lacking[0]}.")
    if name == "mnist":
        said.append("The numbers of Figure 7.8 cannot be read in the copy at hand, so none stand beside ours.")
    return said


def _mapped_coefficients(
    setting: Setting,
    plan: ComparisonPlan,
    networks: Mapping[str, rs.Network],
    training: Labelled,
    testing: Labelled,
    name: Data,
) -> Picture:
    """Return the coefficients of one network at an image, mapped to those of another, and these (Figure 7.7)."""
    first, second = networks[MAPPED_FROM], networks[MAPPED_TO]
    image = testing.points[:1]
    kept = setting.records.get("mapped coefficients")
    if kept is None:
        setting.progress(f"Mapping {MAPPED_FROM} to {MAPPED_TO}")
        maps = rs.similarity.coefficient_maps(first, second, training.points, budget=rs.Budget(memory=plan.memory))
        own = first.linearize(image)
        rows = np.concatenate([own.weight[0].cpu().numpy(), own.bias[0].cpu().numpy()[:, None]], axis=1)
        made = np.stack([row @ maps.matrix(j) for j, row in enumerate(rows)])
        kept = setting.records["mapped coefficients"] = Record({}, {"rows": made})
    found = np.stack(
        [
            first.linearize(image).weight[0].cpu().numpy(),
            kept.arrays["rows"][:, :-1],
            second.linearize(image).weight[0].cpu().numpy(),
        ]
    )
    figure = rs.plots.coefficients(
        summed(found, testing.shape),
        shape=testing.shape[-2:],
        rows=[MAPPED_FROM, "mapped", MAPPED_TO],
        columns=[f"class {label}" for label in range(first.num_outputs)],
    )
    caption = (
        f"Coefficients of {MAPPED_FROM} at a test image of class {testing.labels[0]}, the same mapped to those of "
        f"{MAPPED_TO}, and these; summed over channels, each row by its largest (Figure 7.7)."
    )
    return Picture(f"{name}-mapped-coefficients", figure, caption)
