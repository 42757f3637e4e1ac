"""Counts: of regions along segments, and lower bounds that hold with a probability."""

import reluscope as rs
from conformance.bad_input.calls import row
from conformance.bad_input.things import NET, X

ROWS = {
    "counting.count_along_segments": row(
        network=NET, starts=X, ends=X + 1, kinds={"starts": "samples", "ends": "samples"}
    ),
    "counting.count_lower_by_parity": row(
        network=NET,
        domain=rs.Box(-1, 1, 2),
        num_trials=2,
        num_parities=1,
        kinds={"num_trials": "count", "num_parities": "natural", "confidence": "share"},
    ),
}
