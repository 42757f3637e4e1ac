"""reluscope.preimages."""

import numpy as np

import reluscope as rs
from conformance.bad_input.calls import Later, row
from conformance.bad_input.things import BOX, NET, X, rows_of_union
from reluscope.analyses.preimages.kind_certificates import (
    Farkas,
    FullRank,
    PositiveCombination,
    RecessionDirection,
    SecondPoint,
)

_LAYER = (np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]), np.zeros(3))
_POINTS = np.array([[1.0, 1.0], [0.5, -0.25]])
_Y = np.maximum(_POINTS @ _LAYER[0].T, 0)
_SYSTEM = Later(lambda: rs.preimages.system(_LAYER, _Y[0]))
_KINDS = Later(lambda: rs.preimages.classify(_LAYER, _Y))
_READ = Later(lambda: rs.preimages.read_layer(_LAYER))
_TARGET = rs.Box(-50, 50, dim=2).polyhedron
_HIDDEN = rs.Box(-50, 50, dim=4).polyhedron
_INVARIANT = Later(lambda: rs.preimages.invariant_set(NET, X[0], domain=BOX))
_PIECES = Later(lambda: rs.preimages.of(NET, _TARGET, domain=BOX))
_APPROXIMATION = Later(lambda: rs.preimages.of(NET, _TARGET, domain=BOX, method="approximate"))
_LOCAL = Later(lambda: rs.preimages.local_inverse(NET, X[0]))
_FEATURES = Later(lambda: np.asarray(NET(X[:1]))[0])
_CHECKED = {"system": "ours", "tolerance": "nonnegative"}


_TO_LAYER = {"layer": "layer_of", "y": "features", "domain": "box", "tolerance": "nonnegative"}

_ASKED = Later(lambda: rs.preimages.of(NET, _HALF, domain=BOX, method="boxes"))
_HALF = rs.Polyhedron([[1.0, 0.0]], [0.0])


ROWS = {
    **rows_of_union("preimages.Approximation", _APPROXIMATION),
    **rows_of_union("preimages.InputPieces", _ASKED),
    **rows_of_union("preimages.PreimagePieces", _PIECES),
    "preimages.Farkas.check": row(on=Later(lambda: Farkas(np.zeros(2), np.zeros(1))), system=_SYSTEM, kinds=_CHECKED),
    "preimages.FullRank.check": row(on=Later(lambda: FullRank(np.array([0, 1]))), system=_SYSTEM, kinds=_CHECKED),
    "preimages.PositiveCombination.check": row(
        on=Later(lambda: PositiveCombination(np.array([0]), np.ones(1))), system=_SYSTEM, kinds=_CHECKED
    ),
    "preimages.RecessionDirection.check": row(
        on=Later(lambda: RecessionDirection(np.ones(2))), system=_SYSTEM, kinds=_CHECKED
    ),
    "preimages.SecondPoint.check": row(
        on=Later(lambda: SecondPoint(np.ones(2), np.zeros(2))), system=_SYSTEM, kinds=_CHECKED
    ),
    "preimages.InvariantSet.maximize": row(on=_INVARIANT, direction=[1.0, 0.0], kinds={"direction": "vector"}),
    "preimages.InvariantSet.width": row(on=_INVARIANT, direction=[1.0, 0.0], kinds={"direction": "vector"}),
    "preimages.InvariantSet.reach": row(on=_INVARIANT, direction=[1.0, 0.0], kinds={"direction": "vector"}),
    "preimages.InvariantSet.farthest": row(on=_INVARIANT, num_starts=2),
    "preimages.LocalInverse.__call__": row(on=_LOCAL, features=_FEATURES, kinds={"features": "points"}),
    "preimages.Preimages.take": row(on=_KINDS, rows=np.array([0]), kinds={"rows": "rows"}),
    "preimages.Preimages.kind": row(on=_KINDS, position=0),
    "preimages.Preimages.decider": row(on=_KINDS, position=0),
    "preimages.Preimages.decided_by": row(
        on=_KINDS, decider=next(iter(rs.preimages.Decider)), kinds={"decider": "ours"}
    ),
    "preimages.Preimages.count": row(on=_KINDS, kind=next(iter(rs.preimages.PreimageKind)), kinds={"kind": "ours"}),
    "preimages.GateLayer.preactivations": row(on=_READ, x=_POINTS, kinds={"x": "grid"}),
    "preimages.GateLayer.__call__": row(on=_READ, x=_POINTS, kinds={"x": "grid"}),
    "preimages.GateLayer.apply": row(on=_READ, pre=_Y, kinds={"pre": "grid"}),
    "preimages.GateLayer.intervals": row(on=_READ, y=_Y, kinds={"y": "grid"}),
    "preimages.GateLayer.inversion_errors": row(on=_READ, y=_Y, kinds={"y": "grid"}),
    "preimages.MixedSystem.within": row(on=_SYSTEM, box=BOX),
    "preimages.MixedSystem.violation": row(on=_SYSTEM, x=np.array([1.0, 1.0]), kinds={"x": "vector"}),
    "preimages.PreimagePieces.size": row(on=_PIECES, dim=2, kinds={"dim": "natural"}),
    "preimages.classify": row(layer=_LAYER, y=_Y, domain=BOX, kinds=_TO_LAYER),
    "preimages.classify_at": row(layer=_LAYER, x=_POINTS, domain=BOX, kinds={**_TO_LAYER, "x": "samples"}),
    "preimages.distance_to_image": row(layer=_LAYER, y=_Y[0], domain=BOX, kinds=_TO_LAYER),
    "preimages.invariant_set": row(network=NET, x=X[0], domain=BOX),
    "preimages.invariant": row(network=NET, x=X[0], target=X[1], domain=BOX, kinds={"target": "samples"}),
    "preimages.local_inverse": row(network=NET, x=X[0], domain=BOX),
    "preimages.layer_inputs": row(network=NET, x=X, gate=0),
    "preimages.read_layer": row(source=_LAYER, kinds={"source": "layer_of"}),
    "preimages.system": row(layer=_LAYER, y=_Y[0], domain=BOX, kinds=_TO_LAYER),
    "preimages.elsewhere_bounds": row(network=NET, x=X[0], domain=BOX),
    "preimages.of": row(
        network=NET,
        what=_TARGET,
        domain=BOX,
        method="approximate",
        points=X / 9,
        kinds={"what": "ours", "points": "samples", "margin": "free", "tolerance": "ours"},
    ),
    "preimages.within_region": row(network=NET, x=X[0], target=_TARGET, domain=BOX, kinds={"target": "ours"}),
    "preimages.distance_to_range": row(network=NET, y=np.zeros(2), domain=BOX, kinds={"y": "vector"}),
    "preimages.reached_from_elsewhere": row(network=NET, x=X[0], epsilon=0.1, domain=BOX),
}
