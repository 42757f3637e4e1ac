"""reluscope.stability."""

import reluscope as rs
from conformance.bad_input.calls import Later, row
from conformance.bad_input.things import NET, X

_SPECTRA = Later(lambda: rs.stability.spectra(NET, X))

ROWS = {
    "stability.curve": row(
        found=_SPECTRA, layer=NET.gates[0].name, kinds={"found": "ours", "layer": "option", "quantile": "share"}
    ),
    "stability.extremes": row(network=NET, x=X, population=60, kinds={"population": "range whole 6 inf"}),
    "stability.layers": row(network=NET),
    "stability.prefix_map": row(network=NET, x=X[0], layer=0),
    "stability.spectra": row(
        network=NET, x=X, population=60, kinds={"population": "range whole 6 inf", "checkpoint": "write"}
    ),
}
