import numpy as np
import pytest
import torch
from torch.nn import functional

import reluscope as rs
from networks.models import branched, layers
from reluscope.errors import InputError
from reluscope.networks.building.builder import GraphBuilder
from reluscope.networks.evaluation import linearize as module
from reluscope.networks.models.load import load


def random_points(shape, seed=4):
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("sizes", [[3, 8, 6, 2], [2, 8, 6, 5], [1, 4, 1], [4, 4]])
def test_map_is_a_product_of_the_active_rows(sizes):
    stack = layers(sizes)
    x = random_points((6, sizes[0]))
    maps = load(stack).linearize(x)
    for row, point in enumerate(x.numpy()):
        weight, bias = np.eye(sizes[0]), np.zeros(sizes[0])
        for position, (w, b) in enumerate(stack):
            weight, bias = w @ weight, w @ bias + b
            if position + 1 < len(stack):
                active = (weight @ point + bias > 0)[:, None]
                weight, bias = weight * active, bias * active[:, 0]
        np.testing.assert_allclose(maps.weight[row], weight, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(maps.bias[row], bias, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("budget", [1, 2**14, 2**30])
def test_chunks_do_not_change_the_maps(budget):
    net, x = branched(), random_points((9, 2, 6, 6))
    whole, parts = net.linearize(x), net.linearize(x, budget=rs.Budget(memory=budget))
    torch.testing.assert_close(parts.weight, whole.weight, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(parts.bias, whole.bias, rtol=1e-12, atol=1e-12)


def test_both_sides_agree():
    net, x = branched(), random_points((5, 2, 6, 6))
    backward = net.linearize(x)
    builder_side = net.unit_maps(x)[-1]  # the last gate's input is the affine part of the output, carried forward
    pre = torch.einsum("sun,sn->su", builder_side[0], x.flatten(1)) + builder_side[1]
    torch.testing.assert_close(pre, net.preactivations(x)[-1], rtol=1e-11, atol=1e-11)
    slope = net.stages[-1].gate.slope(net.stages[-1].gate.pieces(pre))
    expected = builder_side[0] * (1 - slope).unsqueeze(-1)
    torch.testing.assert_close(backward.weight, expected, rtol=1e-10, atol=1e-10)


def test_at_a_tie_the_map_is_that_of_the_code():
    builder = GraphBuilder()
    x = builder.input((1,))
    relu, relu6 = builder.relu(x), builder.relu6(x)
    largest = builder.maximum(builder.multiply(x, 3.0), builder.multiply(x, 2.0))
    net = builder.build(builder.concatenate([relu, relu6, largest], 0))
    points = torch.tensor([[0.0], [6.0]])
    assert net.codes(points).to_array().tolist() == [[0, 0, 0], [1, 1, 0]]
    assert net.linearize(points).weight.squeeze(-1).tolist() == [[0.0, 0.0, 3.0], [1.0, 1.0, 3.0]]


def test_bias_does_not_cancel():
    huge = 2.0**60
    net = load([([[huge], [1.0]], [0.0, 0.3]), ([[1.0, 1.0]], [0.1])])
    maps = net.linearize([[1.0]])
    assert maps.bias.item() == 0.3 + 0.1  # f(x) - W x would be 0


def test_outputs_are_chosen():
    net, x = branched(), random_points((3, 2, 6, 6))
    whole = net.linearize(x)
    some = net.linearize(x, outputs=[2, -1])
    assert torch.allclose(some.weight, whole.weight[:, [2, 3]])
    assert torch.allclose(some.bias, whole.bias[:, [2, 3]])
    for outputs in ([4], [-5], []):
        with pytest.raises(InputError, match="outputs must be from 0 to 3"):
            net.linearize(x, outputs=outputs)


def test_padded_candidates_have_no_map():
    builder = GraphBuilder()
    net = builder.build(builder.max_pool(builder.input((1, 4)), 3, 2, 1))
    ((weight, bias),) = net.unit_maps(torch.ones(1, 4))
    assert bias[0, 0].tolist() == [-np.inf, 0.0, 0.0]
    assert weight[0, 0].tolist() == [[0.0] * 4, [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]


def test_maps_are_sequences():
    maps = load(layers([2, 3, 1])).linearize([[0.0, 1.0], [1.0, 2.0]])
    assert len(maps) == 2
    assert len(maps[:1]) == 1
    assert [weight.shape for weight, _ in maps] == [(1, 2), (1, 2)]


def test_few_maps_use_one_thread(monkeypatch):
    """A second thread brings nothing there, and beside other work both wait for each other."""
    seen = []
    forward = functional.linear

    def watched(*given):
        seen.append(torch.get_num_threads())
        return forward(*given)

    net, before = rs.load(rs.testing.default_network([2, 8, 2], 0)), torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        monkeypatch.setattr(functional, "linear", watched)
        few = net.linearize([[0.0, 1.0]])
        assert set(seen) == {1}
        assert torch.get_num_threads() == 2
        seen.clear()
        monkeypatch.setattr(module, "FEW_BYTES", 0)
        many = net.linearize([[0.0, 1.0]])
        assert set(seen) == {2}
    finally:
        torch.set_num_threads(before)
    assert torch.equal(few.weight, many.weight)
