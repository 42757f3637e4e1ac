"""Numbers of regions."""

from reluscope.analyses.counting.segments import SegmentCounts, count_along_segments

__all__ = ["SegmentCounts", "count_along_segments"]
