"""Networks as classifiers: the classes of points, how many are right, and how sure the network is of that."""

from reluscope.analyses.classification.class_predictions import (
    accuracy,
    accuracy_by_class,
    classes_of_outputs,
    num_classes,
    predicted_classes,
)
from reluscope.analyses.classification.cross_entropy import cross_entropy

__all__ = [
    "accuracy",
    "accuracy_by_class",
    "classes_of_outputs",
    "cross_entropy",
    "num_classes",
    "predicted_classes",
]
