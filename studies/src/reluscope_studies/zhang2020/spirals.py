"""Figures 7 and 8, and 2: networks on two spirals, where the whole input space can be seen."""

import numpy as np

import reluscope as rs
from reluscope.studies import Outcome, Picture, Setting, Table, Verdict
from reluscope_studies import plots
from reluscope_studies.fitting import Fit
from reluscope_studies.labelled import Labelled
from reluscope_studies.verdicts import of_cases
from reluscope_studies.zhang2020._networks import Architecture, Trained, Workshop
from reluscope_studies.zhang2020._statements import more_regions, more_uniform

SENTENCE = "linear regions and classes of networks on two spirals, plain, with batch norm and with dropout"
POSITION = 30
REPEATS = ("Figure 2", "Figure 7", "Figure 8")
DATA = None

ARCHITECTURE = Architecture((10, 10, 10))
RATE = 1e-3
# Held-out points lie on the same arms: patience is for losses that stay flat before they fall.
FIT = Fit(RATE, batch=32, most_epochs=300, patience=60)
POINTS = 1000


def protocol(setting: Setting) -> Outcome:
    """Train the networks that are not in the records yet, and partition the plane."""
    training, testing = (_points(setting.seed + number) for number in (1, 2))
    workshop = Workshop(setting, ARCHITECTURE, training, testing, {RATE: FIT})
    return _outcome(testing, *workshop.one_of_each(RATE))


def _points(seed: int) -> Labelled:
    data = rs.datasets.spirals(POINTS, seed=seed)
    assert data.labels is not None
    return Labelled(data.points, data.labels, data.name, data.shape)


def _outcome(testing: Labelled, networks: list[Trained], interrupted: bool) -> Outcome:
    box = rs.Box(-1.1, 1.1, 2)
    parts = {one.variant.kind: rs.partition(one.network, box) for one in networks}
    counts: list[rs.Finding] = [part.finding() for part in parts.values()]
    rows = tuple(
        (
            one.variant.kind,
            f"{100 * float(one.accuracy):.1f} %",
            "100 %",
            str(one.epochs),
            f"{int(count):,}",
            str(count.claim),
        )
        for one, count in zip(networks, counts, strict=True)
    )
    columns = ("network", "test accuracy", "paper", "epochs", "regions", "claim")
    shown = np.random.default_rng(0).permutation(len(testing))[:100]
    pictures = []
    if parts:
        pictures = [
            Picture(
                "spirals",
                plots.models_in_plane(parts),
                "Regions, coloured by the share of active units (above), and classes (below). Dropout is off, as it is "
                "when a network is used.",
            ),
            Picture(
                "cuts",
                rs.plots.boundaries(next(iter(parts.values())), samples=testing.points[shown]),
                f"How the layers of the {networks[0].variant.kind} network cut the plane, one after the other, and "
                f"{len(shown)} test points on the two spirals.",
            ),
        ]
    sentences = (
        (
            f"Networks of {ARCHITECTURE.describe()} on two spirals ({POINTS:,} points to train on, as many to test "
            f"with): {FIT.describe()}. The paper does not say how long its spirals are."
        ),
        "Regions are those of the plane within [-1.1, 1.1]^2, counted exactly.",
    )
    found = (*(one.accuracy for one in networks), *counts)
    caption = "Test accuracies beside the paper's, and exact numbers of regions."
    by_kind = {one.variant.kind: count for one, count in zip(networks, counts, strict=True)}
    areas = {kind: part.volumes() for kind, part in parts.items()}
    place = "appendix A, Figure 8"
    verdicts = (_all_right(networks), more_regions(by_kind, place), more_uniform(areas, place)) if by_kind else ()
    return Outcome(sentences, found, (Table(columns, rows, caption),), tuple(pictures), interrupted, verdicts=verdicts)


def _all_right(networks: list[Trained]) -> Verdict:
    shares = {one.variant.kind: 100 * float(one.accuracy) for one in networks}
    return of_cases(
        "all three networks are right on all test points",
        "appendix A",
        "100 %",
        ", ".join(f"{kind} {share:.1f} %" for kind, share in shares.items()),
        (share == 100 for share in shares.values()),
    )
