"""Rectified recurrent units for the reference evaluator, which knows others only."""

from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun
from onnx.reference.ops.op_rnn import RNN_14


class RNN(OpRun):
    """Recurrent layers in one or both directions, with ``Relu``; others as the evaluator has them."""

    def _run(self, x: Any, into: Any, back: Any, *more: Any, **settings: Any) -> tuple[Any, ...]:
        kinds = settings.get("activations") or ["Tanh"]
        if {str(kind) for kind in kinds} != {"Relu"}:
            return RNN_14._run(self, x, into, back, *more, **settings)  # pyright: ignore[reportArgumentType]
        bias, _, start = (*more, None, None, None)[:3]
        in_front = bool(settings.get("layout"))
        steps = x if not in_front else x.swapaxes(0, 1)
        length, batch, hidden = len(steps), steps.shape[1], back.shape[-1]
        states = np.zeros((length, len(into), batch, hidden))
        last = np.zeros((len(into), batch, hidden))
        if start is not None:
            last[:] = start.swapaxes(0, 1) if in_front else start
        for side in range(len(into)):
            shift = 0.0 if bias is None else bias[side, :hidden] + bias[side, hidden:]
            is_back = settings.get("direction") == "reverse" or side == 1
            for step in range(length)[:: -1 if is_back else 1]:
                fresh = steps[step] @ into[side].T + last[side] @ back[side].T + shift
                states[step, side] = last[side] = np.maximum(fresh, 0.0)
        if in_front:
            states, last = states.transpose(2, 0, 1, 3), last.swapaxes(0, 1)
        return (states, last)[: max(1, len(self.onnx_node.output))]
