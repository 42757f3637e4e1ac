"""reluscope.testing."""

import reluscope as rs
from conformance.bad_input.calls import Later, row
from conformance.bad_input.rows_verification import PROOF, SAFE
from conformance.bad_input.things import NET, PLANE

_CERTIFICATE = Later(lambda: rs.certify(rs.partition(NET, PLANE)).certificate)
_DRAWN = {
    "num_inputs": "count",
    "max_layers": "count",
    "max_width": "count",
    "limit": "positive",
    "denominator": "count",
}

ROWS = {
    "testing.boxes": row(dim=2, kinds=_DRAWN),
    "testing.check_certificate": row(certificate=_CERTIFICATE, network=NET),
    "testing.check_proof": row(
        proof=PROOF, network=NET, safe=SAFE, budget=rs.Budget(seconds=60), kinds={"proof": "ours", "safe": "ours"}
    ),
    "testing.default_network": row(sizes=(2, 3, 1), kinds={"sizes": "each count"}),
    "testing.degenerate_networks": row(kinds=_DRAWN),
    "testing.dyadics": row(kinds=_DRAWN),
    "testing.generic_networks": row(kinds=_DRAWN),
    "testing.networks": row(kinds=_DRAWN),
    "testing.planes": row(num_inputs=2, kinds=_DRAWN),
    "testing.pseudo_random_network": row(num_inputs=2, widths=(3,), kinds={"widths": "each count"}),
    "testing.sawtooth_network": row(depth=2),
    "testing.segments": row(num_inputs=2, kinds=_DRAWN),
    "testing.slices": row(num_inputs=3, dim=2, kinds=_DRAWN),
}
