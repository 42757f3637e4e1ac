import dataclasses
import pickle

import numpy as np
import pytest
import torch

import reluscope as rs
from networks.models import branched, layers
from reluscope.errors import InputError, ShapeError
from reluscope.geometry import Box, Slice
from reluscope.networks.building.builder import GraphBuilder
from reluscope.networks.models.load import load


@pytest.fixture(scope="module")
def net():
    return branched()


@pytest.fixture(scope="module")
def x():
    return torch.randn(20, 2, 6, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(2))


def test_attributes(net):
    assert net.input_shape == (2, 6, 6)
    assert net.output_shape == (4,)
    assert (net.num_inputs, net.num_outputs) == (72, 4)
    assert [(gate.kind, gate.num_pieces) for gate in net.gates] == [
        ("relu", 2), ("max_pool", 9), ("relu6", 3), ("softshrink", 3),
    ]  # fmt: skip
    assert net.num_units == sum(gate.num_units for gate in net.gates) == 108 + 48 + 48 + 4
    assert net.layout.num_words == 2 + 4 * 1 + 2 * 1 + 2 * 1
    assert "208 units in 4 gates" in repr(net)


def test_output_follows_the_layers():
    values = points = np.random.default_rng(1).normal(size=(9, 3))
    stack = layers([3, 5, 4, 2])
    for position, (weight, bias) in enumerate(stack):
        values = (np.maximum(values, 0) if position else values) @ weight.T + bias
    np.testing.assert_allclose(load(stack)(points).numpy(), values, rtol=1e-13)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.int32, torch.uint8, torch.bool])
def test_lower_precision_and_integers_are_converted(net, x, dtype):
    rounded = x.to(dtype)
    expected = net(rounded.double())
    assert torch.equal(net(rounded), expected)
    assert torch.equal(net(rounded.numpy()), expected)
    assert net(rounded.flatten(1).tolist()).dtype == torch.float64


def test_single_points_and_flattened_points(net, x):
    expected = net(x[:1])
    for point in (x[0], x[0].flatten(), x[0].numpy(), x[:1].flatten(1)):
        assert torch.equal(net(point), expected)


@pytest.mark.parametrize(
    ("points", "error", "words"),
    [
        (np.zeros((3, 5)), ShapeError, r"expected points of shape \(s, 2, 6, 6\) or flattened \(s, 72\), got \(3, 5\)"),
        (np.zeros((0, 72)), InputError, "at least one point"),
        (np.full((2, 72), np.nan), InputError, "point 0 holds NaN"),
        (np.where(np.arange(144).reshape(2, 72) == 100, np.inf, 0.0), InputError, "point 1 holds NaN or infinite"),
        (np.zeros((2, 72), dtype=complex), InputError, "expected numbers, got an array of complex128"),
        (torch.zeros(2, 72, dtype=torch.complex64), InputError, "real numbers"),
        ([["a"] * 72], InputError, "expected numbers"),
        ([[1.0], [1.0, 2.0]], ShapeError, "rows that do not fit together"),
    ],
)
def test_bad_points_are_refused(net, points, error, words):
    for method in (net, net.codes, net.preactivations, net.linearize, net.unit_maps):
        with pytest.raises(error, match=words):
            method(points)


def test_results_do_not_depend_on_the_batch(net, x):
    whole = net.codes(x)
    assert len(whole) == 20
    for budget in (1, 10 * net.bytes_per_point):
        np.testing.assert_array_equal(net.codes(x, budget=rs.Budget(memory=budget)).words, whole.words)
    torch.testing.assert_close(net(x), torch.cat([net(point) for point in x]), rtol=1e-12, atol=1e-12)


def test_gradients_flow_to_points_that_ask(net, x):
    point = x[:2].clone().requires_grad_()
    net(point).sum().backward()
    expected = net.linearize(x[:2]).weight.sum(1)
    torch.testing.assert_close(point.grad.flatten(1), expected, rtol=1e-10, atol=1e-10)


def test_restriction_to_a_slice(net):
    rng = np.random.default_rng(0)
    domain = Slice(rng.normal(size=72), np.linalg.qr(rng.normal(size=(72, 2)))[0].T, Box(-1, 1, dim=2))
    inner = net.restrict(domain)
    y = rng.uniform(-1, 1, size=(11, 2))
    assert inner.input_shape == (2,)
    np.testing.assert_allclose(inner(y), net(domain.lift(y)), rtol=1e-11, atol=1e-12)
    np.testing.assert_array_equal(inner.codes(y).words, net.codes(domain.lift(y)).words)
    assert [gate.name for gate in inner.gates] == [gate.name for gate in net.gates]
    chain = net.linearize(domain.lift(y)).weight @ torch.as_tensor(domain.basis.T.copy())
    torch.testing.assert_close(inner.linearize(y).weight, chain, rtol=1e-10, atol=1e-10)


def test_restriction_to_another_space_is_refused(net):
    with pytest.raises(ShapeError, match="72-dimensional input space"):
        net.restrict(Slice(np.zeros(3), np.eye(3)[:2], Box(-1, 1, dim=2)))


def test_fingerprint_depends_on_structure_and_constants_alone():
    stack = layers([2, 3, 1])
    net = load(stack)
    assert net.fingerprint == load(stack).fingerprint == pickle.loads(pickle.dumps(net)).fingerprint
    assert len(net.fingerprint) == 64
    renamed = dataclasses.replace(net, nodes=tuple(dataclasses.replace(n, name=f"other {n.name}") for n in net.nodes))
    assert renamed.fingerprint == net.fingerprint
    changed = [(weight.copy(), bias.copy()) for weight, bias in stack]
    changed[0][0][0, 0] = np.nextafter(changed[0][0][0, 0], 9.0)
    assert load(changed).fingerprint != net.fingerprint
    assert load([*stack, (np.eye(1), np.zeros(1))]).fingerprint != net.fingerprint


def test_nodes_without_effect_are_dropped():
    builder = GraphBuilder()
    x = builder.input((3,))
    builder.absolute(builder.named("dead").relu(x))
    net = builder.build(builder.named("alive").relu(x))
    assert [gate.name for gate in net.gates] == ["alive"]
    assert len(net.nodes) == 2


def test_gate_names_are_unique():
    builder = GraphBuilder()
    x = builder.input((3,))
    for _ in range(3):
        x = builder.named("act").relu(x)
    assert [gate.name for gate in builder.build(x).gates] == ["act", "act_1", "act_2"]


def test_moving_to_a_device_keeps_the_network(net, x):
    moved = net.to("cpu")
    assert moved.fingerprint == net.fingerprint
    assert torch.equal(moved(x), net(x))


@pytest.mark.parametrize("device", ["cuda"])
def test_other_devices_agree(net, x, device):
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    moved = net.to(device)
    torch.testing.assert_close(moved(x).cpu(), net(x), rtol=1e-11, atol=1e-11)
    np.testing.assert_array_equal(moved.codes(x).words, net.codes(x).words)
    torch.testing.assert_close(moved.linearize(x).weight.cpu(), net.linearize(x).weight, rtol=1e-10, atol=1e-10)
