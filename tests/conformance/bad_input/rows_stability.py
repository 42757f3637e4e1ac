"""reluscope.stability."""

import reluscope as rs
from conformance.bad_input.calls import Later, row
from conformance.bad_input.things import DRAW, NET, X

_SPECTRA = Later(lambda: rs.stability.spectra(NET, X))
_MATRIX = DRAW.normal(size=(4, 3))
_KINDS = {"matrix": "array", "removed": "places", "constants": "list"}

ROWS = {
    "stability.curve": row(
        found=_SPECTRA, layer=NET.gates[0].name, kinds={"found": "ours", "layer": "option", "quantile": "share"}
    ),
    "stability.correlation_counts": row(matrix=_MATRIX, removed=[0], constants=[0.5, 1.0], kinds=_KINDS),
    "stability.extremes": row(network=NET, x=X, population=60, kinds={"population": "range whole 6 inf"}),
    "stability.jacobian_bytes": row(network=NET),
    "stability.layers": row(network=NET),
    "stability.lemma8": row(matrix=_MATRIX, removed=[0], kinds=_KINDS),
    "stability.lemma9": row(matrix=_MATRIX, removed=[0], kinds=_KINDS),
    "stability.prefix_map": row(network=NET, x=X[0], layer=0),
    "stability.spectra": row(
        network=NET, x=X, population=60, kinds={"population": "range whole 6 inf", "checkpoint": "write"}
    ),
}
