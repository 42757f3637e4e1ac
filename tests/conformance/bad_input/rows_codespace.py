"""reluscope.codespace."""

import numpy as np

import reluscope as rs
from conformance.bad_input.calls import Later, row
from conformance.bad_input.things import CODES, NET, REGION, SAMPLED, X, Y

_CLUSTERS = Later(lambda: rs.codespace.cluster(CODES, 2))
_EMBEDDED = Later(lambda: rs.codespace.embed(CODES))
_ADJACENT = Later(lambda: rs.codespace.adjacency(NET, X))
_FACES = Later(lambda: _CELL.value.faces())
_CELL = Later(lambda: rs.codespace.half_open(REGION.value))

ROWS = {
    "codespace.Adjacency.flips_at": row(on=_ADJACENT, pair=0),
    "codespace.CodeClusters.agreement": row(on=_CLUSTERS, classes=Y),
    "codespace.HalfOpenCell.contains": row(on=_CELL, x=X, kinds={"x": "points"}),
    "codespace.SampleCodes.select": row(on=SAMPLED, rows=np.array([0, 1]), kinds={"rows": "rows"}),
    "codespace.SampleCodes.of_gates": row(CODES.layout.gates[0].name, on=SAMPLED),
    "codespace.ClassFaces.centers": row(on=_FACES, dim=0, kinds={"dim": "natural"}),
    "codespace.activation_rate": row(codes=CODES),
    "codespace.adjacency": row(network=NET, x=X, domain=rs.Box(-20, 20, dim=2), budget=rs.Budget(seconds=10.0)),
    "codespace.align": row(embedding=_EMBEDDED, reference=_EMBEDDED),
    "codespace.auroc": row(
        inside=np.array([0.1, 0.2]), outside=np.array([0.3]), kinds={"inside": "array", "outside": "array"}
    ),
    "codespace.class_distances": row(sampled=SAMPLED, classes=Y, kinds={"num_classes": "count"}),
    "codespace.cluster": row(codes=CODES, num_clusters=2, threshold=3),
    "codespace.correctly_classified": row(network=NET, sampled=SAMPLED, x=X, labels=Y),
    "codespace.distinct_codes": row(sampled=SAMPLED, classes=Y),
    "codespace.duplicate_units": row(sampled=SAMPLED),
    "codespace.embed": row(codes=CODES, reference=_EMBEDDED),
    "codespace.embed_series": row(series=[CODES, CODES], kinds={"series": "each ours"}),
    "codespace.embedding_trust": row(codes=CODES, embedding=_EMBEDDED, num_neighbors=2),
    "codespace.half_open": row(region=REGION, kinds={"region": "ours"}),
    "codespace.mean_code_distances": row(sampled=SAMPLED, classes=Y),
    "codespace.nearest_codes": row(codes=CODES, queries=CODES, k=2, kinds={"queries": "ours"}),
    "codespace.novelty": row(data=SAMPLED, samples=SAMPLED, kinds={"data": "ours", "samples": "ours"}),
    "codespace.occupancy": row(sampled=SAMPLED, classes=Y),
    "codespace.pair_distances": row(sampled=SAMPLED, classes=Y),
    "codespace.piece_counts": row(codes=CODES),
    "codespace.sample_codes": row(network=NET, x=X),
    "codespace.unit_usage": row(network=NET, sampled=SAMPLED),
}
