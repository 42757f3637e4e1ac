"""reluscope.bounds."""

import reluscope as rs
from conformance.bad_input.calls import row
from conformance.bad_input.things import BOX, NET

_SIZES = {"source": "architecture"}
_LAYER = rs.bounds.LayerSize(ranks=((2, 3),), dimension=3)

ROWS = {
    "bounds.Architecture": row(num_inputs=2, layers=(_LAYER,), kinds={"layers": "each ours", "is_chain": "flag"}),
    "bounds.Architecture.of": row(source=[2, 3, 1], kinds=_SIZES),
    "bounds.LayerSize": row(
        ranks=((2, 3),),
        dimension=3,
        kinds={"ranks": "each each count", "dimension": "natural", "is_relu": "flag"},
    ),
    "bounds.lower": row(source=[2, 8, 8], kinds=_SIZES),
    "bounds.table": row(source=NET, domain=BOX, kinds=_SIZES),
    "bounds.upper": row(source=NET, domain=BOX, kinds=_SIZES),
}
