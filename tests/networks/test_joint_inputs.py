"""Models with several inputs as networks of one vector, against modules that take such a vector."""

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from reluscope.errors import InputError, ShapeError

SHAPES = {"state": 3, "action": (2, 2)}


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.state, self.action, self.last = nn.Linear(3, 6), nn.Conv1d(2, 3, 1), nn.Linear(6, 2)

    def forward(self, state, action, *, scale=None):
        hidden = torch.relu(self.state(state) + self.action(action).flatten(1))
        return self.last(hidden if scale is None else hidden * scale)


class Joined(nn.Module):
    """The same of one vector."""

    def __init__(self, whole, scale=None):
        super().__init__()
        self.whole, self.scale = whole, scale

    def forward(self, x):
        return self.whole(x[:, :3], x[:, 3:].reshape(-1, 2, 2), scale=self.scale)


@pytest.fixture
def model():
    torch.manual_seed(2)
    return Critic()


@pytest.fixture
def points():
    return torch.randn(20, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def test_values_and_regions_are_those_of_the_module_that_takes_a_vector(model, points):
    net, expected = rs.load(model, SHAPES), rs.load(Joined(model), 7)
    assert net.input_shape == (7,)
    assert (net(points) - expected(points)).abs().max() < 1e-12
    assert (net.codes(points).words == expected.codes(points).words).all()
    plane = rs.Plane(*np.eye(7)[:3])
    assert rs.count(net, plane).value == rs.count(expected, plane).value
    assert "in this order: state (3,), action (2, 2)" in net.notes[-1]


def test_names_of_layers_and_weights_stay(model, points):
    net = rs.load(model, SHAPES)
    torch.manual_seed(3)
    other = Critic()
    assert "state.weight" in str(sorted(other.state_dict()))
    again = net.with_parameters(other.state_dict())
    assert (again(points) - rs.load(Joined(other), 7)(points)).abs().max() < 1e-12
    assert model.forward.__func__ is Critic.forward


def test_other_inputs_are_held_fixed(model, points):
    net = rs.load(model, SHAPES, inputs={"scale": [[2.0] * 6]})
    expected = rs.load(Joined(model, torch.full((1, 6), 2.0, dtype=torch.float64)), 7)
    assert (net(points) - expected(points)).abs().max() < 1e-12
    reduced = rs.load(model, {"action": (2, 2)}, inputs={"state": [[0.5, 0.25, -1.0]]})
    held = torch.cat([torch.tensor([[0.5, 0.25, -1.0]], dtype=torch.float64).expand(20, 3), points[:, 3:]], 1)
    assert (reduced(points[:, 3:]) - rs.load(Joined(model), 7)(held)).abs().max() < 1e-12


def test_the_order_is_that_of_the_mapping(model, points):
    net = rs.load(model, {"action": (2, 2), "state": (3,)})
    turned = torch.cat([points[:, 3:], points[:, :3]], 1)
    assert (net(turned) - rs.load(model, SHAPES)(points)).abs().max() < 1e-12


def test_files_of_onnx(model, points, tmp_path):
    pytest.importorskip("onnx")
    path = write_file(tmp_path / "critic.onnx", model)
    net = rs.load(path, SHAPES)
    assert net.verification.largest_deviation < 1e-6
    assert (net(points) - rs.load(Joined(model), 7)(points)).abs().max() < 1e-5
    with pytest.raises(InputError, match=r"got 2: state, action.*join them"):
        rs.load(path)
    with pytest.raises(InputError, match="which are state, action, got 'reward'"):
        rs.load(path, {"state": 3, "reward": 1})
    with pytest.raises(ShapeError, match=r"expected action of shape \(2, 2\) behind a batch axis"):
        rs.load(path, {"state": 3, "action": 4})


def write_file(path, model):
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    state = {name: value.detach().numpy() for name, value in model.state_dict().items()}
    nodes = [
        helper.make_node("Gemm", ["state", "state.weight", "state.bias"], ["a"], transB=1),
        helper.make_node("Conv", ["action", "action.weight", "action.bias"], ["b"]),
        helper.make_node("Flatten", ["b"], ["c"]),
        helper.make_node("Add", ["a", "c"], ["d"]),
        helper.make_node("Relu", ["d"], ["e"]),
        helper.make_node("Gemm", ["e", "last.weight", "last.bias"], ["y"], transB=1),
    ]
    inputs = [
        helper.make_tensor_value_info("state", TensorProto.FLOAT, ["n", 3]),
        helper.make_tensor_value_info("action", TensorProto.FLOAT, ["n", 2, 2]),
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 2])]
    weights = [numpy_helper.from_array(value, name) for name, value in state.items()]
    graph = helper.make_graph(nodes, "critic", inputs, outputs, weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return path


@pytest.mark.parametrize(
    ("shapes", "inputs", "said"),
    [
        ({}, {}, "names of the inputs to join"),
        ({"state": 3, "reward": 1}, {}, "which are state, action, scale, got 'reward'"),
        ({"state": 3, "scale": 6}, {"scale": 1.0}, "'scale' in both"),
        ({"state": 3}, {}, "action"),
        ({"state": 0, "action": 4}, {}, "positive integers"),
        (
            {"state": 4, "action": (2, 2)},
            {},
            r"forward pass fails.*its inputs are given as state \(4,\), action \(2, 2\)",
        ),
    ],
)
def test_what_cannot_be_joined(model, shapes, inputs, said):
    with pytest.raises(InputError, match=said):
        rs.load(model, shapes, inputs=inputs)


def test_arrays_have_one_input():
    with pytest.raises(InputError, match=r"modules and \.onnx files"):
        rs.load([(np.eye(2), np.zeros(2))], {"x": 2})
