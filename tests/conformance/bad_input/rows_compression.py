"""reluscope.compression."""

import reluscope as rs
from conformance.bad_input.calls import Later, row
from conformance.bad_input.things import BOX, FLAT, NET, X, Y, module

_MATRICES = Later(lambda: rs.coefficients.matrix(NET, X))
_CLUSTERS = Later(lambda: rs.compression.cluster_maps(_MATRICES.value, 2))
_CURVE = Later(lambda: rs.compression.accuracy_curve(_MATRICES.value, _MATRICES.value, Y, (1, 2)))

ROWS = {
    "compression.MergedRegions.__call__": row(
        on=Later(lambda: rs.compression.merge_regions(FLAT.value)), points=[[0.5, 0.5]], kinds={"points": "points"}
    ),
    "compression.accuracy_curve": row(
        training=_MATRICES,
        samples=_MATRICES,
        labels=Y,
        num_clusters=(1, 2),
        rules=("own_map",),
        kinds={"training": "ours", "samples": "ours", "num_clusters": "each count", "rules": "each option"},
    ),
    "compression.cluster_maps": row(matrices=_MATRICES, num_clusters=2),
    "compression.compressed_outputs": row(clusters=_CLUSTERS, samples=_MATRICES, kinds={"samples": "ours"}),
    "compression.fewest_clusters": row(curve=_CURVE, kinds={"curve": "ours"}),
    "compression.merge_regions": row(part=FLAT, error=0.1),
    "compression.prune_exact": row(model=Later(module), domain=BOX, input_shape=(2,), kinds={"model": "other"}),
    "compression.region_samples": row(matrices=_MATRICES),
    "compression.regions_holding": row(
        found=Later(lambda: rs.compression.region_samples(_MATRICES.value)), share=0.5, kinds={"found": "ours"}
    ),
    "compression.unit_pieces": row(network=NET, domain=BOX),
}
