"""ONNX files as they come: batches, shapes, names, notes, weights in other files, and everything that is refused."""

import warnings
from dataclasses import replace

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from conformance.onnx_cases import NEWEST, make_model
from conformance.onnx_runtime import run_in_runtime
from reluscope.errors import (
    ConversionMismatchError,
    InputError,
    NotPiecewiseLinearError,
    ReluscopeError,
    ShapeError,
    UnsupportedOperatorError,
)
from reluscope.networks.models.load import load
from reluscope.networks.models.onnx.onnx_site import HANDLERS, Activation

RNG = np.random.default_rng(11)
W1, B1 = RNG.normal(size=(6, 4)).astype(np.float32), RNG.normal(size=6).astype(np.float32)
W2, B2 = RNG.normal(size=(3, 6)).astype(np.float32), RNG.normal(size=3).astype(np.float32)
WEIGHTS = {"fc1.weight": W1, "fc1.bias": B1, "fc2.weight": W2, "fc2.bias": B2}
LAYERS = [(W1, B1), (W2, B2)]


def node(operator, inputs, outputs, name="", **settings):
    return helper.make_node(operator, inputs.split(), outputs.split(), name=name, **settings)


def mlp(output="y"):
    return [
        node("Gemm", "x fc1.weight fc1.bias", "h", "fc1", transB=1),
        node("Relu", "h", "a", "act"),
        node("Gemm", "a fc2.weight fc2.bias", output, "fc2", transB=1),
    ]


@pytest.fixture
def save(tmp_path):
    def save(model, name="model.onnx"):
        path = tmp_path / name
        onnx.save(model, path)
        return path

    return save


def test_a_file_is_its_layers(save):
    network = load(save(make_model(mlp(), ("N", 4), WEIGHTS, 17)))
    assert network.input_shape == (4,)
    assert network.output_shape == (3,)
    assert [(gate.name, gate.kind, gate.num_units) for gate in network.gates] == [("act", "relu", 6)]
    assert network.fingerprint == load(LAYERS).fingerprint
    assert network.verification.num_points == 24
    assert "model.onnx" in network.verification.reference
    assert network.notes == ()


def test_data_is_compared_too(save):
    network = load(save(make_model(mlp(), ("N", 4), WEIGHTS, 17)), data=RNG.normal(size=(10, 4)))
    assert network.verification.num_points == 34


def test_other_weights_by_their_names(save):
    network = load(save(make_model(mlp(), (1, 4), WEIGHTS, 17)))
    changed = network.with_parameters({"fc1.bias": torch.zeros(6), "fc2.weight": 2 * W2})
    assert changed.fingerprint == load([(W1, np.zeros(6)), (2 * W2, B2)]).fingerprint
    # Changes add up, and the first network stays.
    again = changed.with_parameters({"fc2.bias": np.zeros(3)})
    assert again.fingerprint == load([(W1, np.zeros(6)), (2 * W2, np.zeros(3))]).fingerprint
    assert network.with_parameters({}).fingerprint == network.fingerprint == load(LAYERS).fingerprint
    with pytest.raises(InputError, match="unknown"):
        network.with_parameters({"fc3.bias": np.zeros(3)})
    with pytest.raises(ShapeError, match=r"fc1\.bias"):
        network.with_parameters({"fc1.bias": np.zeros(3)})


def test_weights_in_another_file(save, tmp_path):
    model = make_model(mlp(), (1, 4), WEIGHTS, 17)
    path = tmp_path / "outside.onnx"
    onnx.save(model, path, save_as_external_data=True, location="outside.bin", size_threshold=0)
    assert load(path).fingerprint == load(LAYERS).fingerprint
    (tmp_path / "outside.bin").unlink()
    with pytest.raises(InputError, match="other files beside it"):
        load(path)


@pytest.mark.parametrize("kind", [TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16])
def test_stored_values_are_kept(save, kind):
    """The constants are the stored numbers, in float64."""
    value = np.array([[0.1, -0.3]]).T
    model = make_model([node("MatMul", "x w", "y")], (1, 2), {}, 17)
    stored = numpy_helper.from_array(value.astype(helper.tensor_dtype_to_np_dtype(kind)), "w")
    model.graph.initializer.append(stored)
    network = load(save(model))
    exact = numpy_helper.to_array(stored).astype(np.float64)[:, 0]
    assert network(np.eye(2))[:, 0].tolist() == exact.tolist()


def test_initializers_that_are_also_inputs(save):
    model = make_model(mlp(), (1, 4), WEIGHTS, 8)
    for tensor in model.graph.initializer:
        model.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)))
    assert load(save(model)).fingerprint == load(LAYERS).fingerprint


# Batches and shapes ---------------------------------------------------------------------------------------------------


def test_a_reshape_written_for_a_batch_of_one(save):
    nodes = [node("Reshape", "x s", "f"), *mlp()]
    nodes[1].input[0] = "f"
    for batch in (1, "N"):
        network = load(save(make_model(nodes, (batch, 2, 2), {**WEIGHTS, "s": np.array([1, 4])}, 17)))
        assert network.input_shape == (2, 2)
        torch.testing.assert_close(network(np.ones((5, 2, 2))), load(LAYERS)(np.ones((5, 4))))


def test_a_fixed_batch_of_several(save):
    nodes = [node("Reshape", "x s", "f"), *mlp()]
    nodes[1].input[0] = "f"
    model = make_model(nodes, (5, 2, 2), {**WEIGHTS, "s": np.array([5, 4])}, 17)
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.FLOAT, [5, 3]))
    network = load(save(model), data=np.ones((3, 2, 2)))
    assert network.input_shape == (2, 2)
    assert "length 5, was read as a batch" in network.notes[0]
    torch.testing.assert_close(network(np.ones((2, 4))), load(LAYERS)(np.ones((2, 4))))
    whole = load(save(model), input_shape=(5, 2, 2))
    assert whole.input_shape == (5, 2, 2)
    assert whole.output_shape == (5, 3)


def test_points_that_are_mixed_are_refused(save):
    nodes = [node("ReduceMax", "x", "m", axes=[0]), node("Sub", "x m", "y")]
    with pytest.raises(UnsupportedOperatorError, match="mixes them"):
        load(save(make_model(nodes, ("N", 3), {}, 11)))
    model = make_model(nodes, (4, 3), {}, 11)
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 3]))
    whole = load(save(model))
    assert whole.input_shape == whole.output_shape == (4, 3)
    assert "as a batch it fails" in whole.notes[0]
    assert float(load(save(make_model(nodes, (1, 3), {}, 11)))([1.0, 2.0, 3.0]).abs().max()) == 0.0


def test_a_vector_has_no_batch(save):
    network = load(save(make_model([node("MatMul", "w x", "h"), node("Relu", "h", "y")], (4,), {"w": W1}, 13)))
    assert (network.input_shape, network.output_shape) == ((4,), (6,))


def test_open_lengths_need_a_shape(save):
    path = save(make_model([node("GlobalMaxPool", "x", "y")], ("N", 2, "H", "W"), {}, 13))
    with pytest.raises(InputError, match=r"input_shape.*\(\?, 2, \?, \?\)"):
        load(path)
    assert load(path, input_shape=(2, 3, 4)).output_shape == (2, 1, 1)
    with pytest.raises(ShapeError, match=r"\(2, \?, \?\)"):
        load(path, input_shape=(3, 3, 4))
    with pytest.raises(InputError, match="input_shape"):
        load(save(make_model([node("Relu", "x", "y")], ("N",), {}, 13)))


def test_no_declared_shape(save):
    path = save(make_model([node("Relu", "x", "y")], None, {}, 13))
    with pytest.raises(InputError, match="no shape"):
        load(path)
    assert load(path, input_shape=(2, 3)).output_shape == (2, 3)


def test_a_flat_shape_is_explained(save):
    with pytest.raises(ShapeError, match="flattened points of 12 entries are accepted"):
        load(save(make_model([node("Relu", "x", "y")], (1, 3, 4), {}, 13)), input_shape=(12,))


def test_a_constant_output(save):
    model = make_model([node("Shape", "x", "s"), node("Cast", "s", "y", to=TensorProto.FLOAT)], (1, 3), {}, 13)
    assert load(save(model))(np.zeros((2, 3))).tolist() == [[1.0, 3.0], [1.0, 3.0]]


# Notes ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("operator", ["Softmax", "LogSoftmax"])
@pytest.mark.parametrize("opset", [6, 12, 13])
def test_a_trailing_softmax_is_left_off(save, operator, opset):
    settings = {"axis": 1} if opset < 13 else {}
    nodes = [*mlp("z"), node(operator, "z", "p", **settings), node("Identity", "p", "y")]
    if opset == 6:
        for entry in nodes[::2][:2]:
            entry.attribute.append(helper.make_attribute("broadcast", 1))
    network = load(save(make_model(nodes, (1, 4), WEIGHTS, opset)))
    assert network.notes == (f"A trailing {'softmax' if operator == 'Softmax' else 'log_softmax'} was left off.",)
    torch.testing.assert_close(network(np.ones((1, 4))), load(LAYERS)(np.ones((1, 4))))


@pytest.mark.parametrize("operator", ["Sigmoid", "Tanh", "Softplus"])
def test_an_increasing_function_is_left_off(save, operator):
    shape = np.array([-1, 3, 1], dtype=np.int64)
    nodes = [*mlp("z"), node(operator, "z", "p"), node("Reshape", "p s", "q"), node("Squeeze", "q t", "y")]
    weights = {**WEIGHTS, "s": shape, "t": np.array([2], dtype=np.int64)}
    network = load(save(make_model(nodes, (1, 4), weights, 13)))
    assert network.notes[0].startswith(f"A trailing {operator.lower()} was left off")
    torch.testing.assert_close(network(np.ones((1, 4))), load(LAYERS)(np.ones((1, 4))))


def test_a_softmax_inside_is_refused(save):
    nodes = [*mlp("z"), node("Softmax", "z", "p", "attention"), node("Relu", "p", "y")]
    with pytest.raises(NotPiecewiseLinearError, match=r"Softmax at node 3 \(attention\).*very last step"):
        load(save(make_model(nodes, (1, 4), WEIGHTS, 13)))


def test_casts_to_lower_precision_are_noted(save):
    nodes = [node("Cast", "x", "h", to=TensorProto.FLOAT16), node("Cast", "h", "y", to=TensorProto.FLOAT)]
    network = load(save(make_model(nodes, (1, 2), {}, 13)))
    assert network.notes == ("A cast to float16 was read as the identity: the network computes in float64.",)


def test_whole_numbers_are_read_as_real_ones(save):
    model = make_model([node("Cast", "x", "h", to=TensorProto.FLOAT), node("Relu", "h", "y")], (1, 2), {}, 13)
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.UINT8
    assert load(save(model)).notes == ("The model takes uint8; it was read as a function of real numbers.",)


# Control flow, functions, exporters -----------------------------------------------------------------------------------


def test_a_branch_on_a_constant(save):
    def branch(operator):
        out = helper.make_tensor_value_info("b", TensorProto.FLOAT, None)
        half = helper.make_node("Constant", [], ["half"], value_float=0.5)
        steps = [node(operator, "x", "r"), node("Mul", "r four", "q"), half, node("Mul", "q half", "b")]
        return helper.make_graph(steps, operator, [], [out])

    nodes = [
        node("Shape", "x", "s"),
        node("Size", "s", "n"),
        node("Equal", "n two_axes", "c"),
        helper.make_node("If", ["c"], ["y"], then_branch=branch("Relu"), else_branch=branch("Neg")),
    ]
    constants = {"four": np.float32(4.0), "two_axes": np.int64(2)}
    assert load(save(make_model(nodes, (1, 2), constants, 13)))([[1.0, -1.0]]).tolist() == [[2.0, 0.0]]
    assert load(save(make_model(nodes, (1, 2, 1), constants, 13)))([[1.0, -1.0]]).flatten().tolist() == [-2.0, 2.0]


def test_a_branch_on_the_input_is_refused(save):
    out = helper.make_tensor_value_info("b", TensorProto.FLOAT, None)
    graph = helper.make_graph([node("Relu", "x", "b")], "g", [], [out])
    nodes = [
        node("ReduceMax", "x", "m", keepdims=0),
        node("Cast", "m", "c", to=TensorProto.BOOL),
        helper.make_node("If", ["c"], ["y"], then_branch=graph, else_branch=graph),
    ]
    with pytest.raises(NotPiecewiseLinearError):
        load(save(make_model(nodes, (1, 2), {}, 13)))


def test_functions_of_the_file_are_written_out(save):
    model = make_model([helper.make_node("Twice", ["x"], ["y"], domain="own")], (1, 2), {}, 18)
    function = helper.make_function(
        "own", "Twice", ["a"], ["b"], [node("Relu", "a", "r"), node("Add", "r r", "b")], [helper.make_opsetid("", 18)]
    )
    model.functions.append(function)
    model.opset_import.append(helper.make_opsetid("own", 1))
    assert load(save(model))([[1.0, -1.0]]).tolist() == [[2.0, 0.0]]


class Blocks(nn.Module):
    """A residual block, a pool and a head, with one activation module used again and again."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(1, 3, 3, padding=1), nn.Conv2d(3, 3, 3, padding=1)
        self.shortcut, self.head, self.act = nn.Conv2d(1, 3, 1), nn.Linear(27, 4), nn.ReLU()

    def forward(self, x):
        x = self.act(self.second(self.act(self.first(x))) + self.shortcut(x))
        return torch.softmax(self.head(nn.functional.max_pool2d(x, 2).flatten(1)), 1)


@pytest.mark.slow
@pytest.mark.parametrize("dynamo", [False, True])
def test_pytorch_exports_become_the_same_graph(tmp_path, dynamo):
    torch.manual_seed(0)
    model, path = Blocks().eval(), tmp_path / "blocks.onnx"
    x = torch.rand(2, 1, 6, 6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shapes = {"dynamic_shapes": ({0: torch.export.Dim.DYNAMIC},)} if dynamo else {"dynamic_axes": {"x": {0: "N"}}}
        torch.onnx.export(model, (x,), str(path), dynamo=dynamo, input_names=["x"], verbose=False, **shapes)
    network, own = load(path, data=x), load(model, (1, 6, 6))
    assert network.fingerprint == own.fingerprint
    assert network.notes == own.notes == ("A trailing softmax was left off.",)
    expected = run_in_runtime(path, x)
    np.testing.assert_allclose(network(x).softmax(1).numpy(), expected, rtol=1e-4, atol=1e-5)
    twice = {name: 2 * tensor for name, tensor in model.state_dict().items()}
    assert network.with_parameters(twice).fingerprint == own.with_parameters(twice).fingerprint


def test_weights_stored_as_small_integers(save):
    stored = np.array([[-128, 5], [3, 127]], dtype=np.int8)
    nodes = [node("DequantizeLinear", "w scale zero", "f"), node("MatMul", "x f", "y")]
    scales = np.array([0.1, 0.2], dtype=np.float32)
    for opset in (13, 18, 19, 21, NEWEST):
        constants = {"w": stored, "scale": scales, "zero": np.array([2, 0], dtype=np.int8)}
        network = load(save(make_model(nodes, (1, 2), constants, opset)))
        assert network(np.eye(2)).tolist() == ((stored - np.array([2.0, 0.0])) * scales.astype(np.float64)).tolist()


@pytest.mark.parametrize("operator", ["Relu", "Gemm", "Transpose"])
def test_a_fault_in_the_lowering_is_seen(save, monkeypatch, operator):
    """Planted faults: a wrong slope, a forgotten summand, a forgotten move."""
    right = HANDLERS[operator]

    def leaky(site):
        x = site.activation()
        return Activation(site.builder.leaky_relu(x.value, 1e-6), x.shape)

    faults = {
        "Relu": leaky,
        "Gemm": lambda site: right(replace(site, operands=site.operands[:2])),
        "Transpose": lambda site: site.close(site.activation().value, site.activation().shape),
    }
    nodes = [node("Transpose", "x", "t", perm=[0, 2, 1]), node("Flatten", "t", "f"), *mlp()]
    nodes[2].input[0] = "f"
    path = save(make_model(nodes, (1, 2, 2), WEIGHTS, 13))
    load(path)
    monkeypatch.setitem(HANDLERS, operator, faults[operator])
    with pytest.raises(ConversionMismatchError, match="at the point"):
        load(path)


# Refusals -------------------------------------------------------------------------------------------------------------

SMOOTH = ("Sigmoid", "Tanh", "Elu", "Selu", "Softplus", "Softsign", "Exp", "Erf", "Sqrt", "Reciprocal")


@pytest.mark.parametrize("operator", SMOOTH)
def test_what_is_not_piecewise_linear_is_refused_by_name_and_place(save, operator):
    nodes = [node("Relu", "x", "h", "first"), node(operator, "h", "z", "culprit"), node("Relu", "z", "y")]
    with pytest.raises(NotPiecewiseLinearError, match=rf"{operator} at node 1 \(culprit\)"):
        load(save(make_model(nodes, (1, 3), {}, 13)))


def test_nodes_without_a_name_are_placed_by_their_output(save):
    with pytest.raises(NotPiecewiseLinearError, match=r"Exp at node 0 \(-> y\)"):
        load(save(make_model([node("Exp", "x", "y")], (1, 3), {}, 13)))


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([node("Mul", "x x", "y")], "Mul at node 0.*multiplies two values"),
        ([node("MatMul", "x x", "y")], "MatMul at node 0.*multiplies two values"),
        ([node("Gemm", "x x c", "y")], "Gemm at node 0.*multiplies two values"),
        ([node("Div", "c x", "y")], "Div at node 0.*divides by a value"),
        ([node("PRelu", "x x", "y")], "slopes"),
        (
            [node("Cast", "x", "i", to=TensorProto.INT64), node("Cast", "i", "y", to=TensorProto.FLOAT)],
            "limited before it is rounded",
        ),
        ([node("ArgMax", "x", "i"), node("Cast", "i", "y", to=TensorProto.FLOAT)], "ArgMax"),
        ([node("RandomNormalLike", "x", "r"), node("Add", "x r", "y")], "random"),
        ([node("LayerNormalization", "x c", "y")], "batch normalisation"),
        ([node("Pow", "x c", "y")], "Pow"),
    ],
)
def test_other_refusals_name_the_reason(save, nodes, message):
    with pytest.raises(NotPiecewiseLinearError, match=message):
        load(save(make_model(nodes, (1, 3), {"c": np.ones(3, dtype=np.float32)}, 17)))


def test_random_numbers_are_no_constants(save):
    nodes = [node("RandomNormal", "", "r", shape=[1, 3]), node("Add", "x r", "y")]
    del nodes[0].input[:]
    with pytest.raises(NotPiecewiseLinearError, match="draws random numbers"):
        load(save(make_model(nodes, (1, 3), {}, 17)))


def test_positions_of_maxima_are_refused_only_where_they_are_used(save):
    pool = node("MaxPool", "x", "p i", kernel_shape=[2])
    assert load(save(make_model([pool, node("Relu", "p", "y")], (1, 1, 4), {}, 13))).num_units == 6
    used = [pool, node("Cast", "i", "j", to=TensorProto.FLOAT), node("Add", "p j", "y")]
    with pytest.raises(NotPiecewiseLinearError, match="positions"):
        load(save(make_model(used, (1, 1, 4), {}, 13)))


@pytest.mark.parametrize(
    ("nodes", "opset", "message"),
    [
        ([helper.make_node("FusedGemm", ["x"], ["y"], domain="com.microsoft")], 13, "com.microsoft"),
        ([node("TopK", "x k", "v i"), node("Neg", "i", "y")], 13, "scattered into zeros.*Neg at node 1"),
        (
            [node("Resize", "x r s", "y", mode="linear", coordinate_transformation_mode="made_up")],
            13,
            "made_up",
        ),
        ([node("BatchNormalization", "x c c c c", "y", training_mode=1)], 15, "evaluation mode"),
        ([node("Reshape", "x bad", "y")], 13, "Reshape at node 0"),
        ([node("MatMul", "x wide", "y")], 13, "to multiply"),
    ],
)
def test_unknown_and_misused_operators(save, nodes, opset, message):
    one = np.ones(3, dtype=np.float32)
    constants = {"k": np.array([1]), "r": one, "s": np.ones(2, np.float32), "c": one, "bad": np.array([7])}
    constants["wide"] = np.ones((5, 2), np.float32)
    with pytest.raises(ReluscopeError, match=message):
        load(save(make_model(nodes, (1, 3), constants, opset)))


def test_dead_ends_do_not_matter(save):
    nodes = [*mlp(), node("Sigmoid", "y", "unused")]
    assert load(save(make_model(nodes, (1, 4), WEIGHTS, 13))).num_units == 6


def test_several_inputs_and_outputs_are_named(save):
    two = {"left": (1, 3), "right": (1, 3)}
    with pytest.raises(InputError, match="one input, got 2: left, right"):
        load(save(make_model([node("Add", "left right", "y")], None, {}, 13, inputs=two)))
    assert load(save(make_model([node("Relu", "left", "y")], None, {}, 13, inputs=two))).num_units == 3
    with pytest.raises(InputError, match="one output, got 2: y, z"):
        load(save(make_model([node("Relu", "x", "y"), node("Neg", "x", "z")], (1, 3), {}, 13, outputs=("y", "z"))))
    with pytest.raises(InputError, match="got 0: none"):
        load(save(make_model([node("Relu", "c", "y")], None, {"c": W1}, 13, inputs={})))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["fc1.weight", "fc2.bias"])
def test_weights_that_are_not_finite(save, bad, name):
    weights = {key: array.copy() for key, array in WEIGHTS.items()}
    weights[name].flat[0] = bad
    with pytest.raises(InputError, match=f"'{name}' of Gemm.*1 NaN or infinite"):
        load(save(make_model(mlp(), (1, 4), weights, 13)))
    nodes = [node("Add", "x c", "y")]
    with pytest.raises(InputError, match="finite"):
        load(save(make_model(nodes, (1, 3), {"c": np.full(3, bad, dtype=np.float32)}, 13)))


# Files that are none --------------------------------------------------------------------------------------------------


def test_a_missing_file(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        load(tmp_path / "nowhere.onnx")


@pytest.mark.parametrize("content", [b"", b"not a model at all", b"\x80\x04\x95pickle", bytes(range(256))])
def test_other_content(tmp_path, content):
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"expected an ONNX (file|model)"):
        load(path)


def test_a_file_cut_anywhere(save, tmp_path):
    whole = save(make_model(mlp(), (1, 4), WEIGHTS, 13)).read_bytes()
    path = tmp_path / "cut.onnx"
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError):
            load(path)


def test_a_node_that_reads_nothing(save):
    with pytest.raises(InputError, match="reads 'lost', which nothing makes"):
        load(save(make_model([node("Add", "x lost", "y")], (1, 3), {}, 13)))


@pytest.mark.parametrize("opset", [5, onnx.defs.onnx_opset_version() + 1])
def test_opsets_out_of_range(save, opset):
    model = make_model([node("Relu", "x", "y")], (1, 3), {}, 13)
    model.opset_import[0].version = opset
    with pytest.raises(InputError, match=f"got opset {opset}"):
        load(save(model))


def test_without_the_package(monkeypatch, save):
    path = save(make_model(mlp(), (1, 4), WEIGHTS, 13))
    monkeypatch.setattr("reluscope.networks.models.onnx.from_onnx.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install reluscope\[onnx\]"):
        load(path)
