"""Level sets as surfaces: curvature, distances to them and between them, rays, and larger polygons."""

from typing import NoReturn

from reluscope.analyses.surfaces.curvature import edge_curvature, vertex_curvature
from reluscope.analyses.surfaces.distance import distance
from reluscope.analyses.surfaces.hausdorff import hausdorff
from reluscope.analyses.surfaces.merged_polygons import merge_coplanar
from reluscope.analyses.surfaces.rays import cast_rays
from reluscope.moved_names import refuse

__all__ = [
    "cast_rays",
    "distance",
    "edge_curvature",
    "hausdorff",
    "merge_coplanar",
    "vertex_curvature",
]


def __getattr__(name: str) -> NoReturn:
    raise refuse("reluscope.surfaces", name)
