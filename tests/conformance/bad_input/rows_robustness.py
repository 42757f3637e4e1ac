"""reluscope.robustness."""

import reluscope as rs
from conformance.bad_input.calls import row
from conformance.bad_input.things import NET, X

_BOX = rs.Box(-20, 20, dim=2)
_CALL = {"network": NET, "x": X, "norm": "l2", "domain": _BOX}

ROWS = {
    "robustness.boundary_distance": row(**_CALL),
    "robustness.certified_radius": row(network=NET, x=X, norm="l2"),
    "robustness.decision_distance": row(**_CALL, kinds={"known": "ours", "checkpoint": "write"}),
    "robustness.decision_distance_within": row(**_CALL),
    "robustness.unit_distances": row(network=NET, x=X, norm="l2"),
}
