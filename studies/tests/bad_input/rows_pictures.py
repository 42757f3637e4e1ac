"""reluscope_studies.pictures."""

import numpy as np

from conformance.bad_input.calls import Later, row
from conformance.bad_input.things import X, Y, module
from reluscope_studies import annulus, boolean, lemmas, pruning

_XOR = boolean.BooleanFunction.of_formula("x1 ^ x2")
_DECIDED = Later(lambda: annulus.decision_region(annulus.expanded_simplex_layers(2)))
_SOLID = Later(lambda: annulus.decision_region(annulus.expanded_simplex_layers(3)))
_PRUNED = Later(
    lambda: pruning.prune_by_magnitude(module(), [0.5], fine_tune=lambda module: None, test_x=X, test_labels=Y)
)

ROWS = {
    "pictures.boolean_direction": row(function=_XOR, direction=[1, 1], kinds={"direction": "direction"}),
    "pictures.decision_polygon": row(
        region=_DECIDED,
        samples=X,
        labels=Y,
        radii=(1.0,),
        kinds={"region": "ours", "samples": "gaps", "labels": "classes", "radii": "each positive"},
    ),
    "pictures.decision_polytope": row(_SOLID, kinds={"titles": "texts", "view": "ours"}),
    "pictures.folding": row(
        network=Later(lambda: annulus.read_shallow([([[1.0], [-1.0]], [0.0, 1.0]), ([[2.0, 1.0]], [-2.0])])),
        points=np.array([-2.0, 0.0, 2.0]),
        labels=np.array([1, 0, 1]),
        kinds={"network": "ours", "points": "gaps", "labels": "classes"},
    ),
    "pictures.pruning_curves": row(curves={"a": _PRUNED}, kinds={"curves": "mapping"}),
    "pictures.correlation_counts": row(
        found=Later(lambda: lemmas.correlation_counts(np.eye(4)[:, :3] + 0.1, [0], [0.5, 1.0]))
    ),
}
