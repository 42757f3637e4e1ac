"""reluscope.compression."""

import numpy as np

import reluscope as rs
from conformance.bad_input.calls import Later, row
from conformance.bad_input.things import BOX, FLAT, NET, X, Y, module, quick

_MATRICES = Later(lambda: rs.coefficients.matrix(NET, X))
_CLUSTERS = Later(lambda: rs.compression.cluster_maps(_MATRICES.value, 2))
_CURVE = Later(lambda: rs.compression.accuracy_curve(_MATRICES.value, _MATRICES.value, Y, (1, 2)))
_PRUNED = Later(lambda: rs.compression.prune_by_magnitude(module(), [0.5], **_TUNED))
_TUNED = {"fine_tune": lambda module: None, "test_x": X, "test_labels": Y}
_TUNED_KINDS = {"least_accuracy": "number", "test_x": "samples", "module": "ours", "x": "samples", "labels": "labels"}
_STACK = Later(lambda: rs.stacked.initialize((3,), num_inputs=2, seeds=[0]))
_TARGETS = Y[:, None].astype(float)
_IMAGES = np.linspace(0, 1, 6 * 16).reshape(6, 1, 4, 4).astype(np.float32)


def _convolution():
    from torch import nn

    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8, 2))


ROWS = {
    "compression.MergedRegions.__call__": row(
        on=Later(lambda: rs.compression.merge_regions(FLAT.value)), points=[[0.5, 0.5]], kinds={"points": "points"}
    ),
    "compression.PruningCurve.fewest_weights": row(on=_PRUNED),
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
    "compression.prune_by_magnitude": row(
        module=Later(module), amounts=[0.5], **_TUNED, kinds={**_TUNED_KINDS, "amounts": "each open share"}
    ),
    "compression.prune_channels": row(
        module=Later(_convolution),
        x=_IMAGES,
        labels=Y,
        fine_tune=lambda module: None,
        test_x=_IMAGES,
        test_labels=Y,
        kinds=_TUNED_KINDS,
    ),
    "compression.prune_exact": row(model=Later(module), domain=BOX, input_shape=(2,), kinds={"model": "other"}),
    "compression.prune_exhaustively": row(
        stack=_STACK,
        x=X,
        y=_TARGETS,
        loss="mse",
        optimizer=quick,
        epochs=1,
        kinds={"y": "targets", "epochs": "natural", "layer": "index"},
    ),
    "compression.prune_stochastically": row(
        stack=_STACK,
        x=X,
        y=_TARGETS,
        loss="mse",
        optimizer=quick,
        epochs=1,
        seeds=[0],
        kinds={"y": "targets", "epochs": "natural", "seeds": "each seed"},
    ),
    "compression.region_samples": row(matrices=_MATRICES),
    "compression.regions_holding": row(
        found=Later(lambda: rs.compression.region_samples(_MATRICES.value)), share=0.5, kinds={"found": "ours"}
    ),
    "compression.unit_pieces": row(network=NET, domain=BOX),
}
