"""Fit to the labels: accuracy by class for classifiers, errors of the outputs for regressions."""

import numpy as np

from reluscope.analyses.classification.class_predictions import accuracy, accuracy_by_class
from reluscope.analyses.samples.regression import RMSE, fits
from reluscope.findings import Finding
from reluscope.progress import ProgressFunction
from reluscope.report.parts.content import Content, Number, Text, findings_table, numbers
from reluscope.report.parts.sentences import Sentence, said
from reluscope.report.parts.subject import Subject

TITLE = "Fit to the labels"
POSITION = 20
MAX_CLASSES = 40
MAX_OUTPUTS = 40
# What is no further above the share of the most frequent label says little.
BETTER = 0.05


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
    by_class = accuracy_by_class(subject.network, subject.data.points, labels)
    known = by_class.keys["label"]
    also = {
        "samples": [int((labels == label).sum()) for label in known],
        "taken for": [_mistaken(classes[(labels == label) & (classes != labels)]) for label in known],
    }
    caption = "By label. Taken for: the classes that the network gives instead, most often first."
    table = findings_table(by_class, caption, also=also, limit=MAX_CLASSES)
    sentences = (_answer(subject, found),)
    return Content((numbers(found), Text(sentence), table), Number(found), sentences=sentences)


def _answer(subject: Subject, found: Finding) -> Sentence:
    """Say the accuracy, first of all where always naming the most frequent label would do as well."""
    assert subject.labels is not None
    most = float(np.bincount(subject.labels).max() / len(subject.labels))
    if subject.classes is not None and (subject.classes == subject.classes[0]).all() and most < 1:
        text = (
            f"The network gives all {len(subject.labels):,} {subject.noun}s one class, {int(subject.classes[0])}; "
            f"{said(found)} are classified as labelled."
        )
        return Sentence(text, surprise=3.0, samples=len(subject.labels))
    text = f"Of the {len(subject.labels):,} {subject.noun}s, {said(found)} are classified as labelled"
    if found.value > most + BETTER:
        return Sentence(f"{text}.", samples=len(subject.labels))
    return Sentence(
        f"{text}, no better than always naming the most frequent label ({100 * most:.1f} %).",
        surprise=2.5,
        samples=len(subject.labels),
    )


def _mistaken(classes: np.ndarray) -> str:
    """Return the three most frequent classes in words, with how often they come."""
    others, counts = np.unique(classes, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:3]
    return ", ".join(f"{others[i]} ({counts[i]:,})" for i in order) or "none"


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
        return Content((numbers(*shown), text), Number(shown[0]), sentences=(_error(subject, shown[0]),))
    table = findings_table(found, "Errors in units of the outputs.", limit=MAX_OUTPUTS)
    first = found.finding(RMSE, 0)
    return Content((text, table), Number(first), sentences=(_error(subject, first),))


def _error(subject: Subject, first: Finding) -> Sentence:
    which = "the output" if subject.network.num_outputs == 1 else "output 0"
    text = f"The root mean square error of {which} is {said(first)} over {len(subject.data):,} {subject.noun}s."
    return Sentence(text, samples=len(subject.data))
