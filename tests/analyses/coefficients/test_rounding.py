"""The bound on rounding of local maps: its formula, and maps that are nothing but rounding, against fractions."""

from fractions import Fraction

import numpy as np
import pytest

from oracles.rational_steps import LEAKY, RELU, affine, network_of, rational_map
from reluscope.analyses.coefficients.rounding import map_rounding
from reluscope.networks.graph import Affine
from reluscope.tolerance import Tolerance

HARDTANH = ("pointwise", [-1.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 1.0])


def test_paths_are_summed_with_absolute_values_and_steepest_pieces():
    steps = [
        affine([[2.0, -3.0], [0.5, 0.0]], [-1.0, 4.0]),
        ("pointwise", [0.0, 2.0], [-2.0, 0.5, 0.0], [0.0, 0.0, 1.0]),
        affine([[1.0, -1.0], [7.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0.0, 0.0, -5.0, 0.0]),
        ("max", 2),
        affine([[1.0, 2.0]], [-3.0]),
    ]
    first = np.array([6.0, 4.5])
    second = 2 * first + 1
    third = np.array([max(second.sum(), 7 * second[0]), max(second[1] + 5, second.sum())])
    total = third @ [1.0, 2.0] + 3
    net = network_of(steps, 2)
    number = sum(isinstance(node, Affine) for node in net.nodes[1:])  # sums, and what only moves entries
    found = map_rounding(net, Tolerance(rounding=8.0))
    assert found == pytest.approx(8.0 * 2.0**-52 * (number + 1) * total, rel=1e-9, abs=0)


@pytest.mark.parametrize("kink", [LEAKY, RELU, HARDTANH])
def test_maps_are_within_it(kink):
    apart = 0
    for seed in range(15):
        generator = np.random.default_rng(seed)
        first = affine(1e5 * generator.normal(size=(6, 4)), 1e5 * generator.normal(size=6))
        weight = generator.normal(size=(4, 6))
        steps = [first, kink, affine(weight, np.zeros(4)), kink, affine(np.array([[1.0, -1.0, 0.5, -0.5]]), [0.3])]
        net, point = network_of(steps, 4), generator.normal(size=4)
        maps = net.linearize(point)
        computed = np.append(maps.weight.numpy()[0, 0], maps.bias.numpy()[0, 0])
        exact = rational_map(steps, point)[0]
        wrong = sum((Fraction(float(a)) - b) ** 2 for a, b in zip(computed, exact, strict=True))
        bound = map_rounding(net, Tolerance())
        assert wrong <= Fraction(bound) ** 2
        apart += wrong > 0
    assert apart > 5 or kink is HARDTANH
