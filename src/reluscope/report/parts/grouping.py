"""The classes by which samples are compared: their labels, else the predicted classes, else none."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from reluscope.report.parts.subject import Subject


@dataclass(frozen=True)
class Grouping:
    """Classes of all samples."""

    values: Int[np.ndarray, " s"]
    sentence: str  # which classes these are, as the page says it


def grouping(subject: Subject) -> Grouping | None:
    """Return the labels where there are any, else the predicted classes; None if the network is no classifier."""
    if subject.classes is None:
        return None
    if subject.labels is not None:
        return Grouping(subject.labels, "Classes are the labels of the samples.")
    return Grouping(subject.classes, "The data have no labels: classes are what the network says.")
