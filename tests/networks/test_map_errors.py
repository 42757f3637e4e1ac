"""Bounds on the rounding of maps at points: the formula, maps that are nothing but rounding, scales that decide."""

from fractions import Fraction

import numpy as np
import pytest

import reluscope as rs
from oracles.rational_steps import LEAKY, RELU, affine, network_of, rational_map
from reluscope.networks.graph.nodes import Affine
from reluscope.tolerance import Tolerance

HARDTANH = ("pointwise", [-1.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 1.0])
UNIT = 8.0 * 2.0**-52


def test_paths_through_the_pieces_in_use_are_summed_with_absolute_values():
    steps = [
        affine([[2.0, -3.0], [0.5, 0.0]], [-1.0, 4.0]),
        ("pointwise", [0.0, 2.0], [-2.0, 0.5, 0.25], [0.0, 0.0, 0.5]),
        affine([[1.0, -1.0], [7.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0.0, 0.0, -5.0, 0.0]),
        ("max", 2),
        affine([[1.0, 2.0]], [-3.0]),
    ]
    net, point = network_of(steps, 2), [1.0, 1.0]
    # Units are at -2 and 4.5, behind the gate at 4 and 1.625; the candidates 28 and 5.625 win.
    slopes = np.array([2.0, 0.25])
    first, bias = np.array([5.0, 0.5]), np.array([1.0, 4.0])
    weight = np.array([[7.0, 0.0], [1.0, 1.0]])
    sizes = [slopes * first, slopes * bias + [0.0, 0.5]]
    at, totals = net.at(point, tolerance=Tolerance(rounding=8.0)), [(weight @ size) @ [1.0, 2.0] for size in sizes]
    # Sums of the three layers and products with the slopes -2 and 0.25 are rounded, entries that move are not.
    assert at.map_errors[0, 0] == pytest.approx(4 * UNIT * totals[0], rel=1e-9, abs=0)
    least, most = 4 * UNIT * totals[1] - 2 * UNIT, 4 * UNIT * (totals[1] + 3)
    assert least < at.constant_errors[0, 0] < most
    assert sum(isinstance(node, Affine) and node.rounds for node in net.nodes) == 3


@pytest.mark.parametrize("kink", [LEAKY, RELU, HARDTANH])
def test_maps_are_within_them(kink):
    apart = 0
    for seed in range(15):
        generator = np.random.default_rng(seed)
        first = affine(1e5 * generator.normal(size=(6, 4)), 1e5 * generator.normal(size=6))
        weight = generator.normal(size=(4, 6))
        steps = [first, kink, affine(weight, np.zeros(4)), kink, affine(np.array([[1.0, -1.0, 0.5, -0.5]]), [0.3])]
        net, point = network_of(steps, 4), generator.normal(size=4)
        at, exact = net.at(point), rational_map(steps, point)[0]
        computed = [Fraction(float(entry)) for entry in at.maps.weight[0, 0]]
        wrong = sum(abs(a - b) for a, b in zip(computed, exact[:-1], strict=True))
        assert wrong <= Fraction(at.map_errors[0, 0])
        of_constant = abs(Fraction(float(at.maps.bias[0, 0])) - exact[-1])
        assert of_constant <= Fraction(at.constant_errors[0, 0])
        apart += wrong > 0
    assert apart > 5 or kink is HARDTANH


def cancelling(scale, seed, num_inputs=3):
    """Return steps whose last layer leaves nothing but rounding of large gradients, and a point."""
    generator = np.random.default_rng(seed)
    first = affine(scale * generator.normal(size=(6, num_inputs)), scale * generator.normal(size=6))
    column = generator.normal(size=6)
    steps = [first, LEAKY, affine(np.concatenate([np.eye(6), column[None]]), np.zeros(7)), LEAKY]
    # A unit that is inactive has the slope 0.01 behind both gates: the last weights fit those that are active.
    values = np.array([float(entry) for entry in generator.normal(size=num_inputs)])
    return [*steps, affine([[*(-column), 1.0]], [0.0])], values


@pytest.mark.parametrize("scale", [1.0, 1e9])
def test_saliency_and_norms_are_within_errors_of_the_scale_of_the_network(scale):
    """At a large scale what is wrong would be far beyond a bound for numbers around one, which the test asks for."""
    beyond_small = 0
    for seed in range(8):
        steps, point = cancelling(scale, seed)
        net, exact = network_of(steps, 3), rational_map(steps, point)[0]
        found = rs.sensitivity.saliency(net, point)
        wrong = [abs(Fraction(float(a)) - b) for a, b in zip(found.gradients[0], exact[:-1], strict=True)]
        assert sum(wrong) <= Fraction(found.gradient_errors[0])
        assert abs(Fraction(found.constants[0]) - exact[-1]) <= Fraction(found.constant_errors[0])
        shares = found.constant_share(0)
        sizes = [abs(weight * Fraction(float(x))) for weight, x in zip(exact[:-1], point, strict=True)]
        low, high = shares.interval or (shares.value - (shares.tolerance or 0), shares.value + (shares.tolerance or 0))
        assert Fraction(low) <= abs(exact[-1]) / (abs(exact[-1]) + sum(sizes)) <= Fraction(high)
        norms = rs.coefficients.local_norms(net, point)
        square = sum(entry**2 for entry in exact[:-1])
        for name in ("spectral_norm", "frobenius_norm"):
            low, high = norms[name].lower[0], norms[name].upper[0]
            assert Fraction(low) ** 2 <= square <= Fraction(high) ** 2
        jacobian = rs.coefficients.local_norms(net, point, of="probabilities")["logit_jacobian_norm"]
        assert Fraction(jacobian.lower[0]) ** 2 <= square <= Fraction(jacobian.upper[0]) ** 2
        beyond_small += sum(wrong) > Fraction(1e-12)
    assert (beyond_small > 4) == (scale > 1)


def test_constants_do_not_blur_weights():
    """Constants of a thousand millions have their own errors: weights are as certain as without them."""
    layers = [(np.eye(2), np.full(2, 1e9)), (np.array([[3.0, 4.0]]), np.zeros(1))]
    at = rs.load(layers).at([1.0, 2.0])
    assert at.map_errors[0, 0] < 1e-13 < at.constant_errors[0, 0]
    net = rs.load(layers)
    assert rs.sensitivity.active_subspaces(net, [[1.0, 2.0]]).errors[0] < 1e-11
    assert rs.sensitivity.saliency(net, [1.0, 2.0]).gradient_errors[0] < 1e-13


def test_norms_of_points_whose_codes_are_in_doubt_are_not_known():
    net = rs.load([(np.array([[0.1, 0.3]]), np.zeros(1)), (np.ones((1, 1)), np.zeros(1))])
    found = rs.coefficients.local_norms(net, [[3.0, -1.0], [1.0, 1.0], [2.0, 1.0]], margins=True)
    assert {tuple(found[name].claims) for name in found} == {("ESTIMATE", "EXACT", "EXACT")}
    number = found.finding("num_different_maps")
    assert (number.value, number.claim, number.interval) == (1, "LOWER", (1, 2))
    alone = rs.coefficients.local_norms(net, [[3.0, -1.0]]).finding("num_different_maps")
    assert (alone.value, alone.claim) == (1, "EXACT")
