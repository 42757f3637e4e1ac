"""Numbers of regions."""

from reluscope.analyses.counting.count import count
from reluscope.analyses.counting.definitions import DEFINITIONS
from reluscope.analyses.counting.parity import count_lower_by_parity
from reluscope.analyses.counting.segment_counts import count_along_segments

__all__ = ["DEFINITIONS", "count", "count_along_segments", "count_lower_by_parity"]
