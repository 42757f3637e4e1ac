"""Exact partitions of a domain into the regions of a network: engines and the table they fill."""

from reluscope.partitions.certificates import Certificate
from reluscope.partitions.coarse_partitions import coarse_partition
from reluscope.partitions.confirming import confirm
from reluscope.partitions.decision import DecisionBoundary, decision_boundary
from reluscope.partitions.decision_surfaces import DecisionSurface
from reluscope.partitions.decision_walk import decision_surface
from reluscope.partitions.dispatch import partition
from reluscope.partitions.faces import Faces
from reluscope.partitions.finishing_windows import window_within
from reluscope.partitions.forecasting import forecast
from reluscope.partitions.level_sets import LevelSet
from reluscope.partitions.level_walk import level_set
from reluscope.partitions.rows import Facets
from reluscope.partitions.streamed_partition import StreamedPartition
from reluscope.partitions.table import Partition

__all__ = [
    "Certificate",
    "DecisionBoundary",
    "DecisionSurface",
    "Faces",
    "Facets",
    "LevelSet",
    "Partition",
    "StreamedPartition",
    "coarse_partition",
    "confirm",
    "decision_boundary",
    "decision_surface",
    "forecast",
    "level_set",
    "partition",
    "window_within",
]
