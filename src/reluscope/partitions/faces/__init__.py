"""Faces of all dimensions of a partition."""
