"""reluscope_studies.boolean."""

import numpy as np
import torch

import reluscope as rs
from conformance.bad_input.calls import Later, row
from reluscope_studies import boolean

_XOR = boolean.BooleanFunction.of_formula("x1 ^ x2")
_ALONG = [1, 1]
_BUILT = Later(lambda: boolean.by_width(_XOR, _ALONG))
_NET = Later(lambda: boolean.network_of(_BUILT.value))
_SEVEN = torch.nn.Sequential(torch.nn.Linear(1, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
_CASE = ((True, True, True), (True, True, True))
_DIRECTION = {"direction": "direction"}

ROWS = {
    "boolean.BooleanFunction": row(
        num_inputs=2, number=6, kinds={"num_inputs": "natural", "number": "range whole 0 15"}
    ),
    "boolean.BooleanFunction.of_values": row(values=[0, 1, 1, 0], kinds={"values": "bits"}),
    "boolean.BooleanFunction.of_formula": row(text="x1 ^ x2", kinds={"text": "formula", "num_inputs": "natural"}),
    "boolean.BooleanFunction.of_callable": row(
        rule=lambda *x: sum(x) % 2, num_inputs=2, kinds={"rule": "function", "num_inputs": "natural"}
    ),
    "boolean.BooleanFunction.__call__": row(on=_XOR, x=[0, 1], kinds={"x": "bits"}),
    "boolean.all_inputs": row(num_inputs=2, kinds={"num_inputs": "natural"}),
    "boolean.alternating": row(function=_XOR, direction=_ALONG, width=2, depth=2, kinds=_DIRECTION),
    "boolean.by_depth": row(function=_XOR, direction=_ALONG, kinds=_DIRECTION),
    "boolean.by_search": row(function=_XOR, direction=_ALONG, kinds=_DIRECTION),
    "boolean.by_width": row(function=_XOR, direction=_ALONG, kinds=_DIRECTION),
    "boolean.case_loss": row(active=_CASE, kinds={"active": "each each flag"}),
    "boolean.degree": row(function=_XOR),
    "boolean.entropy": row(function=_XOR),
    "boolean.influences": row(function=_XOR),
    "boolean.largest_swaps": row(num_inputs=2, kinds={"num_inputs": "natural"}),
    "boolean.network_of": row(construction=_BUILT),
    "boolean.noise_sensitivity": row(function=_XOR, rate=0.1),
    "boolean.npn_class": row(function=_XOR),
    "boolean.npn_classes": row(num_inputs=2, kinds={"num_inputs": "natural"}),
    "boolean.num_changes": row(function=_XOR, direction=_ALONG, kinds=_DIRECTION),
    "boolean.num_npn_classes": row(num_inputs=2, kinds={"num_inputs": "natural"}),
    "boolean.parameters_of": row(module=_SEVEN, kinds={"module": "ours"}),
    "boolean.parity_network": row(num_inputs=2, width=2, depth=2),
    "boolean.reached_states": row(
        parameters=np.zeros((3, 7)), tolerance=0.02, kinds={"parameters": "array", "tolerance": "nonnegative"}
    ),
    "boolean.search_hardest": row(
        num_inputs=2, steps=3, seed=0, start=_XOR, kinds={"start": "ours", "num_inputs": "natural"}
    ),
    "boolean.small_direction": row(function=_XOR, changes=2, largest=2),
    "boolean.smallest_known": row(function=_XOR, budget=rs.Budget(seconds=1.0)),
    "boolean.spectrum": row(function=_XOR),
    "boolean.strict_orderings": row(num_inputs=2, kinds={"num_inputs": "natural"}),
    "boolean.swaps": row(function=_XOR, budget=rs.Budget(seconds=1.0)),
    "boolean.threshold_degree": row(function=_XOR),
    "boolean.threshold_test": row(function=_XOR),
    "boolean.total_influence": row(function=_XOR),
    "boolean.wrong_inputs": row(function=_XOR, network=_NET),
}
