"""Pictures: functions that take findings or partitions and return figures, never shown, nothing computed."""

from reluscope.plots.codes import codes
from reluscope.plots.coefficients import coefficients
from reluscope.plots.distinct import distinct_codes
from reluscope.plots.gates import boundaries
from reluscope.plots.regions import partition
from reluscope.plots.saving import to_png, to_svg
from reluscope.plots.segments import segment_counts

__all__ = [
    "boundaries",
    "codes",
    "coefficients",
    "distinct_codes",
    "partition",
    "segment_counts",
    "to_png",
    "to_svg",
]
