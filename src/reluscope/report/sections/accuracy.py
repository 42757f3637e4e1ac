"""How often the network is right, where labels say what right is."""

from reluscope.analyses.classification import accuracy
from reluscope.report.content import Content, Number, Text, numbers
from reluscope.report.subject import Subject, Tell

TITLE = "Accuracy"
POSITION = 20


def why_not(subject: Subject) -> str | None:
    """Return why there is no accuracy: without labels."""
    if subject.data.labels is None:
        return "The data came without labels, so there is no accuracy; give them with --labels FILE."
    return None


def seconds(subject: Subject) -> float:
    """Return about how long it takes: a forward pass over the samples."""
    return 0.05 + len(subject.data) * subject.seconds_per_sample


def content(subject: Subject, tell: Tell) -> Content:
    """Say which share of the samples is classified as labelled."""
    del tell
    labels = subject.data.labels
    assert labels is not None
    found = accuracy(subject.network, subject.data.points, labels)
    shown = Number(found, f"{100 * float(found):.2f} %")
    right = int((subject.classes == labels).sum())
    sentence = f"The class of {right:,} of {len(labels):,} samples of {subject.data.name} is their label."
    if subject.network.num_outputs == 1:
        sentence += " The network has one output: class 1 where it is positive, else class 0."
    return Content((numbers(shown), Text(sentence)), shown)
