"""Real networks by others, from the folder beside the checkout; skipped where it is missing."""

from pathlib import Path

import numpy as np
import pytest

from conformance.onnx_runtime import run_in_runtime
from reluscope.networks.models.load import load

MODELS = Path(__file__).parents[3] / "shared" / "models"

pytestmark = pytest.mark.shared


@pytest.mark.parametrize(
    ("name", "input_shape", "num_outputs", "num_units"),
    [
        ("acasxu_1_1", (1, 1, 5), 5, 300),
        ("acasxu_2_1", (1, 1, 5), 5, 300),
        ("mnist_fc_256x2", (784, 1), 10, 512),
        ("cifar10_small", (32, 32, 3), 10, 2568),
        ("cifar10_resnet_2b", (3, 32, 32), 10, 6244),
        ("test_nano", (1,), 1, 1),
        ("test_small", (1,), 1, 4),
    ],
)
def test_a_real_network_is_what_onnxruntime_runs(name, input_shape, num_outputs, num_units):
    path = MODELS / f"{name}.onnx"
    if not path.is_file():
        pytest.skip(f"needs {name}.onnx in ../shared/models beside the checkout")
    network = load(path)
    assert network.input_shape == input_shape
    assert network.num_outputs == num_outputs
    assert network.num_units == num_units
    assert network.verification.largest_deviation < 1e-11
    x = np.random.default_rng(0).uniform(-0.5, 1.0, size=(6, *input_shape)).astype(np.float32)
    expected = run_in_runtime(path, x).reshape(6, -1)
    np.testing.assert_allclose(
        network(x).reshape(6, -1).numpy(), expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max()
    )
    maps = network.linearize(x[:2])
    points = x[:2].reshape(2, -1).astype(np.float64)
    affine = np.einsum("smn,sn->sm", maps.weight.numpy(), points) + maps.bias.numpy()
    np.testing.assert_allclose(affine, network(x[:2]).reshape(2, -1).numpy(), rtol=1e-9, atol=1e-9)
