"""reluscope.coefficients."""

import reluscope as rs
from conformance.bad_input.calls import Later, row
from conformance.bad_input.things import FOLDER, NET, X

_MATRICES = Later(lambda: rs.coefficients.matrix(NET, X))

ROWS = {
    "coefficients.CoefficientMatrices.output": row(on=_MATRICES, j=0),
    "coefficients.CoefficientMatrices.maps": row(on=_MATRICES, rows=[0, 1], kinds={"rows": "rows"}),
    "coefficients.linear_margins": row(network=NET, x=X, population=60, kinds={"population": "range whole 6 inf"}),
    "coefficients.local_norms": row(network=NET, x=X, population=60, kinds={"population": "range whole 6 inf"}),
    "coefficients.matrix": row(
        network=NET, x=X, outputs=[0, -1], checkpoint=FOLDER / "checkpoint", kinds={"checkpoint": "write"}
    ),
}
