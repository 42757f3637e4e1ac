"""reluscope.classification."""

import numpy as np

from conformance.bad_input.calls import row
from conformance.bad_input.things import NET, X, Y

ROWS = {
    "classification.accuracy": row(network=NET, x=X, labels=Y),
    "classification.accuracy_by_class": row(network=NET, x=X, labels=Y),
    "classification.classes_of_outputs": row(outputs=np.eye(2), kinds={"outputs": "gaps"}),
    "classification.cross_entropy": row(network=NET, x=X, labels=Y),
    "classification.num_classes": row(network=NET),
    "classification.predicted_classes": row(network=NET, x=X),
}
