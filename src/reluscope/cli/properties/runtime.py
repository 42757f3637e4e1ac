"""A model of ONNX as onnxruntime runs it in float32, where that is installed."""

from math import prod
from pathlib import Path

import numpy as np
from jaxtyping import Float

from reluscope.cli.reading.model_arguments import ModelArguments


def run_in_float32(model: ModelArguments, points: Float[np.ndarray, "k n"]) -> Float[np.ndarray, "k m"] | None:
    """Return the outputs at the nearest points of float32, None where the model or this machine does not run it.

    A model with several inputs or outputs is not run.
    """
    if Path(model.model).suffix.lower() != ".onnx" or model.model_input:
        return None
    try:
        import onnxruntime
    except ImportError:
        return None
    onnxruntime.set_default_logger_severity(4)
    try:
        session = onnxruntime.InferenceSession(model.model, providers=["CPUExecutionProvider"])
        entries, outputs = session.get_inputs(), session.get_outputs()
        shape = [length if isinstance(length, int) else 1 for length in entries[0].shape]
        if len(entries) > 1 or len(outputs) > 1 or entries[0].type != "tensor(float)" or prod(shape) != points.shape[1]:
            return None
        found = [session.run(None, {entries[0].name: point.astype(np.float32).reshape(shape)})[0] for point in points]
    except Exception:  # onnxruntime has errors of its own for files that it does not run
        return None
    return np.asarray(found, dtype=np.float64).reshape(len(points), -1)
