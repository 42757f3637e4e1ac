"""Chunks of polygons and polytopes with shared vertices, cut gate by gate."""
