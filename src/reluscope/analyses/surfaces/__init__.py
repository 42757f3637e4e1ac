"""Level sets as surfaces: curvature, distances to them and between them, rays, and larger polygons."""

from reluscope.analyses.surfaces.curvature import edge_curvature, vertex_curvature
from reluscope.analyses.surfaces.distance import distance

__all__ = ["distance", "edge_curvature", "vertex_curvature"]
