"""What an early stage rounded is still there when later values are small: distances against fractions."""

from fractions import Fraction

import numpy as np
import pytest

import reluscope as rs
from oracles.rational_steps import RELU, affine, fractions_of, network_of, rational_map
from reluscope.geometry.numbers.norms import Norm
from reluscope.regions.nearest_facets import nearest_facets
from reluscope.regions.region_of_code import region_of_code

NORMS = ("l1", "linf")


def cancelling(seed, offset=1e8):
    """Two large units whose difference is small, and a third stage that sees nothing but that difference."""
    a, b, c = np.random.default_rng(seed).uniform(0.1, 1.0, (3, 2))
    first = affine([a, b], [offset, offset])
    second = affine([[1.0, -1.0], [0.0, 0.0]], [1.0 + c[0], 3.0])
    return [first, RELU, second, RELU, affine([[1.0, -0.1]], [-1.0]), RELU, affine([[1.0]], [0.0])]


def exact_distance(row, point, norm):
    """Return the distance from a point to where a pre-activation is zero, in fractions."""
    lengths = {"l1": max, "linf": sum}[norm]([abs(entry) for entry in row[:-1]])
    return abs(value_at(row, point)) / lengths


def value_at(row, point):
    return sum((w * v for w, v in zip(row, fractions_of(point), strict=False)), row[-1])


@pytest.mark.few(1)
@pytest.mark.parametrize("norm", NORMS)
def test_distances_to_facets_are_within_their_errors(norm):
    apart = 0
    for seed in range(30):
        steps, point = cancelling(seed), np.random.default_rng(seed + 500).normal(size=2)
        exact = min(exact_distance(rational_map(steps[: 2 * gate + 1], point)[0], point, norm) for gate in range(3))
        net = network_of(steps, 2)
        found = nearest_facets(net.at(point[None]), norm=Norm(norm))
        away = abs(Fraction(found.distances[0]) - exact)
        assert away <= Fraction(found.errors[0])
        apart += away > 1e-10
        column = rs.robustness.boundary_distance(net, point[None], norm=norm)["boundary_distance"]
        assert Fraction(column.lower[0]) <= exact <= Fraction(column.upper[0])
    assert apart > 5  # rounding there is millions of times that of the last stage


def test_slacks_and_outputs_of_held_regions_are_within_their_errors():
    for seed in range(30):
        steps, point = cancelling(seed), np.random.default_rng(seed + 500).normal(size=2)
        net = network_of(steps, 2)
        held = region_of_code(net, point, [piece.to_array()[0] for piece in net.codes(point).by_gate().values()])
        for row, slack, noise in zip(held.sources, held.slack, held.noise, strict=True):
            exact = rational_map(steps[: 2 * int(row[0]) + 1], point)[int(row[1])]
            length = np.sqrt(float(exact[0] ** 2 + exact[1] ** 2))
            assert abs(abs(float(value_at(exact, point))) / length - abs(slack)) <= noise
        exact = value_at(rational_map(steps, point)[0], point)
        assert abs(Fraction(held.outputs[0]) - exact) <= Fraction(held.errors[0])


def test_a_point_on_a_kink_as_far_as_early_rounding_can_tell_is_at_distance_zero():
    """In float64 the last unit is off its kink by what the first stage rounded away."""
    for seed in range(10):
        a = np.random.default_rng(seed).uniform(0.1, 1.0, 2)
        x = np.random.default_rng(seed + 99).uniform(0.1, 1.0, 2)
        first = affine([a, a[::-1]], [1e8, 1e8])
        small = float((a * x).sum() - (a[::-1] * x).sum())
        steps = [
            first,
            RELU,
            affine([[1.0, -1.0]], [4.0]),
            RELU,
            affine([[1.0]], [-4.0 - small]),
            RELU,
            affine([[1.0]], [0.0]),
        ]
        found = nearest_facets(network_of(steps, 2).at(x[None]))
        assert found.is_on_boundary[0]


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_errors_do_not_depend_on_the_blocks_of_inputs(norm):
    steps, point = cancelling(3), np.random.default_rng(503).normal(size=2)
    steps[0] = affine(steps[0][1] * np.array([1.0, 1e-6]), steps[0][2])  # the last input matters least
    net = network_of(steps, 2)
    whole, parts = (nearest_facets(net.at(point[None]), norm=Norm(norm), memory=budget) for budget in (2**28, 1))
    assert parts.distances == pytest.approx(whole.distances, rel=1e-12)
    assert parts.errors == pytest.approx(whole.errors, rel=1e-9, abs=0)
    assert parts.sources.tolist() == whole.sources.tolist()


def test_largest_entries_of_gradients_are_those_of_all_blocks():
    from reluscope.regions.nearest_facets import _lengths

    steps = cancelling(3)
    steps[0] = affine(steps[0][1] * np.array([1.0, 1e-6]), steps[0][2])
    net = network_of(steps, 2)
    points = net.points(np.random.default_rng(503).normal(size=(4, 2)))
    for norm in ("l1", "l2", "linf"):
        whole, parts = (_lengths(net.at(points), Norm(norm), block) for block in (2, 1))
        for first, second in zip(whole, parts, strict=True):
            for one, other in zip(first, second, strict=True):
                assert other == pytest.approx(one, rel=1e-12)
    assert (whole[1][0] > 1e-3).all()
