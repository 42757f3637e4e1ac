"""What a partition of a line or a plane shows: which class lies where, and its measures."""

from typing import NoReturn

from reluscope.analyses.planes.boundary_curves import BoundaryCurve, boundary_curves
from reluscope.analyses.planes.class_areas import class_areas
from reluscope.analyses.planes.class_intervals import class_intervals
from reluscope.analyses.planes.measures_of_planes import area_shares, plane_measures
from reluscope.analyses.samples.choosing import choose_triple
from reluscope.moved_names import refuse

__all__ = [
    "BoundaryCurve",
    "area_shares",
    "boundary_curves",
    "choose_triple",
    "class_areas",
    "class_intervals",
    "plane_measures",
]


def __getattr__(name: str) -> NoReturn:
    raise refuse("reluscope.planes", name)
