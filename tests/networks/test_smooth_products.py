"""GELU, SiLU and softplus as exporters write them, against their formulas."""

import math

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from reluscope.errors import NotPiecewiseLinearError, UnsupportedOperatorError

onnx = pytest.importorskip("onnx")
helper, numpy_helper = onnx.helper, onnx.numpy_helper

# Constants as exporters write them, in single precision.
CONSTANTS = {
    "half": 0.5,
    "one": 1.0,
    "three": 3.0,
    "root": math.sqrt(2.0),
    "inverse": math.sqrt(0.5),
    "cubic": 0.044715,
    "linear": math.sqrt(2 / math.pi),
    "steep": 1.702,
    "beta": 2.5,
    "limit": 10.0,
    "off": 0.72,
}
STEEP = float(np.float32(1.702))


def by_tanh(x):
    return nn.functional.gelu(x, approximate="tanh")


# "result=Operator operand ...", one after the other; from x to y.
FORMS = {
    "gelu, by torch": ("gelu", nn.functional.gelu, "a=Div x root;b=Erf a;c=Add b one;d=Mul x c;y=Mul d half"),
    "gelu, by tf2onnx": ("gelu", nn.functional.gelu, "a=Mul x inverse;b=Erf a;c=Add one b;d=Mul half c;y=Mul x d"),
    "gelu, half first": ("gelu", nn.functional.gelu, "h=Mul half x;a=Div x root;b=Erf a;c=Add b one;y=Mul h c"),
    "gelu by tanh, products": (
        "gelu_by_tanh",
        by_tanh,
        "a=Mul x x;b=Mul a x;c=Mul b cubic;d=Add x c;e=Mul d linear;f=Tanh e;g=Add f one;h=Mul x g;y=Mul h half",
    ),
    "gelu by tanh, powers": (
        "gelu_by_tanh",
        by_tanh,
        "h=Mul x half;b=Pow x three;c=Mul b cubic;d=Add x c;e=Mul d linear;f=Tanh e;g=Add f one;y=Mul h g",
    ),
    "silu": ("silu", nn.functional.silu, "s=Sigmoid x;y=Mul x s"),
    "silu, by exp": ("silu", nn.functional.silu, "n=Neg x;e=Exp n;d=Add e one;y=Div x d"),
    "silu, by tanh": ("silu", nn.functional.silu, "a=Mul x half;t=Tanh a;b=Add one t;y=Mul a b"),
    "quick gelu": ("silu", lambda x: x * torch.sigmoid(STEEP * x), "a=Mul x steep;s=Sigmoid a;y=Mul s x"),
    "softplus, by torch": (
        "softplus",
        lambda x: nn.functional.softplus(x, 2.5, 10.0),
        "a=Mul x beta;s=Softplus a;d=Div s beta;c=Greater a limit;y=Where c x d",
    ),
}
WEIGHT = np.array([[1.0, -0.5], [0.25, 2.0], [-1.5, 0.75]], dtype=np.float32)


def saved(folder, form):
    nodes = [helper.make_node("MatMul", ["input", "weight"], ["x"])]
    for step in form.split(";"):
        result, call = step.split("=")
        operator, *operands = call.split()
        nodes.append(helper.make_node(operator, operands, [result]))
    nodes.append(helper.make_node("Relu", ["y"], ["output"]))
    tensors = [numpy_helper.from_array(np.array(value, dtype=np.float32), name) for name, value in CONSTANTS.items()]
    tensors.append(numpy_helper.from_array(WEIGHT.T.copy(), "weight"))
    ends = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n", width])
        for name, width in (("input", 2), ("output", 3))
    ]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), folder / "net.onnx")
    return folder / "net.onnx"


@pytest.mark.parametrize("name", FORMS)
def test_products_are_the_functions_that_they_are(name, tmp_path):
    function, exactly, form = FORMS[name]
    path = saved(tmp_path, form)
    asked = "gelu" if function == "gelu_by_tanh" else function
    net = rs.load(path, approximate={asked: 16})
    (gate,) = net.approximations
    assert gate.replaces == function
    side = torch.linspace(-4, 4, 21, dtype=torch.float64)
    points = torch.cartesian_prod(side, side)
    found = (net(points) - torch.relu(exactly(points @ torch.tensor(WEIGHT).double().T))).abs().max()
    bound = net.approximation_error(rs.Box(-4, 4, 2))["approximation_error"].value.max()
    assert float(found) <= bound < 0.01
    with pytest.raises(NotPiecewiseLinearError, match=rf"approximate=\{{'{asked}': 32\}}"):
        rs.load(path)


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("a=Mul x off;b=Erf a;c=Add b one;d=Mul x c;y=Mul d half", "Erf at node 2"),
        ("a=Div x root;b=Erf a;c=Add b one;d=Mul x c;y=Mul d one", "Erf at node 2"),
        ("s=Sigmoid x;m=Mul x s;y=Add m s", "Sigmoid at node 1"),
        ("s=Sigmoid x;r=Relu x;y=Mul r s", "Sigmoid at node 1"),
        ("a=Mul x beta;s=Softplus a;c=Greater a limit;y=Where c x s", "Softplus at node 2"),
    ],
)
def test_what_is_nearly_one_is_refused(form, words, tmp_path):
    with pytest.raises(NotPiecewiseLinearError, match=words):
        rs.load(saved(tmp_path, form), approximate={"gelu": 8, "silu": 8})


def test_a_choice_between_pieces_does_not_hide_that_they_are_pieces():
    # One gate of both would be no replacement any more, and its distance to the model would be lost.
    class Chosen(nn.Module):
        def forward(self, x):
            return torch.where(x > 0.0, nn.functional.gelu(x), x)

    with pytest.raises(UnsupportedOperatorError, match="a gate sees one"):
        rs.load(Chosen(), input_shape=2, approximate={"gelu": 8})
