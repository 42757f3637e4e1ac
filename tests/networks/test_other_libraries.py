"""Models of Keras and JAX, as the cookbook loads them; with the packages themselves, where they are installed."""

import importlib.util
import os
import subprocess
import sys

import pytest

# Keras reads its backend when it is imported: in processes of their own.
KERAS = """
import sys
import keras
import numpy as np
import reluscope as rs

keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(6, 8, 8, 1)).astype("float32")


def classifier():
    given = keras.Input((8, 8, 1))
    h = keras.layers.Conv2D(4, 3, activation="relu", padding="same")(given)
    h = keras.layers.BatchNormalization()(h)
    h = keras.layers.MaxPooling2D()(keras.layers.Add()([h, keras.layers.Conv2D(4, 1)(given)]))
    h = keras.layers.Dense(12, activation="relu")(keras.layers.Flatten()(h))
    return keras.Model(given, keras.layers.Dense(3, activation=sys.argv[2])(h))


model = classifier()
expected = keras.ops.convert_to_numpy(model(x))  # Keras exports what was called before
model.save(sys.argv[1] + "/net.keras")
net = rs.load(keras.saving.load_model(sys.argv[1] + "/net.keras"), (8, 8, 1))
model.export(sys.argv[1] + "/net.onnx", format="onnx", verbose=False)
exported = rs.load(sys.argv[1] + "/net.onnx")
for one in (net, exported):
    found = one(x).numpy()
    if sys.argv[2] == "softmax":  # left off
        found = np.exp(found) / np.exp(found).sum(axis=1, keepdims=True)
    assert np.abs(found - expected).max() < 1e-5
    assert one.num_units == 256 + 64 + 12, one
print("done")
"""

JAX = """
import sys
import numpy as np
import onnx
import reluscope as rs
from flax import nnx
from jax2onnx import to_onnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.first, self.last = nnx.Linear(4, 16, rngs=rngs), nnx.Linear(16, 3, rngs=rngs)

    def __call__(self, x):
        return self.last(nnx.relu(self.first(x)))


model = Net(nnx.Rngs(0))
onnx.save_model(to_onnx(model, [("B", 4)]), sys.argv[1] + "/net.onnx")
x = np.random.default_rng(0).normal(size=(5, 4)).astype("float32")
layers = [(np.asarray(one.kernel[...]).T, np.asarray(one.bias[...])) for one in (model.first, model.last)]
for net in (rs.load(sys.argv[1] + "/net.onnx"), rs.load(layers)):
    assert np.abs(net(x).numpy() - np.asarray(model(x))).max() < 1e-5
    assert net.num_units == 16
print("done")
"""


def run(script, *arguments):
    """Run a script, and let it say that it came to its end."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, *map(str, arguments)],
        env={**os.environ, "KERAS_BACKEND": "torch"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split()[-1:] == ["done"], done.stderr[-2000:]


def is_missing(*packages):
    return any(importlib.util.find_spec(name) is None for name in packages)


@pytest.mark.skipif(is_missing("keras"), reason="could not import keras")
@pytest.mark.parametrize("last", ["linear", "softmax"])
def test_keras(tmp_path, last):
    run(KERAS, tmp_path, last)


@pytest.mark.skipif(is_missing("flax", "jax2onnx"), reason="could not import flax or jax2onnx")
def test_jax(tmp_path):
    run(JAX, tmp_path)
