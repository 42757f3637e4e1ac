"""Affine operators: one idea per module, each with its linear part, its constant and its magnitude."""
