"""reluscope.robustness."""

import reluscope as rs
from conformance.bad_input.calls import Later, row
from conformance.bad_input.things import NET, X

_BOX = rs.Box(-20, 20, dim=2)
_CALL = {"network": NET, "x": X, "norm": "l2", "domain": _BOX}

ROWS = {
    "robustness.BoundaryDistances.finding": row(on=Later(lambda: rs.robustness.boundary_distance(**_CALL)), row=0),
    "robustness.DecisionDistances.finding": row(on=Later(lambda: rs.robustness.decision_distance(**_CALL)), row=0),
    "robustness.DistancesWithin.finding": row(on=Later(lambda: rs.robustness.decision_distance_within(**_CALL)), row=0),
    "robustness.boundary_distance": row(**_CALL),
    "robustness.decision_distance": row(**_CALL),
    "robustness.decision_distance_within": row(**_CALL),
}
