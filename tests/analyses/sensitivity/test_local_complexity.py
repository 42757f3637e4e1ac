"""Local complexity by cross-polytopes and by gradients, against loops over vertices and units, and autograd."""

import itertools
import math
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from reluscope.analyses.counting.counted import Counted
from reluscope.analyses.sensitivity import regions_in_balls
from reluscope.errors import InputError
from reluscope.stopping import INTERRUPTED

units_around = partial(rs.sensitivity.local_complexity, definition="cross_polytope")
kink_density = partial(rs.sensitivity.local_complexity, definition="kink_density")
POINTS = np.random.default_rng(3).normal(size=(9, 5))


def dense(seed=0, sizes=(5, 7, 6, 3)):
    torch.manual_seed(seed)
    layers = []
    for before, after in itertools.pairwise(sizes):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers[:-1]).double()


def pooled():
    torch.manual_seed(1)
    return nn.Sequential(
        nn.Conv2d(1, 3, 2),
        nn.Hardtanh(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(3, 4),
        nn.LeakyReLU(0.2),
        nn.Linear(4, 2),
    ).double()


def preactivations(model, x):
    """Return what every ReLU of a perceptron sees at one point, by hand."""
    seen, value = [], x
    for layer in model:
        if isinstance(layer, nn.ReLU):
            seen.append(value)
            value = value.clamp(min=0)
        else:
            value = layer.weight @ value + layer.bias
    return seen


def vertices_of(point, radius, num_directions, seed):
    drawn = np.random.default_rng(seed).normal(size=(len(point), min(num_directions, len(point))))
    frame = np.linalg.qr(drawn)[0].T
    assert frame @ frame.T == pytest.approx(np.eye(len(frame)))
    return [point + sign * radius * direction for direction in frame for sign in (1, -1)]


@pytest.mark.parametrize("num_directions", [1, 3, 20])
@pytest.mark.parametrize("radius", [0.01, 0.4, 3.0])
def test_cross_polytopes_by_loops(radius, num_directions):
    model = dense()
    expected = np.zeros((len(POINTS), 2), dtype=int)
    for row, point in enumerate(POINTS):
        signs = []
        for vertex in vertices_of(point, radius, num_directions, seed=4):
            signs.append([(one > 0).tolist() for one in preactivations(model, torch.tensor(vertex))])
        for layer in range(2):
            for unit in range(len(signs[0][layer])):
                expected[row, layer] += len({sign[layer][unit] for sign in signs}) > 1
    options = {"num_directions": num_directions, "seed": 4}
    whole = units_around(rs.load(model), POINTS, radius, **options)
    assert whole["cross_polytope_complexity"].value.tolist() == expected.sum(axis=1).tolist()
    assert whole["cross_polytope_complexity"].is_exact.all()
    assert (radius == 3.0) <= (expected.sum() > 0)
    for gate in (0, -1):
        part = units_around(rs.load(model), POINTS, radius, gate=gate, **options)
        assert part["cross_polytope_complexity"].value.tolist() == expected[:, gate].tolist()


def test_cross_polytopes_of_convolutions_and_pools():
    network = rs.load(pooled(), (1, 3, 3))
    points = np.random.default_rng(0).normal(size=(4, 9))
    found = units_around(network, points, 0.8, num_directions=4, seed=1)
    for row, point in enumerate(points):
        codes = network.codes(np.array(vertices_of(point, 0.8, 4, seed=1))).to_array()
        assert found["cross_polytope_complexity"].value[row] == (codes != codes[0]).any(axis=0).sum()


def test_units_within_rounding_widen_the_count():
    # Vertices at 1 +- 1: the first unit bends at 2 but for one bit, and rounding decides whether a vertex is beyond.
    edge = 2 * (1 + 2**-51)
    net = rs.load([(np.array([[1.0], [1.0], [0.1]]), np.array([-edge, -1.5, 5.0])), (np.ones((1, 3)), np.zeros(1))])
    found = units_around(net, [[1.0]], 1.0)["cross_polytope_complexity"]
    assert (found.lower[0], found.upper[0]) == (1, 2)
    assert not found.is_exact[0]


def test_units_that_are_zero_everywhere_cross_nothing():
    net = rs.load([(np.zeros((4, 2)), np.zeros(4)), (np.ones((1, 4)), np.zeros(1))])
    found = units_around(net, [[1.0, 2.0]], 1.0)
    assert str(found.finding("cross_polytope_complexity")) == "0 (EXACT)"
    assert kink_density(net, [[1.0, 2.0]]).finding("kink_density").value == 0


def test_networks_without_gates():
    net = rs.load([(np.eye(2), np.zeros(2))])
    assert str(units_around(net, [[1.0, 2.0]], 1.0).finding("cross_polytope_complexity")) == ("0 (EXACT)")
    assert str(kink_density(net, [[1.0, 2.0]]).finding("kink_density")) == "0 (EXACT)"


@pytest.mark.parametrize("deviation", [0.05, 1.0])
def test_kink_densities_by_autograd(deviation):
    model = dense(seed=2)
    expected = []
    for point in POINTS:
        total = 0.0
        for layer in range(2):
            for unit in range((7, 6)[layer]):
                x = torch.tensor(point, requires_grad=True)
                seen = preactivations(model, x)[layer][unit]
                (gradient,) = torch.autograd.grad(seen, x)
                density = math.exp(-((seen.item() / deviation) ** 2) / 2) / (deviation * math.sqrt(2 * math.pi))
                total += gradient.norm().item() * density
        expected.append(total)
    found = kink_density(rs.load(model), POINTS, deviation=deviation)["kink_density"]
    assert found.value == pytest.approx(expected, rel=1e-12)
    assert found.is_exact.all()
    assert (found.lower <= expected).all()
    assert (found.upper >= expected).all()


def test_kink_densities_of_convolutions_leave_max_gates_out():
    model, points = pooled(), np.random.default_rng(0).normal(size=(3, 9))
    network = rs.load(model, (1, 3, 3))
    expected = []
    for point in points:
        x = torch.tensor(point.reshape(1, 1, 3, 3), requires_grad=True)
        before, after = model[0](x).flatten(), model[:5](x).flatten()
        total = 0.0
        for seen, breakpoints in ((before, (-1, 1)), (after, (0,))):
            for unit in seen:
                (gradient,) = torch.autograd.grad(unit, x, retain_graph=True)
                for threshold in breakpoints:
                    gap = (unit.item() - threshold) / 0.5
                    total += gradient.norm().item() * math.exp(-(gap**2) / 2) / (0.5 * math.sqrt(2 * math.pi))
        expected.append(total)
    found = kink_density(network, points, deviation=0.5)
    assert found["kink_density"].value == pytest.approx(expected)
    assert "max gates left out" in found["kink_density"].definition


def test_a_density_is_how_often_noisy_biases_put_a_bend_on_a_short_segment():
    # The co-area formula itself: in one input, bends of one noisy unit per unit of length.
    slope, bias, deviation, half = 3.0, 0.4, 0.7, 0.01
    net = rs.load([(np.array([[slope]]), np.array([bias])), (np.eye(1), np.zeros(1))])
    noises = np.random.default_rng(0).normal(scale=deviation, size=4_000_000)
    bends = -(bias + noises) / slope
    often = (np.abs(bends - 0.1) < half).mean() / (2 * half)
    found = kink_density(net, [[0.1]], deviation=deviation).finding("kink_density")
    assert float(found) == pytest.approx(often, rel=0.02)


@pytest.mark.slow
def test_with_noise_on_all_biases_it_is_how_dense_bends_are_drawn():
    # The published definition, by drawing: biases of two layers, and all bends of 2 + 3 units on a short segment.
    generator = np.random.default_rng(1)
    first, second = (np.array([[1.0], [-0.75]]), np.array([0.25, 0.5])), (generator.normal(size=(3, 2)), np.ones(3) / 4)
    net = rs.load([first, second, (np.ones((1, 3)), np.zeros(1))])
    deviation, center, half, number = 0.5, 0.2, 0.05, 200_000
    noise = generator.normal(scale=deviation, size=(number, 5))
    ends = []
    for x in (center - half, center + half):
        before = first[0][:, 0] * x + first[1] + noise[:, :2]
        ends.append(np.hstack([before, np.maximum(before, 0) @ second[0].T + second[1] + noise[:, 2:]]))
    often = ((ends[0] > 0) != (ends[1] > 0)).sum(axis=1).mean() / (2 * half)
    drawn = kink_density(net, [[center]], deviation=deviation, num_noises=300)
    assert drawn["kink_density"].value[0] == pytest.approx(often, rel=0.05)
    assert str(drawn.finding("kink_density").claim) == "ESTIMATE"
    # Without noise on earlier biases it is another number, which both definitions share for a first gate alone.
    plain = kink_density(net, [[center]], deviation=deviation)["kink_density"].value[0]
    assert abs(plain - often) > 0.2 * often


@pytest.mark.slow
def test_random_directions_estimate_without_bias():
    network = rs.load(dense(seed=5))
    exact = kink_density(network, POINTS[:2])["kink_density"].value
    found = [kink_density(network, POINTS[:2], num_directions=3, seed=seed)["kink_density"] for seed in range(400)]
    assert np.mean([one.value for one in found], axis=0) == pytest.approx(exact, rel=0.05)
    assert {str(claim) for one in found for claim in one.claims} == {"ESTIMATE"}


def test_a_point_on_a_bend_claims_nothing_of_later_gates():
    edge = 1 + 2**-52
    net = rs.load(
        [(np.array([[1.0, -1.0]]), np.zeros(1)), (np.ones((2, 1)), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    )
    found = kink_density(net, [[1.0, edge], [2.0, 1.0]])["kink_density"]
    assert (found.lower[0], found.upper[0]) == (0, np.inf)
    assert found.is_exact.tolist() == [False, True]


def test_blocks_do_not_matter():
    network = rs.load(dense())
    whole = units_around(network, POINTS, 0.5)["cross_polytope_complexity"].value
    few = rs.Budget(memory=1 << 12)
    parts = units_around(network, POINTS, 0.5, budget=few)["cross_polytope_complexity"].value
    assert parts.tolist() == whole.tolist()
    density = kink_density(network, POINTS)["kink_density"].value
    assert kink_density(network, POINTS, budget=few)["kink_density"].value == pytest.approx(density)


def test_bad_arguments():
    network = rs.load(dense())
    with pytest.raises(InputError, match="gate must be a name or a position"):
        units_around(network, POINTS, 0.5, gate=9)
    with pytest.raises(InputError, match="radius"):
        units_around(network, POINTS, 0.0)
    with pytest.raises(InputError, match="deviation"):
        kink_density(network, POINTS, deviation=-1.0)


def test_options_of_another_definition_are_refused():
    network = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    for definition, options in (
        ("regions", {"radius": 1.0, "gate": 0}),
        ("regions", {"radius": 1.0, "deviation": 1.0}),
        ("cross_polytope", {"radius": 1.0, "norm": "l2"}),
        ("kink_density", {"radius": 1.0}),
        ("kink_density", {"num_samples": 5}),
    ):
        with pytest.raises(InputError, match=f'definition="{definition}" takes no {[*options][-1]}'):
            rs.sensitivity.local_complexity(network, [[1.0, 1.0]], definition=definition, **options)
    with pytest.raises(InputError, match="needs a radius"):
        rs.sensitivity.local_complexity(network, [[1.0, 1.0]])
    with pytest.raises(InputError, match="budget"):  # blocks are not counted in regions
        kink_density(network, [[1.0, 1.0]], budget=rs.Budget(regions=3))


def test_ctrl_c_in_the_count_of_one_ball_ends_all(monkeypatch):
    """What answers it within says so; seen red: the count of the next ball began."""
    found, right = [], regions_in_balls.counted

    def counted(*asked):
        found.append(right(*asked))
        return Counted(found[-1].finding, INTERRUPTED if len(found) == 3 else None)

    monkeypatch.setattr(regions_in_balls, "counted", counted)
    net = rs.load([(np.eye(5), np.zeros(5)), (np.ones((1, 5)), np.zeros(1))])
    answer = rs.sensitivity.local_complexity(net, POINTS, 0.5)
    assert (len(found), answer.stop) == (3, INTERRUPTED)
