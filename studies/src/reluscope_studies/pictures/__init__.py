"""Pictures of papers' own objects: functions that return matplotlib figures without showing them."""

from reluscope_studies.pictures.boolean_direction import boolean_direction
from reluscope_studies.pictures.correlation_counts import correlation_counts
from reluscope_studies.pictures.decision_polygon import decision_polygon
from reluscope_studies.pictures.decision_polytope import decision_polytope
from reluscope_studies.pictures.folding import folding
from reluscope_studies.pictures.pruning_curves import pruning_curves

__all__ = [
    "boolean_direction",
    "correlation_counts",
    "decision_polygon",
    "decision_polytope",
    "folding",
    "pruning_curves",
]
