import numpy as np
import pytest
import torch

from networks.models import branched, layers
from reluscope._kernels import pieces_in_use
from reluscope.networks.building.builder import GraphBuilder
from reluscope.networks.models.load import load
from reluscope.networks.passes.numbers import LIVE_NUMBERS


def test_a_plain_stack_keeps_nothing_but_the_gate():
    net = load(layers([2, 4, 4, 1]))
    assert [(stage.reads, stage.keeps) for stage in net.stages] == [((0,), ()), ((2,), ())]
    assert net.finish.reads == (4,)


def test_a_shortcut_stays_alive_until_its_sum():
    net = branched()
    keeps = [stage.keeps for stage in net.stages]
    assert keeps[0] == keeps[1] == (0,)  # the input, not its projection
    assert keeps[2] == ()
    (late,) = keeps[3]  # x - softshrink(x) needs x
    assert net.nodes[late].shape == (4,)


def test_what_only_a_leg_reads_is_let_go_of():
    """A leg of several nodes hands on its target and what later stages read: of long ones there may be gigabytes."""
    for net in (branched(), load(layers([2, 4, 4, 1]))):
        values = net.start(torch.zeros(1, *net.input_shape, dtype=torch.float64))
        for stage in net.stages:
            read = {stage.leg.target, *stage.keeps}
            assert read <= set(stage.leg.carry(LIVE_NUMBERS, values)) <= read | set(values)
            inner = {at for at, _ in stage.leg.plan}
            assert not (inner - read) & set(stage.leg.carry(LIVE_NUMBERS, values))
            pre, live = stage.advance(values)
            values = stage.close(live, pre)
        assert set(net.finish.leg.carry(LIVE_NUMBERS, values)) == {net.finish.leg.target}


def test_values_survive_interpolation_between_stages():
    """On a cell the values that are alive are affine, so the middle of two points has the middle of the values."""
    net = branched()
    center = torch.randn(1, 2, 6, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    step = 1e-7 * torch.randn(2, 2, 6, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    ends = center + step
    assert len(net.codes(ends).unique()) == 1
    values = net.start(ends)
    for stage in net.stages:
        pre, live = stage.advance(values)
        middle, half = pre.mean(0, keepdim=True), {key: value.mean(0, keepdim=True) for key, value in live.items()}
        values = stage.close({key: torch.cat([live[key], half[key]]) for key in live}, torch.cat([pre, middle]))
    expected = net(torch.cat([ends, ends.mean(0, keepdim=True)]))
    torch.testing.assert_close(net.finish(values)[[0, 1, -1]], expected, rtol=1e-11, atol=1e-11)


def ones_without_errors():
    return {0: torch.ones(1, 2, dtype=torch.float64)}, {0: torch.zeros(1, 2, dtype=torch.float64)}


def test_bounds_are_sharp_for_one_layer():
    weight, bias = np.array([[1.0, -2.0], [3.0, 0.5]]), np.array([-4.0, 0.25])
    stage = load([(weight, bias), (np.eye(2), np.zeros(2))]).stages[0]
    size, error, _ = stage.advance_errors(*ones_without_errors(), 0.5)
    np.testing.assert_array_equal(size, [3.0 + 4.0, 3.5 + 0.25])
    np.testing.assert_array_equal(error, 0.5 * size)


def test_bounds_go_through_several_affine_nodes():
    builder = GraphBuilder()
    x = builder.input((2,))
    y = builder.scale_shift(x, scale=torch.tensor([2.0, -1.0]), shift=-3.0)
    net = builder.build(builder.relu(builder.linear(y, torch.tensor([[1.0, -1.0]]), torch.tensor([0.5]))))
    size, _, _ = net.stages[0].advance_errors(*ones_without_errors(), 0.0)
    assert size.tolist() == [3.0 + 6.5]


def test_no_gates_no_stages():
    net = load(layers([3, 2]))
    assert net.stages == ()
    assert net.gates == ()
    assert net.num_units == 0
    x = torch.ones(4, 3, dtype=torch.float64)
    assert torch.equal(net.finish(net.start(x)), net(x))
    assert net.codes(x).words.shape == (4, 0)
    assert len(net.codes(x).unique()) == 1
    assert net.linearize(x).weight.shape == (4, 2, 3)
    assert net.unit_maps(x) == net.preactivations(x) == []


def test_errors_pass_a_gate_by_the_steepest_piece_in_use():
    builder = GraphBuilder()
    x = builder.linear(builder.input((2,)), torch.eye(2, dtype=torch.float64))
    tables = [[0.0, 1.0], [-0.5, 1.0, 3.0], [0.0, 0.0, -2.0]]
    stage = builder.build(builder.pointwise(x, "kink", *tables)).stages[0]
    size, error, gamma = np.array([4.0, 2.0]), np.array([0.25, 0.125]), 0.5
    steep, plain = 3.0 * error + gamma * (3.0 * size + 2.0), 1.0 * error
    flat = 0.5 * error + gamma * 0.5 * size
    for pieces, expected in (
        ([[0, 0]], flat),
        ([[1, 1]], plain),
        ([[2, 2]], steep),
        ([[1, 2]], [plain[0], steep[1]]),
        ([[0, 1], [1, 0]], np.maximum(flat, plain)),
        ([[0, 0], [1, 1], [2, 2]], np.maximum(np.maximum(flat, plain), steep)),
    ):
        assert stage.pass_errors(size, error, np.array(pieces), gamma)[0].tolist() == list(expected)


def test_one_pair_of_breakpoints_that_are_close_is_enough_for_all_pieces():
    """Breakpoints 0, 1 and 9: with an error of 1/2 a value between two may be beyond both."""
    builder = GraphBuilder()
    x = builder.linear(builder.input((3,)), torch.eye(3, dtype=torch.float64))
    for breakpoints in ([0.0, 1.0, 9.0], [0.0, 8.0, 9.0], [0.0, 1.0, 2.0]):
        gate = builder.pointwise(x, "kink", breakpoints, [1.0, 2.0, 3.0, 4.0], [0.0] * 4, may_jump=True)
        error = np.array([0.25, 0.5, 4.0])
        found = builder.build(gate).stages[0].pass_errors(np.ones(3), error, np.zeros((1, 3), dtype=int), 0.0)
        assert found[0].tolist() == [1 * 0.25, 4 * 0.5, 4 * 4.0]


def test_pieces_in_use_are_those_of_some_cell():
    generator = np.random.default_rng(0)
    for dtype, num_pieces in ((np.uint8, 2), (np.uint8, 5), (np.uint16, 300)):
        pieces = generator.integers(num_pieces, size=(4, 9)).astype(dtype)
        expected = [[piece in column for column in pieces.T.tolist()] for piece in range(num_pieces)]
        assert pieces_in_use(pieces, num_pieces).tolist() == expected
        assert not pieces_in_use(pieces[:0], num_pieces).any()
    with pytest.raises(ValueError, match="below their number"):
        pieces_in_use(np.array([[3]], dtype=np.uint8), 3)


def test_errors_of_sums_are_their_own_and_those_of_their_terms():
    net = load([(np.array([[3.0, -4.0]]), np.array([2.0])), (np.eye(1), np.zeros(1))])
    sizes, errors = ({0: torch.tensor([entries], dtype=torch.float64)} for entries in ([5.0, 1.0], [0.25, 0.5]))
    size, error, _ = net.stages[0].advance_errors(sizes, errors, 0.125)
    assert size.tolist() == [3 * 5 + 4 * 1 + 2]
    assert error.tolist() == [0.75 + 2.0 + 0.125 * 21]


def test_entries_that_are_zero_at_all_points_are_left_out_of_products():
    generator = torch.Generator().manual_seed(0)
    weight, x = (torch.randn(5, 8, dtype=torch.float64, generator=generator) for _ in range(2))
    node = load([(weight.numpy(), np.arange(5.0))]).nodes[1]
    x[:, [0, 3, 4, 7]] = 0.0
    x[1:, 3] = 1e-300  # not at all points
    torch.testing.assert_close(LIVE_NUMBERS.affine(node, [x]), node.apply(x), rtol=1e-14, atol=1e-14)
    weight[:, [0, 4, 7]] = torch.nan
    broken = load([(np.ones((5, 8)), np.arange(5.0))]).nodes[1]
    object.__setattr__(broken, "weight", weight)
    assert bool(LIVE_NUMBERS.affine(broken, [x]).isfinite().all())
