"""Polytopes, complexes and cells that are cut by linear forms."""
