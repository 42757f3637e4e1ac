"""reluscope.similarity."""

import reluscope as rs
from conformance.bad_input.calls import Later, row
from conformance.bad_input.things import BOX, DRAW, NET, OTHER, PART, X, Y
from reluscope.networks.evaluation.rounded_forward import rounded_forward

_FIRST, _SECOND = DRAW.normal(size=(9, 3)), DRAW.normal(size=(9, 2))
_TENSOR = DRAW.normal(size=(2, 9, 3))
_FORWARDS = [rounded_forward(NET, X), rounded_forward(OTHER, X)]
_PAIR = {"forwards": "each ours", "first": "index", "second": "index", "partitions": "ours"}
_FEATURES = {"first": "features", "second": "features"}
_COMPARED = Later(lambda: rs.similarity.compare({"a": NET, "b": OTHER}, X, Y))
_MAPS = Later(lambda: rs.similarity.coefficient_maps(NET, OTHER, X))
_PARTS = Later(lambda: [PART.value, rs.partition(OTHER, BOX)])
_OVERLAY = Later(lambda: rs.similarity.overlay(_PARTS.value))
_TWO = {"first": 0, "second": 1, "kinds": {"first": "index", "second": "index"}}
_FOUND = {"found": _COMPARED, "name": "cka", "kinds": {"name": "option"}}

ROWS = {
    "similarity.CoefficientMaps.matrix": row(on=_MAPS, j=0),
    "similarity.CoefficientMaps.outputs": row(on=_MAPS, x=X),
    "similarity.Overlay.differences": row(on=_OVERLAY, **_TWO),
    "similarity.Overlay.largest_difference": row(on=_OVERLAY, budget=rs.Budget(regions=10), **_TWO),
    "similarity.agreement_of_predictions": row(forwards=_FORWARDS, first=0, second=1, kinds=_PAIR),
    "similarity.coefficient_maps": row(first=NET, second=OTHER, x=X, kinds={"first": "network", "second": "network"}),
    "similarity.compare": row(
        networks={"a": NET, "b": OTHER},
        x=X,
        labels=Y,
        fit_on=X,
        metrics=["cka"],
        gates=[0, -1],
        kinds={"networks": "mapping", "fit_on": "samples", "metrics": "each option", "gates": "each gate"},
    ),
    "similarity.compared_networks": row(found=_COMPARED),
    "similarity.debiased_cka": row(first=_FIRST, second=_SECOND, kinds={"first": "matrix", "second": "matrix"}),
    "similarity.features": row(network=NET, x=X, gate=0),
    "similarity.linear_cka": row(first=_FIRST, second=_SECOND, kinds={"first": "matrix", "second": "matrix"}),
    "similarity.output_cross_entropy": row(forwards=_FORWARDS, first=0, second=1, kinds=_PAIR),
    "similarity.overlay": row(parts=_PARTS, kinds={"parts": "each ours", "classes": "flag"}),
    "similarity.pair_matrix": row(**_FOUND),
    "similarity.pair_title": row(**_FOUND),
    "similarity.procrustes_distance": row(first=_FIRST, second=_SECOND, kinds={"first": "matrix", "second": "matrix"}),
    "similarity.scaled_distance": row(first=_TENSOR, second=-_TENSOR, kinds=_FEATURES),
}
