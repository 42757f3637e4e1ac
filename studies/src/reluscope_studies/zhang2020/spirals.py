"""Figures 7 and 8, and 2: networks on two spirals, where the whole input space can be seen."""

import numpy as np

import reluscope as rs
from reluscope.studies import Change, Outcome, Picture, Setting, StatementVerdict
from reluscope_studies import plots
from reluscope_studies.fitting import Fit
from reluscope_studies.labelled import Labelled
from reluscope_studies.sizes import number_of
from reluscope_studies.verdicts import of_cases
from reluscope_studies.zhang2020._networks import Architecture, Trained, Workshop
from reluscope_studies.zhang2020._plane import REPLICATES, OnPlane

SENTENCE = "linear regions and classes of networks on two spirals, plain, with batch norm and with dropout"
POSITION = 30
REPEATS = ("Figure 2", "Figure 7", "Figure 8")
DATA = None
IS_SHORT = True
CHANGES: tuple[Change, ...] = ("replicates",)

ARCHITECTURE = Architecture((10, 10, 10))
RATE = 1e-3
# Held-out points lie on the same arms: patience is for losses that stay flat before they fall.
FIT = Fit(RATE, batch=32, most_epochs=300, patience=60)
POINTS = 1000


def protocol(setting: Setting) -> Outcome:
    """Train the networks that are not in the records yet, and partition the plane."""
    training, testing = (_points(setting.seed + number) for number in (1, 2))
    workshop = Workshop(setting, ARCHITECTURE, training, testing, {RATE: FIT})
    networks, interrupted = workshop.of_each(RATE, number_of(setting, REPLICATES, "replicates"))
    return _outcome(testing, networks, interrupted)


def _points(seed: int) -> Labelled:
    data = rs.datasets.spirals(POINTS, seed=seed)
    assert data.labels is not None
    return Labelled(data.points, data.labels, data.name, data.shape)


def _outcome(testing: Labelled, networks: list[Trained], interrupted: bool) -> Outcome:
    box = rs.Box(-1.1, 1.1, 2)
    found = OnPlane(networks, lambda network: rs.partition(network, box))
    shown = np.random.default_rng(0).permutation(len(testing))[:100]
    pictures = []
    if networks:
        points, labels = testing.points[shown], testing.labels[shown]
        pictures = [
            Picture(
                "spirals",
                plots.models_in_plane(found.shown, samples=points, labels=labels),
                "Regions, coloured by the share of active units (above), and classes (below), with "
                f"{len(shown)} test points of the two spirals. Dropout is off, as it is when a network is used.",
            ),
            Picture(
                "cuts",
                rs.plots.boundaries(found.parts[0], samples=points),
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
    table = found.table("Test accuracies beside the paper's, and exact numbers of regions.", paper="100 %")
    verdicts = (_all_right(networks), *found.verdicts("appendix A, Figure 8")) if networks else ()
    return Outcome(sentences, found.findings, (table,), tuple(pictures), interrupted, verdicts=verdicts)


def _all_right(networks: list[Trained]) -> StatementVerdict:
    shares = [100 * float(one.accuracy) for one in networks]
    return of_cases(
        "networks of all three kinds are right on all test points",
        "appendix A",
        "100 %",
        f"{min(shares):.1f} to {max(shares):.1f} %, {len(shares)} networks",
        (share == 100 for share in shares),
    )
