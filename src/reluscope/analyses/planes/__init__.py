"""What a partition of the plane shows: which class where, which gate bends where."""

from reluscope.analyses.planes.class_areas import ClassAreas, class_areas
from reluscope.analyses.planes.view import PlaneView, view_plane

__all__ = ["ClassAreas", "PlaneView", "class_areas", "view_plane"]
