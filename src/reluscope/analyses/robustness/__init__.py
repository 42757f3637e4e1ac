"""How far points are from where something changes: their region's boundary, and the decision boundary."""

from reluscope.analyses.robustness.boundary import boundary_distance
from reluscope.analyses.robustness.certified import certified_radius
from reluscope.analyses.robustness.decision import decision_distance
from reluscope.analyses.robustness.within import decision_distance_within
from reluscope.geometry.numbers.norms import Norm

__all__ = ["Norm", "boundary_distance", "certified_radius", "decision_distance", "decision_distance_within"]
