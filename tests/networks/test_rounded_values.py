"""What rounds, where few steps are reached, against PyTorch and ONNX Runtime, on the steps themselves, too."""

from fractions import Fraction

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

import reluscope as rs
from reluscope.errors import NotPiecewiseLinearError, UnsupportedOperatorError

# Multiples of a sixteenth: every step below is among them.
GRID = torch.arange(-64, 65, dtype=torch.float64)[:, None] / 16


class Of(nn.Module):
    """A function of one number or more."""

    def __init__(self, function, *layers):
        super().__init__()
        self.layers, self.function = nn.Sequential(*layers), function

    def forward(self, x):
        return self.function(self.layers(x))


FUNCTIONS = {
    "floor": lambda x: torch.floor(x.clamp(-2.5, 3)),
    "floor of steeper": lambda x: torch.floor(4 * x.clamp(-2.5, 3) + 0.5),
    "floor of a fall": lambda x: torch.floor(0.5 - 2 * x.clamp(-2.5, 3)),
    "floor of scaled ones": lambda x: torch.floor(0.1 * (30 * (x.clamp(-2.5, 3) + 0.01))),
    "ceil": lambda x: torch.ceil(x.clamp(-2.5, 3)),
    "trunc": lambda x: torch.trunc(x.clamp(-2.5, 3)),
    "round": lambda x: torch.round(x.clamp(-2.5, 3)),
    "frac": lambda x: torch.frac(x.clamp(-2.5, 3)),
    "remainder": lambda x: torch.remainder(x.clamp(-2.5, 3), 0.75),
    "remainder of less than 0": lambda x: torch.remainder(x.clamp(-2.5, 3), -0.75),
    "fmod": lambda x: torch.fmod(x.clamp(-2.5, 3), -0.75),
    "floor_divide": lambda x: torch.floor_divide(x.clamp(-2.5, 3), -0.75),
    "div, trunc": lambda x: torch.div(x.clamp(-2.5, 3), 0.75, rounding_mode="trunc"),
    "div, floor": lambda x: torch.div(x.clamp(-2.5, 3), 0.75, rounding_mode="floor"),
    "long": lambda x: x.clamp(-2.5, 3).long().double(),
    "int of a mask": lambda x: (x > 0.5).int().double(),
    "256 numbers": lambda x: torch.round(x.clamp(0, 1) * 255) / 255,
    "round of hard-sigmoid": lambda x: torch.round(4 * nn.functional.hardsigmoid(x)),
    "mask of what is rounded": lambda x: torch.round(x.clamp(-2, 2)) * (torch.round(x.clamp(-2, 2)) > 0),
    "quantised": lambda x: torch.fake_quantize_per_tensor_affine(x, 0.25, 3, -8, 7),
}


@pytest.mark.few(6)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_are_those_of_the_model(name):
    model = Of(FUNCTIONS[name])
    net = rs.load(model, input_shape=(1,))
    torch.testing.assert_close(
        net(GRID), model(GRID.float() if name == "quantised" else GRID).double(), rtol=0, atol=1e-15
    )


def test_channels_have_scales_of_their_own():
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 3)
            self.register_buffer("scale", torch.tensor([0.05, 0.1, 0.25]))
            self.register_buffer("zero", torch.tensor([0, 1, 2], dtype=torch.int32))

        def forward(self, x):
            return torch.fake_quantize_per_channel_affine(self.layer(x), self.scale, self.zero, 1, -8, 7)

    model = Scaled()
    net = rs.load(model, input_shape=(2,))
    x = 3 * torch.randn(500, 2, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(net(x).float(), model(x))


def test_steps_are_where_fractions_have_them():
    """The steps of floor(x / s), for s of single precision, are at whole multiples of s without any rounding."""
    step = float(np.float32(0.1))
    net = rs.load(Of(lambda x: torch.floor_divide(x.clamp(0, 1), step)), input_shape=(1,))
    part = rs.partition(net, rs.Box([0.0], [1.0]))
    ends = sorted({float(end) for region in part for end in np.ravel(region.vertices)})
    assert [Fraction(end) for end in ends] == [*(k * Fraction(step) for k in range(10)), 1]
    assert part.finding().claim == "EXACT"


def test_regions_of_a_quantised_network_are_counted():
    layer = nn.Linear(2, 1, bias=False)
    layer.weight.data = torch.tensor([[1.0, 2.0]])
    net = rs.load(Of(lambda x: torch.round(x.clamp(-2, 2)), layer), input_shape=(2,))
    # x + 2 y from -3 to 3 on the square: between its ends it steps at -1.5, -0.5, 0.5 and 1.5.
    assert len(rs.partition(net, rs.Box(-1, 1, 2))) == 5


def test_what_has_no_end_is_refused():
    for function in (torch.floor, lambda x: x.long(), lambda x: torch.round(torch.relu(x)), lambda x: x % 2):
        with pytest.raises(NotPiecewiseLinearError, match=r"limited before it is rounded.*clamp"):
            rs.load(Of(function), input_shape=(1,))
    with pytest.raises(NotPiecewiseLinearError, match=r"at most 255 steps.* 1,00. numbers"):
        rs.load(Of(lambda x: torch.floor(1000 * x.clamp(0, 1))), input_shape=(1,))
    with pytest.raises(NotPiecewiseLinearError, match=r"multiples of 0\.1 are rounded"):
        rs.load(Of(lambda x: torch.remainder(x.clamp(0, 1), 0.1)), input_shape=(1,))
    with pytest.raises(UnsupportedOperatorError, match="to uint8, in which larger numbers wrap around"):
        rs.load(Of(lambda x: x.clamp(0, 250).to(torch.uint8).double()), input_shape=(1,))
    with pytest.raises(UnsupportedOperatorError, match="to 2 decimals"):
        rs.load(Of(lambda x: torch.round(x.clamp(0, 1), decimals=2)), input_shape=(1,))
    with pytest.raises(NotPiecewiseLinearError, match="not one constant number"):
        rs.load(Of(lambda x: torch.remainder(x.clamp(0, 1), torch.tensor([1.0, 2.0]))), input_shape=(2,))


def quantised(kind, zero, scale):
    """Return a network in ONNX whose hidden values and last weights are whole numbers of a type."""
    rng, axis = np.random.default_rng(0), {} if np.ndim(scale) == 0 else {"axis": 1}
    nodes = [
        helper.make_node("MatMul", ["x", "W"], ["a"]),
        helper.make_node("QuantizeLinear", ["a", "s", "z"], ["q"], **axis),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"], **axis),
        helper.make_node("DequantizeLinear", ["V", "t"], ["v"]),
        helper.make_node("MatMul", ["d", "v"], ["y"]),
    ]
    stored = {
        "W": rng.normal(size=(2, 4)).astype(np.float32),
        "s": np.asarray(scale, dtype=np.float32),
        "z": np.full(np.shape(scale), zero, dtype=kind),
        "V": rng.integers(-100, 100, (4, 2)).astype(np.int8),
        "t": np.float32(0.01).reshape(()),
    }
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 2]) for name in "xy"]
    tensors = [numpy_helper.from_array(np.asarray(table), name) for name, table in stored.items()]
    graph = helper.make_graph(nodes, "quantised", ends[:1], ends[1:], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize(
    ("kind", "zero", "scale"),
    [(np.int8, 3, 0.037), (np.uint8, 100, 0.037), (np.int8, 0, [0.03, 0.05, 0.07, 0.02])],
)
def test_quantised_onnx_files(tmp_path, kind, zero, scale):
    runtime = pytest.importorskip("onnxruntime")
    onnx.save(quantised(kind, zero, scale), path := tmp_path / "net.onnx")
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    x = 3 * np.random.default_rng(1).normal(size=(500, 2)).astype(np.float32)
    (expected,) = runtime.InferenceSession(str(path), options).run(None, {"x": x})
    net = rs.load(path)
    np.testing.assert_allclose(net(x).numpy(), expected, atol=1e-4)
    assert len(rs.partition(net, rs.Box(-0.1, 0.1, 2))) > 10


@pytest.mark.parametrize(("opset", "axis", "rows"), [(13, -1, "each"), (13, 1, "columns"), (11, 2, "each")])
def test_hardmax(tmp_path, opset, axis, rows):
    node = helper.make_node("Hardmax", ["x"], ["y"], axis=axis)
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 2, 3]) for name in "xy"]
    graph = helper.make_graph([node], "hardmax", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.save(model, path := tmp_path / "net.onnx")
    net = rs.load(path)
    x = torch.randint(-2, 3, (200, 2, 3), generator=torch.Generator().manual_seed(0)).double()
    found = net(x)
    lines, ones = (one.mT if rows == "columns" else one for one in (x, found))
    assert (ones.sum(-1) == 1).all()
    assert torch.equal(ones.argmax(-1), lines.argmax(-1))  # the first of equal ones
