"""reluscope.sensitivity."""

import numpy as np

import reluscope as rs
from conformance.bad_input.calls import Later, row
from conformance.bad_input.things import NET, X

_SPACES = Later(lambda: rs.sensitivity.active_subspaces(NET, X))
_ENDS = {"a": "vector", "b": "vector", "c": "vector"}

ROWS = {
    "sensitivity.ActiveSubspaces.rank": row(on=_SPACES, j=0),
    "sensitivity.ActiveSubspaces.share": row(on=_SPACES, j=0),
    "sensitivity.Saliency.constant_share": row(on=Later(lambda: rs.sensitivity.saliency(NET, X)), row=0),
    "sensitivity.active_subspaces": row(network=NET, x=X, outputs=[0, -1], num_directions=2),
    "sensitivity.ellipse": row(a=[0.0, 0.0], b=[1.0, 0.0], c=[0.0, 1.0], num_points=9, kinds={**_ENDS, "c": "corner"}),
    "sensitivity.integrated_gradients": row(
        network=NET, x=X, baseline=X[0], outputs=[0, 1, 0, 1, 0, -1], kinds={"baseline": "samples"}
    ),
    "sensitivity.local_complexity": row(network=NET, x=X, radius=0.1, num_samples=10, kinds={"deviation": "positive"}),
    "sensitivity.output_along": row(
        network=NET,
        x=X,
        direction=np.array([1.0, 0.0]),
        output=-1,
        kinds={"output": "index", "direction": "vector", "on_line": "flag"},
    ),
    "sensitivity.saliency": row(network=NET, x=X, outputs=[0, 1, 0, 1, 0, -1]),
    "sensitivity.trajectory": row(points=X, kinds={"points": "array"}),
    "sensitivity.transitions": row(network=NET, way=X, kinds={"way": "samples"}),
    "sensitivity.translations": row(image=np.arange(9.0).reshape(3, 3), shape=(3, 3), kinds={"image": "array"}),
}
