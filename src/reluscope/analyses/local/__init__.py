"""The linear regions at given points: which points to take, what bounds regions, their sizes, which classes occur."""

from reluscope.analyses.local.adversaries import pgd as pgd
from reluscope.analyses.local.along import PiecesAlong as PiecesAlong
from reluscope.analyses.local.along import pieces_along as pieces_along
from reluscope.analyses.local.class_ends import ClassEnds as ClassEnds
from reluscope.analyses.local.class_ends import LastOfClass as LastOfClass
from reluscope.analyses.local.class_ends import last_of_class as last_of_class
from reluscope.analyses.local.classes import region_classes as region_classes
from reluscope.analyses.local.directions import Directions as Directions
from reluscope.analyses.local.directions import directions as directions
from reluscope.analyses.local.facets import RegionFacets as RegionFacets
from reluscope.analyses.local.facets import region_facets as region_facets
from reluscope.analyses.local.hyperplanes import Hyperplanes as Hyperplanes
from reluscope.analyses.local.hyperplanes import hyperplanes as hyperplanes
from reluscope.analyses.local.likeliest import LikeliestPoints as LikeliestPoints
from reluscope.analyses.local.likeliest import likeliest_in_regions as likeliest_in_regions
from reluscope.analyses.local.null_space_rays import null_directions as null_directions
from reluscope.analyses.local.null_space_rays import null_space_rays as null_space_rays
from reluscope.analyses.local.shares import class_shares as class_shares
from reluscope.analyses.local.shares import mean_distances as mean_distances
from reluscope.analyses.local.sizes import region_sizes as region_sizes
from reluscope.analyses.local.targets import class_means as class_means
from reluscope.analyses.local.targets import other_means as other_means
from reluscope.analyses.local.targets import other_points as other_points
