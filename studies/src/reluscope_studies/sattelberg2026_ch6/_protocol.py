"""What the study asks of the networks of one kind of data: accuracies, slices, coefficients, active subspaces."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import reluscope as rs
from reluscope.studies import Change, Data, Outcome, Picture, Setting, Size, Table
from reluscope_studies import plots
from reluscope_studies.classifiers import trained
from reluscope_studies.labelled import Labelled, labelled_data, stands_beside
from reluscope_studies.sattelberg2026_ch6._ink import ink_share
from reluscope_studies.sattelberg2026_ch6._jacobians import PAPERS_RANK, Looked, jacobian_pictures, look
from reluscope_studies.sattelberg2026_ch6._labelling import Labelling, label_grid
from reluscope_studies.sattelberg2026_ch6._statements import CONVOLUTIONAL, verdicts
from reluscope_studies.sattelberg2026_images import SHAPE, drawn, nearest_triple, prepared
from reluscope_studies.sattelberg2026_networks import (
    Model,
    Plan,
    accuracy_picture,
    accuracy_table,
    models,
    training_of,
)
from reluscope_studies.sizes import ToTrainOn, planned

TOLERANCES = (1e-9, 1e-3, 1e-1)
SHOWN_TOLERANCE = 1


@dataclass(frozen=True)
class SlicePlan(Plan):
    """How much is done.

    Parameters
    ----------
    scaled : bool
        Whether images are 32 x 32 in three channels.
    grid : int
        Points in a row of the grid of Jacobians.
    margin : float
        By which share of its longer side the rectangle around the three images is enlarged.
    close : float
        Half the side of the square around image A that is taken of convolutional networks, by the distance of A and B.
    most : int
        Of a convolutional network the square shrinks until it has at most so many regions.
    lines : int
        Outputs of a convolutional network that are followed on the line along their first direction, which crosses
        thousands of its regions.
    images : int, optional
        To train on, and a fifth as many to test with, at least six; all of both by default.
    """

    scaled: bool
    grid: int
    margin: float
    close: float
    most: int
    lines: int
    images: int | None = None

    @property
    def tested(self) -> int | None:
        """How many test images there are at most; None for all."""
        return None if self.images is None else max(FEWEST_TESTED, self.images // PER_TEST_IMAGE)


# The slice goes through three of them.
PER_TEST_IMAGE, FEWEST_TESTED = 5, 6
CHANGES: dict[Change, str] = {"epochs": "epochs", "points": ToTrainOn("images")}
PLANS: dict[Size, SlicePlan] = {
    "small": SlicePlan(15, 32, 8, False, 60, 2.0, 0.25, 10_000, 10),
    # The networks of the dissertation, trained for a fifth as long on a fifth of the images.
    "medium": SlicePlan(3, 128, 32, True, 40, 0.1, 0.02, 10_000, 1, 10_000),
    "full": SlicePlan(15, 128, 32, True, 200, 0.1, 0.02, 50_000, 10),
}


@dataclass(frozen=True, eq=False)
class Sliced:
    """A network on the plane through three images: exactly, and by Jacobians on a grid."""

    model: Model
    part: rs.Partition
    grids: list[Labelling]


def report(setting: Setting, name: Data) -> Outcome:
    """Train the networks and look at them.

    Parameters
    ----------
    setting : Setting
    name : {"mnist", "cifar10"}
        Of the dissertation's data; stands before the names of pictures.
    """
    plan = planned(setting, PLANS, CHANGES)
    given = labelled_data(setting)
    few = (drawn(given[0], plan.images, setting.seed), drawn(given[1], plan.tested, setting.seed))
    training, testing = prepared(*few, shape=SHAPE if plan.scaled else None)
    every = models(plan.hidden, plan.filters)
    looked: dict[Model, Looked] = {}
    accuracies: dict[Model, rs.Finding] = {}
    for number, model in enumerate(every):
        network, accuracies[model] = trained(setting, model, training_of(model, plan.epochs), training, testing)
        setting.progress(f"Gradients of {model.name}", number / len(every))
        looked[model] = look(model.name, network, testing, lines=_lines(plan, model))
    anchors = nearest_triple(testing.points)
    _, examples = np.unique(testing.labels, return_index=True)
    sliced = []
    for model, one in looked.items():
        if model.number == 1:
            setting.progress(f"Slice of {model.name}")
            sliced.append(_slice(setting, plan, model, one.network, testing.points[anchors]))
    norms = {
        one.name: rs.coefficients.local_norms(one.network, testing.points, of="probabilities")
        for one in looked.values()
    }
    with_paper = stands_beside(given[0], name)
    beside = [accuracy_picture(name, accuracies, name)] if with_paper else []
    return Outcome(
        _sentences(setting, plan, given, len(training), testing, anchors),
        (
            *accuracies.values(),
            *(one.part.finding() for one in sliced),
            *(found for one in looked.values() for found in one.of_directions()),
            *(found.mean(name) for found in norms.values() for name in found),
        ),
        (
            accuracy_table(name, accuracies, "Table 6.1", with_paper=with_paper),
            _missed(sliced),
            _sensitivity(list(looked.values()), norms, len(testing)),
        ),
        (*beside, *_pictures(name, looked, sliced, testing, anchors)),
        verdicts=verdicts(
            name,
            accuracies,
            {one.model: _told_apart(one) for one in sliced},
            {model: one.subspaces for model, one in looked.items()},
            {model: [float(along.explained()) for along in one.along] for model, one in looked.items()},
            testing,
            {model: ink_share(one.network, testing.points[examples], testing.shape) for model, one in looked.items()},
            with_paper=with_paper and plan.scaled,
            is_full=plan.images is None and plan.epochs >= PLANS["full"].epochs,
        ),
    )


def _told_apart(one: Sliced) -> tuple[rs.Finding, int, int]:
    """Return the regions of a slice, those with a point of the grid, and those that the smallest tolerance finds."""
    grid = one.grids[0]
    return one.part.finding(), grid.num_codes, grid.num_found


def _lines(plan: SlicePlan, model: Model) -> int | None:
    """Return how many outputs are followed on a line: none of a network that pictures do not show."""
    if not _is_drawn(model):
        return 0
    return plan.lines if model.kind in CONVOLUTIONAL else None


def _is_drawn(model: Model) -> bool:
    """Whether pictures show the network: one of two that differ by their first weights alone."""
    return model.number <= 1


def _slice(setting: Setting, plan: SlicePlan, model: Model, network: rs.Network, images: np.ndarray) -> Sliced:
    """Return the exact regions of the plane through three images, of convolutional networks close to the first."""
    plane = rs.Plane(*images, margin=plan.margin)
    budget = None if setting.seconds is None else rs.Budget(seconds=setting.seconds)
    if model.kind in CONVOLUTIONAL:
        half = plan.close * float(np.linalg.norm(images[1] - images[0]))
        square = rs.Slice(plane.origin, plane.basis, rs.Box(-half, half, 2))
        part = rs.window_within(network, square, rs.Budget(regions=plan.most, seconds=setting.seconds))
        part = rs.confirm(part, budget=budget)
    else:
        part = rs.partition(network, plane, budget=budget, executor=setting.executor)
    assert isinstance(part.domain, rs.Slice)
    return Sliced(model, part, label_grid(network, part.domain, plan.grid, TOLERANCES))


def _sentences(
    setting: Setting,
    plan: SlicePlan,
    given: tuple[Labelled, Labelled],
    number: int,
    testing: Labelled,
    anchors: np.ndarray,
) -> tuple[str, ...]:
    ways = "; ".join(training_of(model, plan.epochs).describe() for model in models(plan.hidden, plan.filters)[:2])
    shape = " x ".join(map(str, testing.shape))
    networks = (
        f"Networks of section 6.1 trained on {given[0].name} ({number:,} images of {shape} numbers, centred by "
        f"channel) and tested on {len(testing):,}: {ways}. Convolutions keep the size of the image, which the "
        "dissertation leaves open."
    )
    plane = (
        f"The slice goes through the test images {', '.join(map(str, anchors))} of the classes "
        f"{', '.join(str(testing.labels[row]) for row in anchors)}: an image and its two nearest, of all such triples "
        "the one with the least sum of distances. Its axes are those of equation 6.2, with the first image as origin; "
        "of convolutional networks a square around that image is taken, as in the dissertation, the largest one with "
        f"at most {plan.most:,} regions."
    )
    labels = (
        "The dissertation compares Jacobians on a grid within a tolerance that it does not state; here three, relative "
        "to the Jacobian's Frobenius norm. Exact regions come from an exact partition by codes. A region counts as "
        "found if it holds the first point of a label."
    )
    said = [
        networks,
        plane,
        labels,
        *(f"{note[0].upper()}{note[1:]}: {data.name}." for data in given for note in data.notes),
    ]
    if setting.size == "small":
        said.append(
            f"This is the small size: {plan.hidden} hidden units, {plan.filters} filters, images as they are, a window "
            "that is wider around the three images; numbers are not the dissertation's."
        )
    return tuple(said)


def _missed(sliced: list[Sliced]) -> Table:
    size = len(sliced[0].grids[0].labels)
    rows = []
    for one in sliced:
        whole = one.part.finding()
        for grid in one.grids:
            rows.append(
                (
                    one.model.name,
                    f"{int(whole):,} {whole.claim}",
                    f"{grid.num_codes:,}",
                    f"{grid.tolerance:g}",
                    f"{grid.num_labels:,}",
                    f"{grid.num_found:,}",
                    f"{int(whole) - grid.num_found:,}" if whole.claim == rs.Claim.EXACT else "-",
                )
            )
    columns = ("network", "regions", "on the grid", "tolerance", "labels", "regions found", "missed")
    caption = (
        f"Regions of the slice: all of them; those with a point of the {size} x {size} grid; labels by equal Jacobians "
        "within a tolerance, the regions that these stand for, and how many are missed. LOWER, and a dash, where "
        "time or rounding leaves regions that are not counted: where candidates of a pooling tie at the image itself, "
        "as on a constant background, thousands of lines meet in it, and slivers between them may be left out."
    )
    return Table(columns, tuple(rows), caption)


def _sensitivity(looked: Sequence[Looked], norms: dict[str, rs.Findings], asked: int) -> Table:
    rows = []
    for one in looked:
        every = range(len(one.subspaces))
        shares = [float(one.subspaces.share(j)) for j in every]
        explained = [float(along.explained()) for along in one.along]
        ranks = one.subspaces.ranks
        rows.append(
            (
                one.name,
                f"{100 * np.median(shares):.1f} %",
                f"{100 * np.median(explained):.1f} %" if explained else "-",
                f"{ranks.min():,} to {ranks.max():,}",
                f"{one.subspaces.rank_upper:,}",
                *(f"{float(norms[one.name].mean(name)):.3g}" for name in norms[one.name]),
            )
        )
    columns = (
        "network", "first direction", "outputs along it", "rank at least", "rank at most", "probabilities", "logits",
    )  # fmt: skip
    caption = (
        f"Active subspaces over {asked:,} test images: medians over classes of the share of the first direction and of "
        "the variance of the output that positions along it explain; ranks; and mean Frobenius norms of the Jacobians. "
        "The dissertation finds 128 nonzero singular values for the dense networks of 128 units."
    )
    return Table(columns, tuple(rows), caption)


def _pictures(
    name: str, looked: Mapping[Model, Looked], sliced: list[Sliced], testing: Labelled, anchors: np.ndarray
) -> list[Picture]:
    first = [one for model, one in looked.items() if _is_drawn(model)]
    is_papers_size = any(model.kind == "dense" and model.hidden == PAPERS_RANK for model in looked)
    _, examples = np.unique(testing.labels, return_index=True)
    return [
        Picture(
            f"{name}-examples",
            rs.plots.samples(
                testing.points[examples], shape=testing.shape, names=[str(label) for label in testing.labels[examples]]
            ),
            "The first test image of every class, centred by channel (Figure 6.2).",
        ),
        Picture(
            f"{name}-images",
            rs.plots.samples(testing.points[anchors], shape=testing.shape, names=["A", "B", "C"]),
            "The images that span the slice (Figures 6.8 and 6.9).",
        ),
        *(
            Picture(
                f"{name}-{kind}",
                plots.grids_beside_regions(
                    {
                        one.model.name: (one.part, one.grids[SHOWN_TOLERANCE].labels)
                        for one in sliced
                        if one.model.kind == kind
                    }
                ),
                f"Slices of the {kind} networks: labels by equal Jacobians within {TOLERANCES[SHOWN_TOLERANCE]:g}, "
                "and all regions; axes in units of the input, with image A at 0 (Figures 6.10, 6.11 and 6.13). Colours "
                "have no meaning.",
            )
            for kind in dict.fromkeys(one.model.kind for one in sliced)
        ),
        *jacobian_pictures(name, first, testing, papers_rank=PAPERS_RANK if is_papers_size else None),
    ]
