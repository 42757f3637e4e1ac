"""How well the network does, where labels say what right is: accuracy by class, or the error of the outputs."""

import numpy as np

from reluscope.analyses.classification.classes import ACCURACY, accuracy, accuracy_by_class
from reluscope.analyses.regression import RMSE, fits
from reluscope.progress import ProgressFunction
from reluscope.report.content import Content, Number, Table, Text, findings_table, measured, numbers
from reluscope.report.subject import Subject

TITLE = "Fit to the labels"
POSITION = 20
MAX_CLASSES = 40
MAX_OUTPUTS = 40


def why_not(subject: Subject) -> str | None:
    """Return why there is no fit: without labels."""
    if subject.data.targets is None:
        return "The data came without labels, so there is nothing to compare with; give them with --labels FILE."
    return None


def seconds(subject: Subject) -> float:
    """Return about how long it takes: a forward pass with error bounds over the samples."""
    return 0.05 + 3 * len(subject.data) * subject.seconds_per_sample


def content(subject: Subject, progress: ProgressFunction) -> Content:
    """Say which share of the samples is classified as labelled, or how far outputs are from their targets."""
    del progress
    return _of_classes(subject) if subject.is_classifier else _of_outputs(subject)


def _of_classes(subject: Subject) -> Content:
    labels, classes = subject.labels, subject.classes
    assert labels is not None
    assert classes is not None
    found = accuracy(subject.network, subject.data.points, labels)
    right = int((classes == labels).sum())
    sentence = f"The class of {right:,} of {len(labels):,} samples of {subject.data.name} is their label."
    if subject.network.num_outputs == 1:
        sentence += " The network has one output: class 1 where it is positive, else class 0."
    rows = []
    by_class = accuracy_by_class(subject.network, subject.data.points, labels)
    for row, label in enumerate(by_class.keys["label"]):
        mistaken = classes[(labels == label) & (classes != labels)]
        others, counts = np.unique(mistaken, return_counts=True)
        order = np.argsort(-counts, kind="stable")[:3]
        taken = ", ".join(f"{others[i]} ({counts[i]:,})" for i in order) or "none"
        rows.append((str(label), int((labels == label).sum()), measured(by_class, ACCURACY, row), taken))
    caption = "By label. The last column: the classes that the network gives instead, most often first."
    if len(rows) > MAX_CLASSES:
        caption += f" The first {MAX_CLASSES} of {len(rows)} are shown."
    table = Table(("label", "samples", "accuracy", "taken for"), tuple(rows[:MAX_CLASSES]), caption)
    return Content((numbers(found), Text(sentence), table), Number(found))


def _of_outputs(subject: Subject) -> Content:
    targets = subject.data.targets
    assert targets is not None
    found = fits(subject.network, subject.data.points, targets)
    text = Text(
        "The labels are numbers, so the network is read as a regression: there are no classes, and sections about "
        "classes and the decision boundary say so or are left out."
    )
    if len(found) == 1:
        shown = [found.finding(name) for name in found if not np.isnan(found[name].value[0])]
        return Content((numbers(*shown), text), Number(shown[0]))
    table = findings_table(found, "Errors in units of the outputs.", most=MAX_OUTPUTS)
    return Content((text, table), Number(found.finding(RMSE, 0)))
