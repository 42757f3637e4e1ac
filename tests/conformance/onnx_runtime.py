"""Files as onnxruntime runs them, one point at a time."""

import numpy as np
import onnxruntime

# Opsets that onnxruntime runs in the version that the tests pin.
RUNTIME = range(7, 25)

onnxruntime.set_default_logger_severity(4)


def run_in_runtime(path, x):
    """Return the outputs of a file at points ``(s, ...)``, without the batch axis."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (entry,) = session.get_inputs()
    shape = [length if isinstance(length, int) else 1 for length in entry.shape]
    rows = []
    for point in np.asarray(x, dtype=np.float32):
        row = session.run(None, {entry.name: point.reshape(shape if shape else point.shape)})[0]
        rows.append(row[0] if row.ndim > 0 and row.shape[0] == 1 else row)
    return np.stack(rows)
