"""The node tests of the package onnx: models of one operator that nobody here wrote, with the outputs that they expect.

The first input of real numbers is left open, all others are constants. A model loads and agrees, or is refused.
"""

from collections import Counter

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

import reluscope as rs
from reluscope.errors import NotPiecewiseLinearError, ReluscopeError

# Words in the names of cases that are refused, and that are not said to be curved: smooth functions of several
# tensors, training, loops, sequences; piecewise linear are convolutions with a state and regions of interest.
REFUSED = ("attention", "sce_", "dft", "stft", "unique", "training", "swiglu", "scan", "loop", "roialign", "optional")
REFUSED += (
    "momentum",
    "adagrad",
    "adam",
    "melweight",
    "range_float",
    "causal_conv_with_state",
    "slice_start_out",
    "dequantizelinear",  # of whole numbers: what is free is their scale
    "quantizelinear_e5m2",
    "ai_onnx_ml",
)
LEAST = 500


def array_of(given):
    return numpy_helper.to_array(given) if isinstance(given, onnx.TensorProto) else np.asarray(given)


def cases():
    for case in collect_testcases(None):
        if case.model is None:
            continue
        inputs, outputs = case.data_sets[0]
        if any(one is None or isinstance(one, list | dict) for one in (*inputs, *outputs)):
            continue
        arrays = [
            numpy_helper.to_array(one) if isinstance(one, onnx.TensorProto) else np.asarray(one) for one in inputs
        ]
        wanted = outputs[0] if outputs else None
        wanted = numpy_helper.to_array(wanted) if isinstance(wanted, onnx.TensorProto) else np.asarray(wanted)
        names = [entry.name for entry in case.model.graph.input]
        real = [
            place for place, one in enumerate(arrays) if one.dtype.kind == "f" and one.size and np.isfinite(one).all()
        ]
        if real and len(names) == len(arrays) and wanted.dtype.kind == "f":
            yield case, names, arrays, real[0], wanted


def model_of(case, names, arrays, free):
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    given = onnx.ValueInfoProto()
    given.CopyFrom(model.graph.input[free])
    constants = [numpy_helper.from_array(np.array(one), name) for name, one in zip(names, arrays, strict=True)]
    model.graph.initializer.extend(one for place, one in enumerate(constants) if place != free)
    del model.graph.input[:]
    model.graph.input.append(given)
    del model.graph.output[1:]
    return model


def ending(path, point, wanted):
    """Return "equal", "different", or the error, for the better of both readings of the first axis."""
    found = []
    for shape in (None, point.shape):
        try:
            net = rs.load(path, input_shape=shape)
        except ReluscopeError as error:
            found.append(error)
            continue
        got = net(point.astype(np.float64).reshape(-1, *net.input_shape)).numpy().ravel()
        if got.shape == wanted.ravel().shape and np.allclose(got, wanted.ravel(), rtol=1e-3, atol=1e-4):
            return "equal"
        # What is left off at the end, such as a softmax, makes a difference that a note tells of.
        found.append("left off" if net.left_off is not None else "different")
    return next((one for one in found if isinstance(one, str)), found[0])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_every_case_is_loaded_or_refused(tmp_path):
    seen, refused = Counter(), []
    for case, names, arrays, free, wanted in cases():
        path = tmp_path / "model.onnx"
        onnx.save(model_of(case, names, arrays, free), path)
        found = ending(path, arrays[free], wanted)
        assert found != "different", case.name
        if isinstance(found, ReluscopeError) and not isinstance(found, NotPiecewiseLinearError):
            refused.append(case.name)
        seen[found if isinstance(found, str) else type(found).__name__] += 1
    unknown = [name for name in refused if not any(word in name for word in REFUSED)]
    assert not unknown, ", ".join(unknown)
    assert seen["equal"] >= LEAST, seen
