"""Polyhedra and domains: balls, corners, facets, volumes, distances, unions, in floats and in fractions."""
