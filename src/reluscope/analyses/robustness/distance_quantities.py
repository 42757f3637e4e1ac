"""The distances around a point: to where its affine map ends, and to where its class changes."""

import numpy as np
from jaxtyping import Float

from reluscope.findings import Column, Quantity, declare
from reluscope.networks.input_units import InputUnits

BOUNDARY_DISTANCE = declare(
    "boundary_distance", "distance from the point to the boundary of its linear region", unit="input"
)
DECISION_DISTANCE_WITHIN = declare(
    "decision_distance_within",
    "least distance to a point of the closed linear region where another output is not below that of the point's class",
    unit="input",
)
DECISION_DISTANCE = declare(
    "decision_distance",
    "least distance at which a change of class begins; outputs that touch and do not cross change no class",
    unit="input",
)


def distances(
    quantity: Quantity,
    value: Float[np.ndarray, " s"],
    lower: Float[np.ndarray, " s"],
    upper: Float[np.ndarray, " s"],
    *,
    sizes: Float[np.ndarray, " s"],
    points: Float[np.ndarray, "s n"],
    units: InputUnits,
    method: str,
) -> Column:
    """Return distances from points in some units as a column: with the sizes of the points as scale.

    Coordinates are rounded relative to the points' sizes. The lower end may be below zero. An infinite value of which
    less is proved is its lower end.
    """
    lower, upper = units.ends(lower, upper, points)
    lower = np.maximum(lower, 0.0)
    value = np.where(np.isinf(value), lower, value)
    return Column.of(quantity, value, lower, upper, scale=sizes, method=method, given=f"in {units.norm}")
