"""How far points are from where something changes: their region's boundary, and the decision boundary."""

from reluscope.analyses.robustness.boundary import BoundaryDistances, boundary_distance
from reluscope.analyses.robustness.decision import DecisionDistances, decision_distance
from reluscope.analyses.robustness.within import DistancesWithin, decision_distance_within
from reluscope.geometry.norms import Norm

__all__ = [
    "BoundaryDistances",
    "DecisionDistances",
    "DistancesWithin",
    "Norm",
    "boundary_distance",
    "decision_distance",
    "decision_distance_within",
]
