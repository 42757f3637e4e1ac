"""reluscope_studies.annulus."""

import numpy as np

import reluscope as rs
from conformance.bad_input.calls import Later, row
from reluscope_studies import annulus

_LAYERS = annulus.cross_polytope_layers(2)
_REGION = Later(lambda: annulus.decision_region(_LAYERS))
_SHALLOW = Later(lambda: annulus.read_shallow(_LAYERS))
_NET = rs.load(_LAYERS)

ROWS = {
    "annulus.ShallowNetwork.__call__": row(on=_SHALLOW, x=np.ones((3, 2)), kinds={"x": "points"}),
    "annulus.ball_volume": row(dim=2, radius=1.0, kinds={"dim": "natural", "radius": "nonnegative"}),
    "annulus.cross_polytope": row(dim=2),
    "annulus.cross_polytope_layers": row(dim=2, radius=1.0),
    "annulus.decision_pieces": row(network=_NET),
    "annulus.decision_region": row(source=_LAYERS, kinds={"source": "layers"}),
    "annulus.decision_volume": row(network=_NET),
    "annulus.expanded_simplex": row(dim=2),
    "annulus.expanded_simplex_layers": row(dim=2, radius=1.0),
    "annulus.expected_cosine": row(dim=2),
    "annulus.inner_radius": row(region=_REGION, kinds={"region": "ours"}),
    "annulus.orthogonality": row(vectors=np.eye(3), kinds={"vectors": "array"}),
    "annulus.outer_radius": row(region=_REGION, kinds={"region": "ours"}),
    "annulus.part_around_origin": row(region=_REGION, kinds={"region": "ours"}),
    "annulus.random_orthogonality": row(dim=3, trials=2, seed=0),
    "annulus.read_shallow": row(source=_LAYERS, kinds={"source": "layers"}),
    "annulus.recognize": row(region=_REGION, kinds={"region": "ours"}),
    "annulus.root_polytope_layers": row(dim=2),
    "annulus.shell_volume_ratio": row(dim=2),
    "annulus.simplex_corner_layers": row(dim=3, num_inside=1),
    "annulus.layers_module": row(layers=_LAYERS, kinds={"layers": "layers"}),
}
