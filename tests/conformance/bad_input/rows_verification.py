"""reluscope.verification."""

import numpy as np

import reluscope as rs
from conformance.bad_input.calls import Later, row
from conformance.bad_input.things import FOLDER, NET, rows_of_union

_UNSAFE = [rs.Polyhedron([[1.0, 0.0]], [-100.0])]
_CASE = rs.verification.Case(-np.ones(2), np.ones(2), _UNSAFE)
SAFE = rs.verification.Property([_CASE])
_FILE = FOLDER / "safe.vnnlib"
_FILE.write_text(
    "(declare-const X_0 Real) (declare-const Y_0 Real) (assert (<= 0 X_0 1)) (assert (<= Y_0 0))", encoding="utf-8"
)
_RESULT = FOLDER / "result.txt"
_RESULT.write_text("sat ((X_0 0.5) (Y_0 1))", encoding="utf-8")

_SOME = [rs.Polyhedron([[1.0, 0.0]], [0.0])]
FOUND = Later(
    lambda: rs.violations(NET, rs.verification.Property([rs.verification.Case(-np.ones(2), np.ones(2), _SOME)]))
)
PROOF = Later(lambda: rs.verify(NET, SAFE, certify=True).proof)


ROWS = {
    "verification.Case": row(
        lower=-np.ones(2),
        upper=np.ones(2),
        unsafe=_UNSAFE,
        kinds={"lower": "array", "upper": "array", "unsafe": "each ours"},
    ),
    "verification.Proof.load": row(
        path=Later(lambda: (PROOF.value.save(FOLDER / "p.json"), FOLDER / "p.json")[1]), kinds={"path": "read"}
    ),
    "verification.Proof.save": row(on=PROOF, path=FOLDER / "proof.json", kinds={"path": "write"}),
    "verification.Property": row(cases=[_CASE], kinds={"cases": "each ours", "relates_inputs": "flag"}),
    "verification.read_counterexample": row(path=_RESULT),
    "verification.read_property": row(path=_FILE),
    "verification.replay": row(network=NET, safe=SAFE, x=np.zeros((1, 2)), kinds={"safe": "ours"}),
    "verification.verify_each": row(
        network=NET, properties=[SAFE], folder=FOLDER / "many", kinds={"properties": "each ours", "folder": "write"}
    ),
    **rows_of_union("verification.Violations", FOUND),
}
