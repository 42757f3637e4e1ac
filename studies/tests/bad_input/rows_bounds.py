"""reluscope_studies.bounds."""

import numpy as np

import reluscope as rs
from conformance.bad_input.calls import row
from conformance.bad_input.things import BOX, NET

_SIZES = {"source": "architecture"}
_CHAINS = """
    montufar_lower montufar_upper naive_upper pascanu_lower product_upper serra_lower serra_upper
"""

ROWS = {
    "bounds.activation_upper": row(network=NET, domain=BOX),
    "bounds.arora_lower": row(num_inputs=2, zonotope=2, width=3, depth=3),
    "bounds.central_arrangement": row(num_hyperplanes=3, dim=2, kinds={"dim": "natural"}),
    "bounds.count_lower_by_parity": row(
        network=NET,
        domain=rs.Box(-1, 1, 2),
        num_trials=2,
        num_parities=1,
        kinds={"num_trials": "count", "num_parities": "natural", "confidence": "share"},
    ),
    "bounds.expected_breakpoints": row(
        start=np.zeros(2),
        end=np.ones(2),
        num_units=3,
        weight_deviation=1.0,
        bias_deviation=0.5,
        kinds={"start": "vector", "end": "vector"},
    ),
    "bounds.hinz_upper": row(source=[2, 3, 1], kinds={**_SIZES, "base": "range whole 0 2"}),
    "bounds.maxout_serra_upper": row(source=[2, 3, 1], kinds={**_SIZES, "rank": "count"}),
    "bounds.maxout_single_layer": row(
        num_inputs=2, ranks=[2, 3], kinds={"ranks": "each count", "num_inputs": "natural"}
    ),
    "bounds.zaslavsky": row(num_hyperplanes=3, dim=2, kinds={"dim": "natural"}),
    **{f"bounds.{name}": row(source=[2, 8, 8], kinds=_SIZES) for name in _CHAINS.split()},
}
