"""Figure 1: a plane through three images, partitioned by small dense networks."""

import reluscope as rs
from reluscope.studies import Change, Outcome, Picture, Setting, Table
from reluscope_studies import plots
from reluscope_studies.fitting import Fit
from reluscope_studies.labelled import labelled_data
from reluscope_studies.sizes import planned
from reluscope_studies.zhang2020._networks import Architecture, Workshop, centred
from reluscope_studies.zhang2020._statements import more_regions, more_uniform

SENTENCE = "a plane through three images, as networks of 3 x 20 units see it: regions and classes"
POSITION = 10
REPEATS = ("Figure 1",)
DATA = "mnist"
CHANGES: dict[Change, str] = {"epochs": "most_epochs"}

ARCHITECTURE = Architecture((20, 20, 20))
RATE = 1e-3
FITS = {"small": Fit(RATE, batch=16, most_epochs=60), "full": Fit(RATE)}
MARGIN = 0.25


def protocol(setting: Setting) -> Outcome:
    """Train the networks that are not in the records yet, and partition one plane by each."""
    training, testing = (centred(part) for part in labelled_data(setting))
    fit = planned(setting, FITS, CHANGES)
    workshop = Workshop(setting, ARCHITECTURE, training, testing, {RATE: fit})
    networks, interrupted = workshop.one_of_each(RATE)
    rows = rs.planes.choose_triple(testing.points, testing.labels, seed=setting.seed)
    if rows is None:
        raise rs.errors.InputError(f"this study needs three images that span a plane, and {testing.name} has none")
    samples = testing.points[list(rows)]
    plane = rs.Plane(*samples, margin=MARGIN)
    budget = rs.Budget(seconds=setting.seconds)
    parts = {one.variant.kind: rs.partition(one.network, plane, budget=budget) for one in networks}
    counts = [part.finding() for part in parts.values()]
    columns = ("network", "test accuracy", "epochs", "regions on the plane", "claim")
    table = tuple(
        (one.variant.kind, f"{100 * float(one.accuracy):.1f} %", str(one.epochs), f"{int(count):,}", str(count.claim))
        for one, count in zip(networks, counts, strict=True)
    )
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
        plots.models_in_plane(parts, samples=samples, sample_labels=labels),
        "One plane through three test images (dots): regions, coloured by the share of active units (above), and "
        "classes (below).",
    )
    found = (*(one.accuracy for one in networks), *counts)
    caption = "Accuracies, and numbers of regions on the plane."
    by_kind = {one.variant.kind: count for one, count in zip(networks, counts, strict=True)}
    areas = {kind: part.volumes() for kind, part in parts.items()}
    place = "section 1, Figure 1"
    verdicts = (more_regions(by_kind, place), more_uniform(areas, place)) if by_kind else ()
    return Outcome(sentences, found, (Table(columns, table, caption),), (picture,), interrupted, verdicts=verdicts)
