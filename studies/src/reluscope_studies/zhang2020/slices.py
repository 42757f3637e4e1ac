"""Figure 1: a plane through three images, partitioned by small dense networks."""

import reluscope as rs
from reluscope.studies import Change, Outcome, Picture, Setting
from reluscope_studies import plots
from reluscope_studies.fitting import Fit
from reluscope_studies.labelled import labelled_data
from reluscope_studies.sizes import number_of, planned
from reluscope_studies.zhang2020._networks import Architecture, Workshop, centred
from reluscope_studies.zhang2020._plane import REPLICATES, OnPlane

SENTENCE = "a plane through three images, as networks of 3 x 20 units see it: regions and classes"
POSITION = 10
REPEATS = ("Figure 1",)
DATA = "mnist"
IS_SHORT = True
CHANGES: tuple[Change, ...] = ("replicates", "epochs")

ARCHITECTURE = Architecture((20, 20, 20))
RATE = 1e-3
FITS = {"small": Fit(RATE, batch=16, most_epochs=60), "full": Fit(RATE)}
MARGIN = 0.25


def protocol(setting: Setting) -> Outcome:
    """Train the networks that are not in the records yet, and partition one plane by each."""
    training, testing = (centred(part) for part in labelled_data(setting))
    fit = planned(setting, FITS, {"epochs": "most_epochs"})
    workshop = Workshop(setting, ARCHITECTURE, training, testing, {RATE: fit})
    networks, interrupted = workshop.of_each(RATE, number_of(setting, REPLICATES, "replicates"))
    rows = rs.planes.choose_triple(testing.points, testing.labels, seed=setting.seed)
    if rows is None:
        raise rs.errors.InputError(f"this study needs three images that span a plane, and {testing.name} has none")
    samples = testing.points[list(rows)]
    plane, budget = rs.Plane(*samples, margin=MARGIN), rs.Budget(seconds=setting.seconds)
    found = OnPlane(networks, lambda network: rs.partition(network, plane, budget=budget))
    labels = [str(testing.labels[row]) for row in rows]
    sentences = (
        (
            f"Networks of {ARCHITECTURE.describe()} trained on {training.name} ({len(training):,} samples, scaled to "
            f"[-1, 1]): {fit.describe()}. The plane runs through three test images of {testing.name}, of the classes "
            f"{', '.join(labels)}; which ones the paper took it does not say."
        ),
    )
    picture = Picture(
        "slices",
        plots.models_in_plane(found.shown, samples=samples, sample_labels=labels),
        "One plane through three test images (dots): regions, coloured by the share of active units (above), and "
        "classes (below).",
    )
    table = found.table("Accuracies, and numbers of regions on the plane.")
    verdicts = tuple(found.verdicts("section 1, Figure 1"))
    return Outcome(sentences, found.findings, (table,), (picture,), interrupted, verdicts=verdicts)
