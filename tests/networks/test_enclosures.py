"""Enclosures against the values of networks at steps drawn from the ball, with units held and not."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import reluscope as rs
from networks.models import branched, layers
from oracles.rational_steps import ABSOLUTE, LEAKY, RELU, affine, network_of
from reluscope.geometry.balls import CutBall
from reluscope.networks.enclosures import enclose
from reluscope.networks.maps_of_codes import pieces_of
from reluscope.testing import networks

ROUNDING = 1e-15


def pieces_range(net):
    first = [np.zeros(stage.gate.num_units, dtype=int) for stage in net.stages]
    return first, [np.full(stage.gate.num_units, stage.gate.num_pieces - 1) for stage in net.stages]


def drawn(steps, number, seed=0):
    """Return steps of a ball, cut by its box and its half-space."""
    rng, dim = np.random.default_rng(seed), len(steps.lower)
    cloud = rng.normal(size=(number, dim))
    length = np.linalg.norm(cloud, axis=1, ord={"l1": 1, "l2": 2, "linf": np.inf}[steps.norm])
    cloud *= (steps.radius * rng.uniform(0, 1, number) ** 0.2 / length)[:, None]
    cloud = np.clip(cloud, steps.lower, steps.upper)
    return cloud if steps.cut is None else cloud[cloud @ steps.cut >= steps.level]


def check(net, point, steps, first, last):
    """Check the outputs at all drawn steps whose units have the pieces they are held to, and count these."""
    found = enclose(net, point, steps, first, last, rounding=ROUNDING)
    cloud = drawn(steps, 2000)
    own = np.ones(len(cloud), dtype=bool)
    for low, high, piece in zip(first, last, pieces_of(net.codes(point + cloud)), strict=True):
        own &= ((low <= piece) & (piece <= high)).all(axis=1)
    cloud = cloud[own]
    if found.is_empty:
        assert not len(cloud)
        return 0
    values = net(point + cloud).reshape(len(cloud), -1).numpy()
    outputs = found.outputs
    middle = cloud @ outputs.weights.T + outputs.centers
    assert (np.abs(values - middle) <= outputs.spread + 1e-9).all()
    for limit in found.limits:
        assert (cloud @ limit.weights.T + limit.centers <= limit.spread + 1e-9).all()
    return len(cloud)


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("is_held", [False, True])
def test_values_are_enclosed(norm, is_held):
    rng = np.random.default_rng(1)
    torch.manual_seed(1)
    many = nn.Sequential(nn.Linear(4, 8), nn.Hardtanh(), nn.Unflatten(1, (2, 4)), nn.MaxPool1d(2, padding=1),
                         nn.Flatten(), nn.Linear(6, 5), nn.LeakyReLU(), nn.Linear(5, 2)).double()  # fmt: skip
    total = 0
    for net in (rs.load(layers([4, 7, 6, 3])), rs.load(many, input_shape=(4,)), branched()):
        dim = net.num_inputs
        point = rng.normal(size=dim)
        for cut in (None, rng.normal(size=dim)):
            steps = CutBall(0.4, norm, np.full(dim, -0.3), np.full(dim, 0.35))
            if cut is not None:
                length = np.linalg.norm(cut, ord={"l1": np.inf, "l2": 2, "linf": 1}[norm])
                steps = CutBall(0.4, norm, steps.lower, steps.upper, cut / length, 0.05)
            first, last = pieces_range(net)
            if is_held:  # some units of all gates have the pieces of a point nearby
                code = pieces_of(net.codes(point + drawn(steps, 500)[:1]))
                for low, high, piece in zip(first, last, code, strict=True):
                    low[-2:], high[-2:] = piece[0, -2:], piece[0, -2:]
            total += check(net, point, steps, first, last)
    assert total > 500


@settings(max_examples=15)
@given(networks(num_outputs=2, max_width=4), st.integers(0, 99))
def test_degenerate_networks_are_enclosed(parameters, seed):
    net, point = rs.load(parameters), np.random.default_rng(seed).integers(-2, 3, 2) / 2
    steps = CutBall(1.0, "l2", -np.ones(2), np.ones(2))
    assert check(net, point, steps, *pieces_range(net)) > 0


def test_a_step_that_bends_nothing_is_affine_and_a_range_without_end_stops():
    net = rs.load([(np.eye(2), np.array([1.0, 1.0])), (np.ones((1, 2)), np.zeros(1))])
    free = np.full(2, np.inf)
    near = enclose(net, np.zeros(2), CutBall(0.5, "l2", -free, free), *pieces_range(net), rounding=ROUNDING)
    assert near.open == []
    assert near.outputs.weights.tolist() == [[1.0, 1.0]]
    far = enclose(net, np.zeros(2), CutBall(np.inf, "l2", -free, free), *pieces_range(net), rounding=ROUNDING)
    assert far.outputs is None
    assert [unit.unit for unit in far.open] == [0, 1]
    assert [unit.parts for unit in far.open] == [((0, 0), (1, 1))] * 2
    for low, high in ((-free, np.ones(2)), (-2 * np.ones(2), free)):
        half = CutBall(np.inf, "l2", low, high)
        found = enclose(net, np.zeros(2), half, *pieces_range(net), rounding=ROUNDING)
        assert (found.outputs, [unit.unit for unit in found.open]) == (None, [0, 1])


def test_the_largest_of_candidates_is_enclosed_up_to_its_ends():
    model = nn.Sequential(nn.Linear(1, 2), nn.Unflatten(1, (1, 2)), nn.MaxPool1d(2), nn.Flatten()).double()
    with torch.no_grad():
        model[0].weight[:], model[0].bias[:] = torch.tensor([[1.0], [-1.0]]), 0.0
    net = rs.load(model, input_shape=(1,))  # the larger of u and -u
    steps = CutBall(1.0, "l2", -np.ones(1), np.ones(1))
    found = enclose(net, np.zeros(1), steps, *pieces_range(net), rounding=ROUNDING).outputs
    for step in (-1.0, 0.0, 1.0):
        assert abs(abs(step) - found.centers[0] - found.weights[0, 0] * step) <= found.spread[0] + 1e-12
    ahead = enclose(net, np.array([2.0]), steps, *pieces_range(net), rounding=ROUNDING)  # u all over
    assert (ahead.open, ahead.limits, ahead.outputs.weights.tolist()) == ([], [], [[1.0]])
    held = [np.zeros(1, dtype=int)]  # to u, which is the larger one down to 0
    (limit,) = enclose(net, np.zeros(1), steps, held, held, rounding=ROUNDING).limits
    assert (limit.centers <= limit.spread).all()
    assert (limit.weights < 0).all()


def test_noise_counts_in_full_where_later_units_bend():
    # The larger of u and 0, at most 1 by its chord, and then what it has above 0.995.
    net = rs.load([([[1.0]], [0.0]), ([[1.0]], [-0.995]), ([[1.0]], [0.0])])
    steps = CutBall(1.0, "l2", -np.ones(1), np.ones(1))
    found = enclose(net, np.zeros(1), steps, *pieces_range(net), rounding=ROUNDING).outputs
    assert 0.005 - found.centers[0] - found.weights[0, 0] <= found.spread[0] + 1e-12


COARSE = 1 / 64
CLAMP = ("pointwise", [-0.5, 0.5], [0.0, 1.0, 0.0], [-0.5, 0.0, 0.5])


def test_rounding_grows_with_the_size_of_steps():
    net, steps = network_of([affine([[3.0]], [0.0])], 1), CutBall(1.0, "l2", -np.ones(1), np.ones(1))
    found = enclose(net, np.zeros(1), steps, [], [], rounding=COARSE).outputs
    assert (found.centers, found.weights, found.spread) == (0.0, 3.0, 0.0)
    assert found.errors[0] >= 3 * COARSE  # 3 u may be 3 (1 + 1 / 64) u, up to the end of the steps
    away = enclose(net, np.ones(1), steps, [], [], rounding=COARSE).outputs
    assert away.errors[0] >= 6 * COARSE  # up to 2


def test_rounding_of_a_chord_is_that_of_the_function_where_it_is_farthest():
    rounding = 2.0**-20
    net = network_of([affine([[1.0]], [0.0]), ("pointwise", [0.0], [-3.0, 3.0], [0.0, 0.0]), affine([[1.0]], [0.0])], 1)
    steps = CutBall(1.0, "l2", -np.ones(1), np.ones(1))
    found = enclose(net, np.zeros(1), steps, *pieces_range(net), rounding=rounding).outputs
    assert found.weights[0, 0] == 0
    # At 1 three products are rounded in turn; the bounds are of first order.
    largest = 3 * (1 + rounding) ** 3
    assert largest <= found.centers[0] + found.spread[0] + found.errors[0] + 12 * rounding**2


def test_a_unit_without_weights_is_on_the_piece_that_ends_at_it():
    net = rs.load([([[0.0], [1.0]], [0.0, 2.0]), ([[1.0, 1.0]], [0.0])])
    steps, held = CutBall(1.0, "l2", -np.ones(1), np.ones(1)), [np.array([0, 1])]
    assert net.codes([[0.5]]).to_array().tolist() == [[0, 1]]
    assert not enclose(net, np.zeros(1), steps, held, held, rounding=ROUNDING).is_empty


def test_one_unit_that_cannot_have_its_piece_is_enough():
    net = rs.load([([[1.0], [1.0]], [2.0, -2.0]), ([[1.0, 1.0]], [0.0])])
    steps = CutBall(1.0, "l2", -np.ones(1), np.ones(1))
    for pieces in ([0, 0], [1, 1], [0, 1], [1, 0]):  # one is on and the other is off all over
        held = [np.array(pieces)]
        assert enclose(net, np.zeros(1), steps, held, held, rounding=ROUNDING).is_empty == (pieces != [1, 0])


def test_both_parts_of_an_open_unit_leave_a_piece_that_it_may_be_on():
    net, steps = network_of([affine([[1.0]], [0.0]), CLAMP], 1), CutBall(0.25, "l2", -np.ones(1), np.ones(1))
    for point, parts in ((-0.5, ((0, 0), (1, 2))), (0.5, ((0, 1), (2, 2)))):
        (unit,) = enclose(net, np.array([point]), steps, *pieces_range(net), rounding=ROUNDING).open
        assert unit.parts == parts


def values_of(steps, points):
    """Return outputs, and the pieces of every gate."""
    values, pieces = points, []
    for step in steps:
        if step[0] == "affine":
            values = values @ step[1].T + step[2]
        elif step[0] == "pointwise":
            breakpoints, slopes, intercepts = map(np.array, step[1:])
            pieces.append((values[..., None] > breakpoints).sum(-1))
            values = slopes[pieces[-1]] * values + intercepts[pieces[-1]]
        else:
            groups = values.reshape(len(values), -1, step[1])
            pieces.append(groups.argmax(-1))
            values = groups.max(-1)
    return values, pieces


def rounded(steps, generator):
    """Return a network that differs from this one by as much as coarse rounding may."""
    return [
        ("affine", *(table * (1 + COARSE * generator.choice([-1, 1], table.shape)) for table in step[1:]))
        if step[0] == "affine"
        else step
        for step in steps
    ]


@pytest.mark.parametrize("kinks", [(RELU, LEAKY), (ABSOLUTE, CLAMP), (("max", 2), RELU), (CLAMP, ("max", 3))])
@pytest.mark.parametrize("is_held", [False, True])
def test_all_networks_within_rounding_are_enclosed(kinks, is_held):
    """Rounding may have made this network of any other whose weights are so near: its units cross kinks that these
    do not, and its outputs differ.
    """
    seen, far = 0, 0
    for seed in range(30):
        generator = np.random.default_rng(seed)
        steps, width, point = [], 2, generator.normal(size=2)
        for kink in kinks:
            group = kink[1] if kink[0] == "max" else 1
            layer = affine(generator.normal(size=(2 * group, width)), generator.normal(size=2 * group))
            arrived = values_of([*steps, layer], point[None])[0][0]
            # Near a kink or a tie, by about as much as is rounded.
            layer[2][:] -= arrived - np.repeat(generator.normal(size=2), group) * (group > 1)
            layer[2][:] += generator.choice([0.0, 0.02, 0.1], 2 * group) * generator.normal(size=2 * group)
            steps, width = [*steps, layer, kink], 2
        steps.append(affine(generator.normal(size=(1, 2)), generator.normal(size=1)))
        net, radius = network_of(steps, 2), float(generator.choice([0.0, 0.01, 0.1]))
        ball = CutBall(radius, "linf", np.full(2, -radius), np.full(2, radius))
        first, last = pieces_range(net)
        if is_held:
            for low, high, piece in zip(first, last, values_of(rounded(steps, generator), point[None])[1], strict=True):
                low[:1], high[:1] = piece[0, :1], piece[0, :1]
        found = enclose(net, point, ball, first, last, rounding=COARSE)
        cloud = radius * generator.choice([-1.0, 1.0, 0.3], (40, 2))
        for _ in range(15):
            outputs, pieces = values_of(rounded(steps, generator), point + cloud)
            own = np.ones(len(cloud), dtype=bool)
            for low, high, piece in zip(first, last, pieces, strict=True):
                own &= ((low <= piece) & (piece <= high)).all(axis=1)
            assert not (found.is_empty and own.any())
            if not own.any():
                continue
            forms, inside = found.outputs, cloud[own]
            away = np.abs(outputs[own] - inside @ forms.weights.T - forms.centers)
            assert (away <= forms.spread + forms.errors + 1e-12).all()
            for limit in found.limits:
                assert (inside @ limit.weights.T + limit.centers <= limit.spread + limit.errors + 1e-12).all()
            seen, far = seen + own.sum(), far + (away > forms.spread).sum()
    assert seen > 1500
    assert far > 0.02 * seen
