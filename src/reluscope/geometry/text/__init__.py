"""Polyhedra as text that other programs read and write."""
