"""Counts of regions along segments."""

from conformance.bad_input.calls import row
from conformance.bad_input.things import NET, X

ROWS = {
    "counting.count_along_segments": row(
        network=NET, starts=X, ends=X + 1, kinds={"starts": "samples", "ends": "samples"}
    ),
}
