"""Properties of the linear regions at given points: the classes that live there."""

from reluscope.analyses.local.classes import RegionClasses as RegionClasses
from reluscope.analyses.local.classes import region_classes as region_classes
