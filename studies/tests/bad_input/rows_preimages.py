"""reluscope_studies.preimages."""

import numpy as np

import reluscope as rs
from conformance.bad_input.calls import Later, row
from reluscope_studies import preimages

_LAYER = (np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]), np.zeros(3))
_POINTS = np.array([[1.0, 1.0], [0.5, -0.25]])
_Y = np.maximum(_POINTS @ _LAYER[0].T, 0)
_KINDS = Later(lambda: rs.preimages.classify(_LAYER, _Y))
_COMPARED = Later(lambda: preimages.compare_with_algorithm_1(_LAYER, _Y, _KINDS.value))
_TO_LAYER = {"layer": "layer_of", "y": "features", "domain": "box", "tolerance": "nonnegative"}

ROWS = {
    "preimages.Comparison.error": row(on=_COMPARED, position=0),
    "preimages.Comparison.count": row(on=_COMPARED, error=next(iter(preimages.Error)), kinds={"error": "ours"}),
    "preimages.is_omnidirectional": row(
        A=_LAYER[0],
        b=_LAYER[1],
        p=[0.0, 0.0],
        kinds={"A": "array", "b": "vector", "p": "vector", "tolerance": "nonnegative"},
    ),
    "preimages.algorithm_1": row(A=_LAYER[0], b=_LAYER[1], y=_Y[0], kinds={"A": "array", "b": "vector", "y": "vector"}),
    "preimages.compare_with_algorithm_1": row(layer=_LAYER, y=_Y, found=_KINDS, kinds=_TO_LAYER),
}
