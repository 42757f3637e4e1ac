"""Polyhedra, domains, linear programs and splitting: geometry that knows no network."""

from reluscope.geometry.polyhedra.domains import Box, Domain, Slice, Space
from reluscope.geometry.polyhedra.interior import Ball
from reluscope.geometry.polyhedra.polyhedron import Maximum, Polyhedron
from reluscope.geometry.polyhedra.slices import Plane, Segment, polyline

__all__ = [
    "Ball",
    "Box",
    "Domain",
    "Maximum",
    "Plane",
    "Polyhedron",
    "Segment",
    "Slice",
    "Space",
    "polyline",
]
