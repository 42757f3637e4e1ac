"""reluscope.local."""

import numpy as np
import torch

import reluscope as rs
from conformance.bad_input.calls import Later, row
from conformance.bad_input.things import NET, X, Y

_WIDE = rs.Box(-20, 20, dim=2)
_DIRECTIONS = Later(lambda: rs.local.directions(NET, X[:1])[0])
_HYPER = Later(lambda: rs.local.hyperplanes(NET, X[:1]))

ROWS = {
    "local.Directions.angles": row(on=_DIRECTIONS, rows=[0], kinds={"rows": "rows"}),
    "local.Hyperplanes.only": row(
        on=_HYPER, sources=Later(lambda: _HYPER.value.sources[:1]), kinds={"sources": "list"}
    ),
    "local.Hyperplanes.normals": row(on=_HYPER, rows=np.array([0]), kinds={"rows": "rows"}),
    "local.class_means": row(network=NET, x=X, labels=Y),
    "local.class_shares": row(network=NET, x=X, domain=_WIDE, draws=2, chains=2, thinning=1, kinds={"domain": "box"}),
    "local.mean_distances": row(network=NET, x=X, domain=_WIDE, draws=2, chains=2, thinning=1, kinds={"domain": "box"}),
    "local.directions": row(network=NET, x=X[:1], bins=4, pixels=4, kinds={"pixels": "natural", "rows": "ours"}),
    "local.hyperplanes": row(network=NET, x=X[:1]),
    "local.last_of_class": row(network=NET, starts=X, targets=X + 1, kinds={"starts": "samples", "targets": "samples"}),
    "local.likeliest_in_regions": row(network=NET, x=X, domain=_WIDE, kinds={"domain": "box"}),
    "local.null_directions": row(
        weight=torch.ones(1, 2).double(),
        count=1,
        generator=np.random.default_rng(0),
        kinds={"weight": "ours", "generator": "ours"},
    ),
    "local.other_means": row(network=NET, x=X, labels=Y, classes=Y, seed=0, kinds={"classes": "chosen classes"}),
    "local.other_points": row(network=NET, x=X, labels=Y, classes=Y, seed=0, kinds={"classes": "chosen classes"}),
    "local.pgd": row(network=NET, x=X, labels=Y, radius=0.1, steps=2),
    "local.pieces_along": row(network=NET, starts=X, ends=X + 1, kinds={"starts": "samples", "ends": "samples"}),
    "local.region_classes": row(network=NET, x=X, domain=_WIDE, kinds={"domain": "box"}),
    "local.region_facets": row(network=NET, x=X[:1], domain=_WIDE, kinds={"domain": "box"}),
    "local.region_sizes": row(network=NET, x=X, domain=_WIDE, kinds={"domain": "box"}),
    "local.null_space_rays": row(network=NET, x=X, count=2),
}
