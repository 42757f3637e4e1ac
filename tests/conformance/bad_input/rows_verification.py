"""reluscope.verification."""

import numpy as np

import reluscope as rs
from conformance.bad_input.calls import row
from conformance.bad_input.things import FOLDER, NET

_UNSAFE = [rs.Polyhedron([[1.0, 0.0]], [-100.0])]
_CASE = rs.verification.Case(-np.ones(2), np.ones(2), _UNSAFE)
SAFE = rs.verification.Property([_CASE])
_FILE = FOLDER / "safe.vnnlib"
_FILE.write_text("(declare-const X_0 Real) (declare-const Y_0 Real) (assert (<= 0 X_0 1)) (assert (<= Y_0 0))")

ROWS = {
    "verification.Case": row(
        lower=-np.ones(2),
        upper=np.ones(2),
        unsafe=_UNSAFE,
        kinds={"lower": "array", "upper": "array", "unsafe": "each ours"},
    ),
    "verification.Property": row(cases=[_CASE], kinds={"cases": "each ours"}),
    "verification.read_property": row(path=_FILE),
    "verification.replay": row(network=NET, safe=SAFE, x=np.zeros((1, 2)), kinds={"safe": "ours"}),
}
