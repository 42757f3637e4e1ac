"""reluscope.planes."""

import numpy as np

import reluscope as rs
from conformance.bad_input.calls import Later, row
from conformance.bad_input.things import FLAT, LINE, X

_BOUNDARY = Later(lambda: rs.decision_boundary(FLAT.value))
_AREAS = Later(lambda: rs.planes.class_areas(FLAT.value))
_INTERVALS = Later(lambda: rs.planes.class_intervals(LINE.value))

ROWS = {
    "planes.ClassAreas.by_class": row(on=_AREAS, num_classes=2, kinds={"num_classes": "natural"}),
    "planes.ClassIntervals.by_class": row(on=_INTERVALS, num_classes=2, kinds={"num_classes": "natural"}),
    "planes.area_shares": row(part=FLAT, areas=_AREAS, kinds={"areas": "ours"}),
    "planes.boundary_curves": row(boundary=_BOUNDARY, kinds={"boundary": "ours"}),
    "planes.choose_triple": row(
        points=np.asarray(X, dtype=float),
        classes=np.arange(len(X)) % 2,
        kinds={"points": "matrix", "classes": "numbers"},
    ),
    "planes.class_areas": row(part=FLAT),
    "planes.class_intervals": row(part=LINE),
    "planes.plane_measures": row(part=FLAT, boundary=_BOUNDARY, kinds={"boundary": "ours"}),
}
