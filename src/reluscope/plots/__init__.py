"""Pictures: functions that take findings or partitions and return matplotlib figures, never shown, nothing computed."""

from reluscope.plots.classes import class_map
from reluscope.plots.codes import distinct_codes
from reluscope.plots.gates import boundaries
from reluscope.plots.regions import partition
from reluscope.plots.saving import to_png, to_svg
from reluscope.plots.segments import segment_counts

__all__ = ["boundaries", "class_map", "distinct_codes", "partition", "segment_counts", "to_png", "to_svg"]
