"""reluscope.surfaces."""

import numpy as np

import reluscope as rs
from conformance.bad_input.calls import Later, row

BALL = rs.load([(np.r_[np.eye(3), -np.eye(3)], np.zeros(6)), (np.ones((1, 6)), -np.ones(1))])
SURFACE = Later(lambda: rs.level_set(BALL, rs.Box(-2, 2, 3)))

ROWS = {
    "surfaces.cast_rays": row(
        surface=SURFACE,
        origins=np.zeros((2, 3)),
        directions=np.eye(3)[:2],
        kinds={"surface": "ours", "origins": "matrix", "directions": "matrix"},
    ),
    "surfaces.distance": row(
        surface=SURFACE, points=np.zeros((2, 3)), network=BALL, kinds={"surface": "ours", "points": "matrix"}
    ),
    "surfaces.edge_curvature": row(surface=SURFACE, kinds={"surface": "ours"}),
    "surfaces.hausdorff": row(
        first=SURFACE,
        second=SURFACE,
        precision=1e-3,
        kinds={"first": "ours", "second": "ours", "precision": "positive"},
    ),
    "surfaces.merge_coplanar": row(surface=SURFACE, network=BALL, kinds={"surface": "ours"}),
    "surfaces.vertex_curvature": row(surface=SURFACE, kinds={"surface": "ours"}),
}
