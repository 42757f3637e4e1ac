"""The linear regions at given points: which points to take, what bounds regions, their sizes, which classes occur."""

from typing import NoReturn

from reluscope.analyses.local.adversaries import pgd
from reluscope.analyses.local.along import pieces_along
from reluscope.analyses.local.class_ends import last_of_class
from reluscope.analyses.local.classes_of_regions import region_classes
from reluscope.analyses.local.facets_of_regions import region_facets
from reluscope.analyses.local.hyperplane_angles import Directions, directions
from reluscope.analyses.local.hyperplanes import hyperplanes
from reluscope.analyses.local.likeliest_points import likeliest_in_regions
from reluscope.analyses.local.null_space_rays import null_directions, null_space_rays
from reluscope.analyses.local.shares import class_shares, mean_distances
from reluscope.analyses.local.sizes_of_regions import region_sizes
from reluscope.analyses.local.walk_targets import class_means, other_means, other_points
from reluscope.moved_names import refuse

__all__ = [
    "Directions",
    "class_means",
    "class_shares",
    "directions",
    "hyperplanes",
    "last_of_class",
    "likeliest_in_regions",
    "mean_distances",
    "null_directions",
    "null_space_rays",
    "other_means",
    "other_points",
    "pgd",
    "pieces_along",
    "region_classes",
    "region_facets",
    "region_sizes",
]


def __getattr__(name: str) -> NoReturn:
    raise refuse("reluscope.local", name)
