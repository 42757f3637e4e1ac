"""Exact partitions of a domain into the regions of a network: engines and the table they fill."""

from reluscope.partitions import region_numbers as region_numbers  # which declares them
from reluscope.partitions import volume_change as volume_change
from reluscope.partitions.ask.certify import certify
from reluscope.partitions.ask.coarse_partitions import coarse_partition
from reluscope.partitions.ask.dispatch import partition, partitions
from reluscope.partitions.ask.finishing_windows import window_within
from reluscope.partitions.ask.forecasting import forecast
from reluscope.partitions.ask.stream import stream
from reluscope.partitions.decisions.decision_boundary import DecisionBoundary, decision_boundary
from reluscope.partitions.doubts.confirming import confirm
from reluscope.partitions.exact.certificates import Certificate
from reluscope.partitions.faces.faces import Faces
from reluscope.partitions.facets import Facets
from reluscope.partitions.levels.decision_surfaces import DecisionSurface
from reluscope.partitions.levels.level_sets import LevelSet
from reluscope.partitions.levels.level_walk import level_set
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.region_quantities import declare_region_quantity
from reluscope.partitions.streamed_partition import StreamedPartition

__all__ = [
    "Certificate",
    "DecisionBoundary",
    "DecisionSurface",
    "Faces",
    "Facets",
    "LevelSet",
    "Partition",
    "StreamedPartition",
    "certify",
    "coarse_partition",
    "confirm",
    "decision_boundary",
    "declare_region_quantity",
    "forecast",
    "level_set",
    "partition",
    "partitions",
    "stream",
    "window_within",
]
