"""Every ONNX operator, in every opset in which it changed: network = reference evaluator = onnxruntime."""

import warnings

import numpy as np
import onnx
import pytest
import torch

from conformance.onnx_cases import CASES
from conformance.onnx_runtime import RUNTIME, run_in_runtime
from conformance.torch_cases import CASES as TORCH_CASES
from reluscope.errors import UnsupportedOperatorError
from reluscope.networks.models.load import load

NUM_POINTS = 3


def points(shape):
    return (2.0 * np.random.default_rng(7).normal(size=(NUM_POINTS, *shape))).astype(np.float32)


def assert_agrees(network, path, x):
    """Compare with onnxruntime, which computes in float32, one point at a time."""
    expected = run_in_runtime(path, x)
    assert network.output_shape == expected.shape[1:]
    np.testing.assert_allclose(network(x).numpy(), expected, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_network_is_the_file(case, tmp_path):
    for opset in case.versions():
        path = tmp_path / f"{opset}.onnx"
        onnx.save(case.model(opset), path)
        network = load(path)
        assert network.verification.largest_deviation <= 1e-10
        if opset in RUNTIME:
            x = points(case.shape if network.trace.signature.tensor_shape == network.input_shape else case.shape[1:])
            assert_agrees(network, path, x)


# With several points these files are another function.
_MIXING = {"Add branches of two ranks", "Max broadcast", "Min broadcast", "ScatterND", "RNN"}
_MIXING |= {f"{name} {kind}" for name in ("ScatterElements", "ScatterND") for kind in ("add", "max", "min", "mul")}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_open_batch_gives_the_same_network(case, tmp_path):
    opset = case.versions()[-1]
    networks = []
    for batch in (1, "N"):
        path = tmp_path / f"{batch}.onnx"
        onnx.save(case.model(opset, batch), path)
        if batch == "N" and case.name in _MIXING:
            with pytest.raises(UnsupportedOperatorError, match="mixes them"):
                load(path)
        else:
            networks.append(load(path))
    assert len({network.fingerprint for network in networks}) == 1


# What PyTorch's own exporter cannot write, writes by steps that jump, or writes wrong (the divisor).
_NOT_EXPORTED = {
    *("adaptive average pool", "adaptive average pool 1d", "nearest upsampling to a size", "channel shuffle"),
    *("threshold", "adaptive max pool", "softshrink", "average pool by a divisor"),
    *("scattered means", "scattered minima of the others", "accumulated", "added along an axis"),
    "messages of a graph",
    *("heaviside, no gradients", "jumping threshold", "jumps after jumps"),
}


@pytest.mark.parametrize("case", [case for case in TORCH_CASES if case.name not in _NOT_EXPORTED], ids=str)
def test_an_exported_model_is_the_model(case, tmp_path):
    torch.manual_seed(3)
    model = case.make().eval().float()
    x = torch.from_numpy(points(case.input_shape))
    path = tmp_path / "model.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            torch.onnx.export(model, (x,), str(path), dynamo=False, input_names=["x"], dynamic_axes={"x": {0: "N"}})
        except Exception:
            torch.onnx.export(model, (x[:1],), str(path), dynamo=False, input_names=["x"])
    network = load(path)
    with torch.no_grad():
        expected = torch.stack([model.double()(point.unsqueeze(0).double()).reshape(-1) for point in x])
    # Exporters round constants to single precision.
    torch.testing.assert_close(network(x).reshape(NUM_POINTS, -1), expected, rtol=1e-5, atol=1e-5)
