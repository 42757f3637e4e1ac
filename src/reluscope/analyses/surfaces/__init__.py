"""Level sets as surfaces: curvature, distances to them and between them, rays, and larger polygons."""

from reluscope.analyses.surfaces.curvature import edge_curvature, vertex_curvature

__all__ = ["edge_curvature", "vertex_curvature"]
