"""Classification of a ball against the shell around it: the smallest networks that solve it, their decision regions."""

from reluscope_studies.annulus.boundary import DecisionRegion, decision_region, part_around_origin
from reluscope_studies.annulus.cosines import (
    Orthogonality,
    expected_cosine,
    orthogonality,
    random_orthogonality,
)
from reluscope_studies.annulus.pieces import decision_pieces, decision_volume
from reluscope_studies.annulus.region_radii import inner_radius, outer_radius
from reluscope_studies.annulus.shallow import ShallowNetwork, layers_module, read_shallow
from reluscope_studies.annulus.shapes import Shape, recognize
from reluscope_studies.annulus.solutions import (
    FacetKind,
    Solution,
    ball_volume,
    cross_polytope,
    cross_polytope_layers,
    expanded_simplex,
    expanded_simplex_layers,
    root_polytope_layers,
    shell_volume_ratio,
    simplex_corner_layers,
)

__all__ = [
    "DecisionRegion",
    "FacetKind",
    "Orthogonality",
    "ShallowNetwork",
    "Shape",
    "Solution",
    "ball_volume",
    "cross_polytope",
    "cross_polytope_layers",
    "decision_pieces",
    "decision_region",
    "decision_volume",
    "expanded_simplex",
    "expanded_simplex_layers",
    "expected_cosine",
    "inner_radius",
    "layers_module",
    "orthogonality",
    "outer_radius",
    "part_around_origin",
    "random_orthogonality",
    "read_shallow",
    "recognize",
    "root_polytope_layers",
    "shell_volume_ratio",
    "simplex_corner_layers",
]
