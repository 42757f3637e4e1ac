"""Models with several inputs and outputs: one output is the network's, all inputs but one are held fixed."""

from collections import namedtuple

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from networks.models import seeded
from reluscope.errors import InputError

Pair = namedtuple("Pair", ["scores", "features"])
X = torch.randn(7, 3, generator=torch.Generator().manual_seed(1))


class Many(nn.Module):
    """Returns its logits and features in one of several ways."""

    def __init__(self, way):
        super().__init__()
        self.way = way
        self.first, self.last = nn.Linear(3, 4), nn.Linear(4, 2)

    def forward(self, x, mask=None, negated=False, *, scale=1.0):
        features = self.first(x).relu() * scale
        features = features if mask is None else features * mask
        logits = self.last(-features if negated else features)
        return self.way(logits, features)


WAYS = {
    "a dictionary": (lambda y, h: {"logits": y, "hidden": h}, "logits", "hidden"),
    "a tuple": (lambda y, h: (y, h), "0", 1),
    "a list in a dictionary": (lambda y, h: {"all": [y, None, h]}, "all.0", "all.2"),
    "a named tuple": (Pair, "scores", -1),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", WAYS)
def test_outputs(kind):
    way, logits, features = WAYS[kind]
    model = seeded(lambda: Many(way)).eval()
    plain = Many(lambda y, h: (y, h)).eval()
    plain.load_state_dict(model.state_dict())
    with torch.no_grad():
        expected = plain(X)
    for name, values in zip((logits, features), expected, strict=True):
        net = rs.load(model, output=name)
        torch.testing.assert_close(net(X), values.double(), atol=1e-6, rtol=1e-5)
        program = torch.export.export(model, (X[:2],))
        torch.testing.assert_close(rs.load(program, output=name)(X), values.double(), atol=1e-6, rtol=1e-5)
    net = rs.load(model, output=features)
    assert set(net.with_parameters(model.state_dict())(X).shape) == {7, 4}


def test_several_outputs_are_named():
    model = Many(WAYS["a dictionary"][0])
    with pytest.raises(InputError, match="got 2: logits, hidden; choose one, as in output='logits'"):
        rs.load(model)
    with pytest.raises(InputError, match="expected output as one of logits, hidden, got 'logit'"):
        rs.load(model, output="logit")
    with pytest.raises(InputError, match="expected output as one of logits, hidden, got 2"):
        rs.load(model, output=2)
    with pytest.raises(InputError, match="leave output and inputs out"):
        rs.load([(np.eye(2), None)], output=0)


def masked(**fixed):
    model = seeded(lambda: Many(lambda y, h: y)).eval()
    with torch.no_grad():
        return model, model(X, **fixed).double()


@pytest.mark.parametrize("mask", [np.array([1.0, 0, 2, -1]), [1, 0, 2, -1], torch.tensor([[1.0, 0, 2, -1]])])
def test_fixed_inputs(mask):
    model, expected = masked(mask=torch.as_tensor(mask, dtype=torch.float32), negated=True, scale=0.5)
    net = rs.load(model, inputs={"mask": mask, "negated": True, "scale": 0.5})
    torch.testing.assert_close(net(X), expected, atol=1e-6, rtol=1e-5)
    assert net.input_shape == (3,)
    assert [gate.name for gate in net.gates] == ["relu"]


class Conditioned(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(5, 4)

    def forward(self, condition, input):  # noqa: A002
        return self.layer(torch.cat([input, condition], 1)).relu()


def test_a_fixed_input_that_needs_the_batch():
    model, row = seeded(Conditioned).eval(), torch.tensor([[0.5, -2.0]])
    with torch.no_grad():
        expected = model(row.expand(7, 2), X).double()
    net = rs.load(model, 3, inputs={"condition": row})
    torch.testing.assert_close(net(X), expected, atol=1e-6, rtol=1e-5)
    program = torch.export.export(model, (row, X[:1]))
    torch.testing.assert_close(rs.load(program, inputs={"condition": row})(X), expected, atol=1e-6, rtol=1e-5)
    with pytest.raises(InputError, match=r"condition to be fixed at an array of shape \(1, 2\)"):
        rs.load(program, inputs={"condition": 3})
    with pytest.raises(InputError, match="got 2: condition, input; hold all but one fixed"):
        rs.load(model, 3)
    with pytest.raises(InputError, match="got 2: condition, input; hold all but one fixed"):
        rs.load(program)


def test_inputs_that_cannot_be_fixed():
    model, _ = masked()
    with pytest.raises(InputError, match="inputs of the model, which are x, mask, negated, scale, got 'msk'"):
        rs.load(model, inputs={"msk": 1})
    with pytest.raises(InputError, match="to stay open, but all of them are fixed"):
        rs.load(model, 3, inputs={"x": X, "mask": 1, "negated": False, "scale": 1})
    with pytest.raises(InputError, match="expected finite numbers"):
        rs.load(model, inputs={"mask": [np.nan] * 4})


onnx = pytest.importorskip("onnx", reason="the extra [onnx] is not installed")


def saved(path, nodes, inputs, outputs, constants):
    def declared(name, kind, shape):
        return onnx.helper.make_tensor_value_info(name, kind, shape)

    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(operator, read.split(), made.split(), **more) for operator, read, made, more in nodes],
        "g",
        [declared(*one) for one in inputs],
        [declared(*one) for one in outputs],
        [onnx.numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("ai.onnx.ml", 3)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


FLOAT, INT = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
W = np.random.default_rng(0).normal(size=(3, 2)).astype(np.float32)


def test_files_of_several_inputs_and_outputs(tmp_path):
    nodes = [("MatMul", "x w", "h", {}), ("Mul", "h mask", "m", {}), ("Relu", "m", "y", {})]
    path = saved(
        tmp_path / "many.onnx",
        nodes,
        [("x", FLOAT, ["n", 3]), ("mask", FLOAT, [2])],
        [("y", FLOAT, ["n", 2]), ("h", FLOAT, ["n", 2])],
        {"w": W},
    )
    h = X.double().numpy() @ W.astype(np.float64)
    np.testing.assert_allclose(rs.load(path, output="h")(X), h)
    net = rs.load(path, output=0, inputs={"mask": [2, -1]})
    np.testing.assert_allclose(net(X), np.maximum(h * [2, -1], 0))
    for words, given in {
        "got 2: y, h; choose one, as in output='y'": {},
        "expected output as one of y, h, got 'z'": {"output": "z"},
        "got 2: x, mask; hold all but one fixed": {"output": "y"},
        "inputs of the file, which are x, mask, got 'm'": {"output": "y", "inputs": {"m": 1}},
        r"mask to be fixed at finite numbers of shape \(2\)": {"output": "y", "inputs": {"mask": [1, 2, 3]}},
    }.items():
        with pytest.raises(InputError, match=words):
            rs.load(path, **given)


def skl2onnx_file(path, *, binary):
    """What skl2onnx 1.20 writes for a StandardScaler and an MLPClassifier."""
    offset, scale = [0.5, -1.0, 2.0], [2.0, 1.0, 0.25]
    w = W[:, :1] if binary else W
    nodes = [
        ("Scaler", "X", "variable", {"domain": "ai.onnx.ml", "offset": offset, "scale": scale}),
        ("MatMul", "variable w", "z", {}),
        *(
            [("Sigmoid", "z", "s", {}), ("Sub", "unity s", "n", {}), ("Concat", "n s", "p", {"axis": 1})]
            if binary
            else [("Softmax", "z", "p", {})]
        ),
        ("ArgMax", "p", "label", {"axis": 1, "keepdims": 0}),
        ("Identity", "p", "probabilities", {}),
    ]
    outputs = [("label", INT, ["n"]), ("probabilities", FLOAT, ["n", 2])]
    constants = {"w": w, "unity": np.ones(1, np.float32)}
    saved(path, nodes, [("X", FLOAT, ["n", 3])], outputs, constants)
    return (X.double().numpy() - offset) * scale @ w.astype(np.float64)


@pytest.mark.parametrize("binary", [False, True])
def test_classifiers_of_scikit_learn(tmp_path, binary):
    scores = skl2onnx_file(tmp_path / "c.onnx", binary=binary)
    net = rs.load(tmp_path / "c.onnx")
    np.testing.assert_allclose(net(X), scores)
    assert "the network is probabilities" in net.notes[0]
    assert f"A trailing {'sigmoid' if binary else 'softmax'} was left off" in net.notes[1]
    runtime = pytest.importorskip("onnxruntime")
    label, _ = runtime.InferenceSession(tmp_path / "c.onnx").run(None, {"X": X.numpy()})
    assert (rs.classification.predicted_classes(net, X) == label).all()
