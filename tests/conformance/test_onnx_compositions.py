"""Random graphs of many operators in random opsets: network = reference evaluator = onnxruntime."""

import numpy as np
import onnx
import pytest
from onnx import helper

from conformance.onnx_cases import NEWEST, OLDEST, make_model
from conformance.onnx_runtime import RUNTIME, run_in_runtime
from reluscope.networks.models.load import load


class Drawing:
    """A graph drawn operator by operator, which remembers the shape of its last tensor."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.opset = int(self.rng.integers(OLDEST, NEWEST + 1))
        self.shape = [1, int(self.rng.integers(1, 4)), int(self.rng.integers(3, 7)), int(self.rng.integers(3, 7))]
        self.start, self.last, self.nodes, self.constants = tuple(self.shape), "x", [], {}

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants[name] = array.astype(np.float32) if array.dtype.kind == "f" else array
        return name

    def normal(self, *shape):
        return self.constant(self.rng.normal(size=shape))

    def add(self, operator, *inputs, **settings):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **settings))
        return name

    def step(self):
        names = ["relu", "leaky", "conv", "scale", "norm", "branch", "pool", "mean", "join", "swap", "clip", "abs"]
        getattr(self, str(self.rng.choice(names)))()

    def relu(self):
        self.last = self.add("Relu", self.last)

    def leaky(self):
        self.last = self.add("LeakyRelu", self.last, alpha=0.25)

    def abs(self):
        self.last = self.add("Abs", self.last)

    def clip(self):
        if self.opset < 11:
            self.last = self.add("Clip", self.last, min=-1.0, max=2.0)
        else:
            low, high = self.constant(np.array(-1.0)), self.constant(np.array(2.0))
            self.last = self.add("Clip", self.last, low, high)

    def conv(self):
        channels = int(self.rng.integers(1, 4))
        weight, bias = self.normal(channels, self.shape[1], 3, 2), self.normal(channels)
        self.last = self.add("Conv", self.last, weight, bias, pads=[1, 0, 1, 1])
        self.shape[1] = channels

    def scale(self):
        operator = str(self.rng.choice(["Add", "Mul"]))
        if self.opset < 7:
            self.last = self.add(operator, self.last, self.normal(self.shape[1]), broadcast=1, axis=1)
        else:
            self.last = self.add(operator, self.last, self.normal(self.shape[1], 1, 1))

    def norm(self):
        statistics = [self.normal(self.shape[1]) for _ in range(3)]
        variance = self.constant(self.rng.uniform(0.5, 2.0, size=self.shape[1]))
        self.last = self.add("BatchNormalization", self.last, *statistics, variance)

    def branch(self):
        self.last = self.add(str(self.rng.choice(["Add", "Max", "Sub", "Min"])), self.last, self.add("Neg", self.last))

    def pool(self):
        self.last = self.add("MaxPool", self.last, kernel_shape=[2, 2], pads=[0, 1, 1, 0])

    def mean(self):
        if self.opset >= 7:
            self.last = self.add("AveragePool", self.last, kernel_shape=[2, 3], pads=[1, 1, 0, 1])

    def join(self):
        if self.shape[1] < 6:
            self.last = self.add("Concat", self.last, self.add("Relu", self.last), axis=1)
            self.shape[1] *= 2

    def swap(self):
        perm = [0, 1, 3, 2] if self.rng.random() < 0.5 else [0, 2, 1, 3]
        self.last = self.add("Transpose", self.last, perm=perm)
        self.shape = [self.shape[axis] for axis in perm]

    def finish(self):
        flat = self.add("Reshape", self.last, self.constant(np.array([1, -1])))
        weight = self.normal(int(np.prod(self.shape)), 3)
        self.nodes.append(helper.make_node("MatMul", [flat, weight], ["y"]))
        return make_model(self.nodes, self.start, self.constants, self.opset)


@pytest.mark.parametrize("seed", range(40))
def test_a_random_graph(seed, tmp_path):
    drawing = Drawing(seed)
    for _ in range(8):
        drawing.step()
    path = tmp_path / "model.onnx"
    onnx.save(drawing.finish(), path)
    network = load(path)
    assert network.input_shape == drawing.start[1:]
    x = drawing.rng.normal(size=(4, *network.input_shape)).astype(np.float32)
    maps = network.linearize(x)
    flat = x.reshape(4, -1).astype(np.float64)
    affine = np.einsum("smn,sn->sm", maps.weight.numpy(), flat) + maps.bias.numpy()
    values = network(x).numpy()
    np.testing.assert_allclose(affine, values, rtol=1e-9, atol=1e-9 * np.abs(values).max())
    if drawing.opset in RUNTIME:
        expected = run_in_runtime(path, x)
        np.testing.assert_allclose(values, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())
