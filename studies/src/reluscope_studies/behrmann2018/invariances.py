"""Figures 7 and 12: images that look like other digits and have, after the first layer, the same features.

Appendix A7: of a test image with few positive outputs of the first layer, the image of the preimage, within the box of
pixels, that has the largest inner product with an image of another class. The dimension of the box is that of the
images, which is not what the paper prints.
"""

from dataclasses import dataclass, replace
from math import inf

import numpy as np

import reluscope as rs
from reluscope.studies import Change, Outcome, Picture, Setting, StatementVerdict, Table
from reluscope_studies.behrmann2018._networks import MLP, Architecture, Plan, Training
from reluscope_studies.classifiers import trained
from reluscope_studies.interruption import Interruption
from reluscope_studies.labelled import Labelled, labelled_data
from reluscope_studies.sizes import planned
from reluscope_studies.verdicts import of_cases

SENTENCE = "images of other digits with the same first-layer features"
POSITION = 50
REPEATS = ("Figure 7", "Figure 12", "Table 1")
DATA = "mnist"
CHANGES: dict[Change, str] = {"epochs": "training.epochs"}

# The paper turns a 3 into a 6 and a 4; its second example is a 4, whose variants it does not name.
PAIRS = ((3, 6), (3, 4), (4, 9), (4, 0))
# Features that are proved to differ by less are called the same, images that differ by more are not.
TINY = 1e-9
NORMS = {"linear": "most alike", "l2": "nearest"}


PLANS = {
    "small": Plan(Architecture("dense", (), (16,) * 3), Training("Adam", 5e-3, 40, 50)),
    "full": Plan(Architecture("10 x 100", (), (100,) * 10), MLP),
}


@dataclass(frozen=True, eq=False)
class Variant:
    """An image with the features of another, and which images of the data these are about."""

    row: int
    target: int
    norm: str
    found: rs.preimages.SameFeatures


def protocol(setting: Setting) -> Outcome:
    """Train the network if it is not in the records yet, and search the preimages of two test images."""
    return report(setting, planned(setting, PLANS, CHANGES))


def report(setting: Setting, plan: Plan) -> Outcome:
    """Do what a plan says."""
    training, testing = labelled_data(setting)
    variants: list[Variant] = []
    try:
        network, found = trained(setting, plan.architecture, plan.training, training, testing)
    except KeyboardInterrupt:
        return Outcome(("The network was not trained yet.",), (), interrupted=True)
    layer = rs.preimages.read_layer(network)
    box = rs.Box(0, 1, network.num_inputs)
    with Interruption() as ctrl_c:
        for norm in NORMS:
            for row, target in _chosen(network, layer, testing):
                setting.progress(f"Image {row} as image {target}, {NORMS[norm]}")
                one = rs.preimages.invariant(
                    network, testing.points[row], target=testing.points[target], domain=box, norm=norm
                )
                variants.append(Variant(row, target, norm, one))
    hidden = plan.architecture.hidden
    sentences = (
        (
            f"A network of {len(hidden)} layers of {hidden[0]} units, trained on {training.name} ({len(training):,} "
            f"samples): {plan.training.describe()}."
        ),
        (
            "For the classes 3 and 4 the test image of the class, among those classified rightly, with the fewest "
            "positive outputs of the first layer; as its target the first test image of another class that is "
            "classified rightly. The paper chooses its targets by hand."
        ),
        (
            'All pixels stay between 0 and 1. "Most alike": the largest inner product with the target, as in the '
            "paper, which leaves free what is black in the target. "
            '"Nearest": the least distance from the target.'
        ),
        *(f"{note[0].upper()}{note[1:]}: {data.name}." for data in (training, testing) for note in data.notes),
        *(("This is the small size, on images of fewer pixels.",) if setting.size == "small" else ()),
    )
    if not variants:
        return Outcome(sentences, (found,), interrupted=ctrl_c.came)
    findings = [found, *(one for variant in variants for one in _findings(variant, testing))]
    tables = (_inputs(variants, layer, testing), _table(variants, network, testing))
    pictures = tuple(_pictures(variants, testing))
    return Outcome(
        sentences, tuple(findings), tables, pictures, ctrl_c.came, verdicts=(_same_features(variants), _large(variants))
    )


def _same_features(variants: list[Variant]) -> StatementVerdict:
    proved, changes = max(one.found.proved_within for one in variants), [one.found.change for one in variants]
    return of_cases(
        "images of other digits have the same features in the first layer",
        "Figures 7 and 12",
        "drawn",
        f"{len(variants)} images that are changed by {min(changes):.3g} to {max(changes):.3g}, with features that "
        f"differ by at most {proved:.1e}",
        (one.found.proved_within < TINY < one.found.change for one in variants),
    )


def _large(variants: list[Variant]) -> StatementVerdict:
    dims = {one.row: one.found.set.dimension for one in variants}
    return of_cases(
        "preimages of features may be large",
        "appendix A7",
        "in words",
        f"dimension within the box {', '.join(map(str, dims.values()))}",
        (dim > 0 for dim in dims.values()),
    )


def _chosen(network: rs.Network, layer: rs.preimages.GateLayer, testing: Labelled) -> list[tuple[int, int]]:
    """Return pairs of test images: the input, and the target."""
    is_right = rs.classification.predicted_classes(network, testing.points) == testing.labels
    positive = (layer(testing.points) > 0).sum(axis=1)

    def of_class(one: int) -> np.ndarray:
        some = np.flatnonzero((testing.labels == one) & is_right)
        return some if len(some) else np.flatnonzero(testing.labels == one)

    pairs = []
    for one, other in PAIRS:
        rows, targets = of_class(one), of_class(other)
        if len(rows) and len(targets):
            pairs.append((int(rows[np.argmin(positive[rows])]), int(targets[0])))
    return pairs


def _name(variant: Variant, testing: Labelled) -> str:
    return f"{testing.labels[variant.row]} as {testing.labels[variant.target]}"


def _findings(variant: Variant, testing: Labelled) -> list[rs.Finding]:
    name = f"{_name(variant, testing)}, {NORMS[variant.norm]}"
    return [
        replace(variant.found.objective, name=f"{name}: {variant.found.objective.name}"),
        rs.Finding.of(
            variant.found.proved_within,
            lower=-inf,
            name=f"{name}: difference of features",
            definition="largest difference of an output of the first layer, in real arithmetic",
            method="outputs in float64 with bounds on their rounding",
            source="behrmann2018",
        ),
    ]


def _inputs(variants: list[Variant], layer: rs.preimages.GateLayer, testing: Labelled) -> Table:
    """Return what the layer leaves open at the inputs."""
    rows = []
    for row, one in {variant.row: variant.found for variant in variants}.items():
        kinds = rs.preimages.classify_at(layer, one.point[None])
        rows.append(
            (
                f"{row}",
                f"{testing.labels[row]}",
                f"{int((one.before > 0).sum())} of {layer.num_units}",
                _kind_in_words(kinds.kind(0)),
                f"{kinds.dims[0]:,}",
                f"{one.set.dimension:,}",
            )
        )
    columns = ("test image", "class", "positive outputs", "preimage", "open directions k", "dimension in the box")
    return Table(columns, tuple(rows), "What the first layer leaves open at the images that are varied.")


def _table(variants: list[Variant], network: rs.Network, testing: Labelled) -> Table:
    rows = []
    for variant in variants:
        one = variant.found
        assert one.target is not None
        before, after = (float(np.linalg.norm(one.target - point)) for point in (one.point, one.found))
        kept = rs.classification.predicted_classes(network, one.found[None])[0]
        rows.append(
            (
                _name(variant, testing),
                NORMS[variant.norm],
                f"{one.change:.3g}",
                f"{before:.3g} to {after:.3g}",
                f"{one.difference:.1e}",
                f"{one.proved_within:.1e}",
                f"{kept}",
            )
        )
    columns = ("images", "which", "change", "distance to target", "computed difference", "proved below", "class stays")
    caption = (
        "Images found, how far they are from what they were varied from and from their targets (l2), by how much "
        "first-layer features differ, as computed in float64 and as is proved, and what the network says of them."
    )
    return Table(columns, tuple(rows), caption)


def _pictures(variants: list[Variant], testing: Labelled) -> list[Picture]:
    pictures = []
    for norm, words in NORMS.items():
        some = [variant for variant in variants if variant.norm == norm]
        if some:
            figure = rs.plots.invariances(
                [variant.found for variant in some],
                shape=testing.shape,
                names=[_name(variant, testing) for variant in some],
            )
            name = f"invariances-{words.replace(' ', '-')}"
            caption = f"Images with the first-layer features of others, {words} a target (Figures 7 and 12)."
            pictures.append(Picture(name, figure, caption))
    return pictures


def _kind_in_words(kind: rs.preimages.PreimageKind) -> str:
    return f"{kind.name.lower()}{' without the box' if kind is rs.preimages.PreimageKind.UNBOUNDED else ''}"
