import numpy as np
import pytest
import torch

from networks.models import layers
from reluscope.errors import InputError, ShapeError
from reluscope.networks.models.load import load


def test_sources_and_gates():
    net = load(layers([2, 3, 4, 1]))
    assert [gate.name for gate in net.gates] == ["relu 0", "relu 1"]
    assert net.verification.num_points >= 20
    assert net.verification.largest_deviation < 1e-12


def test_bias_may_be_left_out_and_weights_be_anything_numeric():
    net = load([(torch.tensor([[1, -1]]), None), ([[2.0]], np.float32([0.5]))])
    assert net([[3, 1]]).item() == 4.5


def test_arrays_are_copied():
    stack = layers([2, 3, 1])
    net = load(stack)
    before = net([[1.0, 2.0]])
    stack[0][0][:] = 0
    assert torch.equal(net([[1.0, 2.0]]), before)


@pytest.mark.parametrize(
    ("stack", "error", "words"),
    [
        ([], InputError, "at least one layer"),
        ([np.eye(2)], InputError, r"layer 0 to be a pair \(W, b\), got ndarray"),
        ([(np.eye(2),)], InputError, "to be a pair"),
        ([(np.ones(2), np.ones(1))], ShapeError, r"layer 0 to be a matrix \(out, in\), got \(2,\)"),
        ([(np.ones((3, 2)), np.ones(2))], ShapeError, r"bias of layer 0 to be \(3,\), got \(2,\)"),
        ([(np.ones((3, 2)), np.ones(3)), (np.ones((3, 1)), np.ones(3))], ShapeError, "may be transposed"),
        ([(np.full((1, 2), np.nan), np.ones(1))], InputError, "weight of layer 0 holds 2 NaN or infinite"),
        ([(np.ones((1, 2)), [np.inf])], InputError, "bias of layer 0 holds 1 NaN or infinite"),
        ([([["a"]], [1.0])], InputError, "weight of layer 0 to hold numbers"),
    ],
)
def test_bad_layers_are_refused(stack, error, words):
    with pytest.raises(error, match=words):
        load(stack)


def test_other_weights():
    stack, other = layers([2, 3, 1]), layers([2, 3, 1], seed=1)
    net = load(stack).with_parameters({"0.weight": other[0][0], "0.bias": other[0][1], "1.bias": other[1][1]})
    expected = load([other[0], (stack[1][0], other[1][1])])
    assert net.fingerprint == expected.fingerprint
    assert (
        net.with_parameters({"1.weight": other[1][0]}).fingerprint
        == load([other[0], (other[1][0], other[1][1])]).fingerprint
    )
