"""reluscope_studies.stacked."""

import numpy as np
import torch

from conformance.bad_input.calls import Later, row
from conformance.bad_input.things import X, Y, quick
from reluscope_studies import stacked

_STACK = Later(lambda: stacked.initialize((3,), num_inputs=2, seeds=[0, 1]))
_TARGETS = Y[:, None].astype(float)
_OUT = torch.zeros(2, 6, 1)
_TENSORS = {"outputs": "tensor", "targets": "tensor"}

ROWS = {
    "stacked.LossFunction.__call__": row(on=stacked.LOSS_FUNCTIONS["mse"], outputs=_OUT, targets=_OUT, kinds=_TENSORS),
    "stacked.Stack.__call__": row(on=_STACK, x=X),
    "stacked.Stack.read_points": row(on=_STACK, x=X),
    "stacked.Stack.take": row(on=_STACK, rows=[0], kinds={"rows": "rows"}),
    "stacked.Stack.keep": row(on=_STACK, layer=0, units=np.array([True, False, True]), kinds={"units": "mask"}),
    "stacked.Stack.layers": row(on=_STACK, index=0),
    "stacked.Stack.module": row(on=_STACK, index=0),
    "stacked.concatenate": row(stacks=[_STACK, _STACK], kinds={"stacks": "each ours"}),
    "stacked.initialize": row(
        widths=(3,),
        num_inputs=2,
        seeds=[0],
        kinds={"widths": "widths", "seeds": "each seed", "dtype": "ours"},
    ),
    "stacked.losses": row(stack=_STACK, x=X, y=_TARGETS, loss="mse", kinds={"y": "targets"}),
    "stacked.signs_agree": row(outputs=_OUT, targets=_OUT, kinds=_TENSORS),
    "stacked.subnetworks": row(stack=Later(lambda: _STACK.value.take([0]))),
    "stacked.train": row(
        stack=_STACK,
        x=X,
        y=_TARGETS,
        loss="mse",
        optimizer=quick,
        epochs=1,
        snapshots=[0],
        kinds={"y": "targets", "epochs": "natural", "order": "order", "snapshots": "order"},
    ),
}
