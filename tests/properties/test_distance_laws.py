"""What changes no distance to a decision boundary: domains outside, moves, scales and orders; and what bounds it."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs

NORMS = ("l1", "l2", "linf")


def tent(width):
    """Class 1 on (1/3 - width / 2, 1/3 + width / 2) alone."""
    kinks = np.array([-(1 / 3 - width), -1 / 3, -(1 / 3 + width)])
    return [(np.ones((3, 1)), kinks), (np.array([[1.0, -2.0, 1.0]]) / width, np.array([-0.5]))]


def tie_of(parameters):
    """Return where the first of two ramps of a tent crosses 0, in fractions."""
    (_, kinks), (slopes, offset) = parameters
    return -Fraction(kinks[0]) - Fraction(offset[0]) / Fraction(slopes[0, 0])


def distances(parameters, x, norm, domain=None):
    """Return a column, and what it says beside its ends."""
    net = rs.load(parameters)
    return rs.robustness.decision_distance(net, x, norm=norm, domain=domain)["decision_distance"]


def overlap(one, other, factor=1.0):
    """Whether cells of two columns may be one number, up to what an EXACT one may be off."""
    room = 2e-6 * np.where(np.isfinite(one.upper), one.upper, 0.0) * factor + 1e-9 * factor
    return (one.lower * factor <= other.upper + room).all() and (other.lower <= one.upper * factor + room).all()


@pytest.mark.few(4)
@pytest.mark.parametrize("width", [1e-3, 3e-8, 1e-10, 1e-12])
@pytest.mark.parametrize("half", [None, 1.0, 1e8])
def test_tents_are_found_however_narrow_and_in_whatever_domain(width, half):
    parameters = tent(width)
    domain = None if half is None else rs.Box(-half, half, 1)
    found = distances(parameters, [[0.3]], "l2", domain)
    truth = float(tie_of(parameters) - Fraction(0.3))
    assert found.lower[0] <= truth * (1 + 1e-6)
    assert found.upper[0] >= truth * (1 - 1e-6)
    if found.is_exact[0]:
        assert found.value[0] == pytest.approx(truth, rel=1e-6, abs=3e-10)


@pytest.mark.few(2)
@pytest.mark.parametrize("dim", [1, 2, 4, 6])
@pytest.mark.parametrize("thin", [1e-7, 1e-9, 1e-12])
def test_a_class_beyond_a_sliver_is_found(dim, thin):
    first = np.zeros((1, dim))
    first[0, 0] = 1.0
    parameters = [(first, np.zeros(1)), (np.eye(1), np.array([-thin]))]
    for norm in NORMS:
        for domain in (None, rs.Box(-1, 1, dim)):
            found = distances(parameters, [[0.5] * dim], norm, domain)
            assert found.lower[0] <= 0.5 - thin + 1e-9 <= found.upper[0] + 2e-9
            assert np.isfinite(found.upper[0])


@pytest.mark.parametrize(("size", "tiny"), [(1.0, 1e-17), (1e8, 1e-9), (1e8, 1e-7)])
def test_slopes_below_rounding_count(size, tiny):
    """Two copies of clip(x, 0, 1) - clip(-x, 0, 1): y_0 - y_1 = tiny (x - 0.3)."""
    first = (np.array([[1.0], [-1.0], [1.0], [-1.0]]), np.zeros(4))
    last = (np.array([[size, -size, tiny, -tiny], [size, -size, 0.0, 0.0]]), np.array([0.0, 0.3 * tiny]))
    found = distances([first, last], [[-0.25]], "l2", rs.Box(-0.9, 0.9, 1))
    assert found.lower[0] <= 0.55 * (1 + 1e-6)
    assert found.upper[0] >= 0.55 * (1 - 1e-6)
    certified = rs.robustness.certified_radius(rs.load([first, last]), [[-0.25]], norm="l2")["decision_distance"]
    assert certified.lower[0] <= 0.55


@pytest.mark.parametrize(("size", "tiny"), [(1.0, 1e-17), (1e8, 1e-9), (1e8, 1e-7)])
def test_slopes_below_rounding_count_within_a_region(size, tiny):
    first = (np.array([[1.0], [1.0]]), np.full(2, 8.0))
    last = (np.array([[size, tiny], [size, 0.0]]), np.array([0.0, 8.5 * tiny]))
    net = rs.load([first, last])
    found = rs.robustness.decision_distance_within(net, [[0.25]], norm="l2")["decision_distance_within"]
    assert found.lower[0] <= 0.25 * (1 + 1e-6)
    assert found.upper[0] >= 0.25 * (1 - 1e-6)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 999), st.sampled_from(NORMS), st.integers(-27, 40))
def test_what_changes_no_distance(seed, norm, exponent):
    rng = np.random.default_rng(seed)
    parameters = rs.testing.default_network([2, 5, 3], seed=seed)
    (first, bias), (last, offset) = ((np.asarray(part, dtype=float) for part in layer) for layer in parameters)
    x = rng.uniform(-1, 1, (2, 2))
    plain = distances([(first, bias), (last, offset)], x, norm)
    for half in (1e2, 1e8, 1e12):
        near = plain.upper < half - 1
        assert overlap(plain[near], distances([(first, bias), (last, offset)], x, norm, rs.Box(-half, half, 2))[near])
    units, outputs, inputs = rng.permutation(5), rng.permutation(3), rng.permutation(2)
    turned = [(first[units][:, inputs], bias[units]), (last[outputs][:, units], offset[outputs])]
    assert overlap(plain, distances(turned, x[:, inputs], norm))
    scale = 2.0**exponent
    assert overlap(plain, distances([(first / scale, bias), (last, offset)], x * scale, norm), scale)
    net = rs.load(parameters)
    certified = rs.robustness.certified_radius(net, x, norm=norm)["decision_distance"]
    assert (certified.lower <= plain.upper * (1 + 1e-6) + 1e-9).all()
    assert overlap(plain[certified.is_exact], certified[certified.is_exact])
