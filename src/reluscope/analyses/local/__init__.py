"""The linear regions at given points: where to look, what bounds them, which classes live there, what is around."""

from reluscope.analyses.local.adversaries import pgd as pgd
from reluscope.analyses.local.along import PiecesAlong as PiecesAlong
from reluscope.analyses.local.along import pieces_along as pieces_along
from reluscope.analyses.local.classes import RegionClasses as RegionClasses
from reluscope.analyses.local.classes import region_classes as region_classes
from reluscope.analyses.local.places import ClassEnds as ClassEnds
from reluscope.analyses.local.places import LastOfClass as LastOfClass
from reluscope.analyses.local.places import last_of_class as last_of_class
from reluscope.analyses.local.targets import class_means as class_means
from reluscope.analyses.local.targets import other_means as other_means
from reluscope.analyses.local.targets import other_points as other_points
