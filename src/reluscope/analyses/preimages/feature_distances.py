"""The quantities of distances between features, and how claims on them follow."""

import numpy as np

from reluscope.findings import Column, Kind, Quantity, declare

# Distances that differ by less than this share of the size of the features are the same.
RELATIVE = 1e-7
IMAGE_DISTANCE = declare("distance_to_image", "least l2 distance of the features to those of an input")
ELSEWHERE_DISTANCE = declare(
    "distance_from_elsewhere", "least l2 distance between features of the input and those of inputs of other regions"
)
REGION_DISTANCE = declare(
    "distance_from_region", "least l2 distance between features of the input and those of inputs of this region"
)
IS_REACHED = declare(
    "is_reached_from_elsewhere", "whether features near those of the input come from another region", kind=Kind.TRUTH
)


def tolerance_for(features: np.ndarray) -> float:
    """Return up to where distances from some features are the same."""
    return RELATIVE * max(1.0, float(np.abs(features).max(initial=0.0)))


def distance_column(
    quantity: Quantity, distance: float, lower: float, features: np.ndarray, *, method: str, given: str = ""
) -> Column:
    """Return the distance of some features to the nearest that were found, which are not nearer than what is proved."""
    return Column.of(
        quantity,
        [distance],
        [max(0.0, min(lower, distance))],
        [distance],
        scale=float(np.abs(features).max(initial=0.0)),
        method=method,
        given=given,
    )
