"""How far points are from where something changes: their region's boundary, and the decision boundary."""

from reluscope.analyses.robustness.certified_radii import certified_radius
from reluscope.analyses.robustness.distance_to_classes import decision_distance
from reluscope.analyses.robustness.distance_to_facets import boundary_distance
from reluscope.analyses.robustness.distances_to_units import unit_distances
from reluscope.analyses.robustness.within import decision_distance_within
from reluscope.moved_names import refuse

__all__ = [
    "boundary_distance",
    "certified_radius",
    "decision_distance",
    "decision_distance_within",
    "unit_distances",
]


def __getattr__(name: str) -> object:
    raise refuse("reluscope.robustness", name)
