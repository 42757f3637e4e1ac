"""Numbers of regions."""

from reluscope.analyses.counting.count import count
from reluscope.analyses.counting.definitions import DEFINITIONS
from reluscope.analyses.counting.segments import SegmentCounts, count_along_segments

__all__ = ["DEFINITIONS", "SegmentCounts", "count", "count_along_segments"]
