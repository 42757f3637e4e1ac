"""reluscope_studies.pruning."""

import numpy as np

from conformance.bad_input.calls import Later, row
from conformance.bad_input.things import X, Y, module, quick
from reluscope_studies import pruning, stacked

_PRUNED = Later(lambda: pruning.prune_by_magnitude(module(), [0.5], **_TUNED))
_TUNED = {"fine_tune": lambda module: None, "test_x": X, "test_labels": Y}
_TUNED_KINDS = {"least_accuracy": "number", "test_x": "samples", "module": "ours", "x": "samples", "labels": "labels"}
_STACK = Later(lambda: stacked.initialize((3,), num_inputs=2, seeds=[0]))
_TARGETS = Y[:, None].astype(float)
_IMAGES = np.linspace(0, 1, 6 * 16).reshape(6, 1, 4, 4).astype(np.float32)


def _convolution():
    from torch import nn

    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8, 2))


ROWS = {
    "pruning.PruningCurve.fewest_weights": row(on=_PRUNED),
    "pruning.prune_by_magnitude": row(
        module=Later(module), amounts=[0.5], **_TUNED, kinds={**_TUNED_KINDS, "amounts": "each open share"}
    ),
    "pruning.prune_channels": row(
        module=Later(_convolution),
        x=_IMAGES,
        labels=Y,
        fine_tune=lambda module: None,
        test_x=_IMAGES,
        test_labels=Y,
        kinds=_TUNED_KINDS,
    ),
    "pruning.prune_exhaustively": row(
        stack=_STACK,
        x=X,
        y=_TARGETS,
        loss="mse",
        optimizer=quick,
        epochs=1,
        kinds={"y": "targets", "epochs": "natural", "layer": "index"},
    ),
    "pruning.prune_stochastically": row(
        stack=_STACK,
        x=X,
        y=_TARGETS,
        loss="mse",
        optimizer=quick,
        epochs=1,
        seeds=[0],
        kinds={"y": "targets", "epochs": "natural", "seeds": "each seed"},
    ),
}
