"""Distances to facets whose slopes rounding hides, against the same distances in fractions."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

import reluscope as rs
from oracles.rational_steps import RELU, affine, fractions_of, network_of, rational_map, rational_values
from reluscope.networks.building.builder import GraphBuilder
from reluscope.regions import exact_facets

NORMS = ("l1", "l2", "linf")
SCALES = [(1.0, 1e-17), (1e8, 1e-9), (1e8, 1e-7), (1e-3, 1e-300)]


def column(net, x, norm, domain=None):
    return rs.robustness.boundary_distance(net, x, norm=norm, domain=domain)["boundary_distance"]


def exact_distance(steps, point, norm):
    """Return the least distance to a hyperplane of any unit, in fractions; in l2 from a root of 50 digits."""
    found = []
    for gate in range(sum(step == RELU for step in steps)):
        for *slopes, constant in rational_map(steps[: 2 * gate + 1], point):
            value = abs(sum((w * v for w, v in zip(slopes, fractions_of(point), strict=True)), constant))
            if not any(slopes):
                continue
            if norm == "l2":
                square = value**2 / sum(slope**2 for slope in slopes)
                found.append(root(square))
            else:
                found.append(value / {"l1": max, "linf": sum}[norm](map(abs, slopes)))
    return min(found)


def root(square):
    with localcontext(prec=50):
        return Fraction((Decimal(square.numerator) / Decimal(square.denominator)).sqrt())


def holds(cells, truth, row=0):
    """Whether a cell's ends hold a distance, and an EXACT one is it."""
    assert Fraction(cells.lower[row]) <= truth
    assert np.isinf(cells.upper[row]) or truth <= Fraction(cells.upper[row])
    if cells.is_exact[row]:
        assert cells.value[row] == pytest.approx(float(truth), rel=1e-6, abs=1e-9)
    return cells.is_exact[row]


def cancelling(size, tiny, seed, dim):
    """A second layer whose slopes are left of two units that cancel, and a third one that has them at size 1."""
    rng = np.random.default_rng(seed)
    ways = rng.uniform(0.2, 1.0, (2, dim))
    first = affine([ways[0], ways[0], ways[1]], [8.0, 8.0, 8.0])
    second = affine([[size, -size, tiny], [0.0, 0.0, 1.0]], [-tiny * rng.uniform(8.1, 8.3), 3.0])
    return [first, RELU, second, RELU, affine([[1.0, 0.1]], [-30.0]), RELU, affine([[1.0]], [0.0])]


def sees_true_pieces(net, steps, points):
    """Whether float64 has the pieces at some points that fractions have; where sums cancel, their order decides."""
    found = []
    for point in points:
        values = rational_values(steps, point)
        before = (value for value, step in zip(values, steps[1:], strict=False) if step == RELU)
        found.append([int(entry > 0) for value in before for entry in value])
    return net.codes(points).to_array().tolist() == found


@pytest.mark.few(2)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(("size", "tiny"), SCALES)
def test_facets_below_rounding_are_found(size, tiny, norm):
    for seed, dim in ((0, 1), (1, 2), (2, 3)):
        steps, point = cancelling(size, tiny, seed, dim), np.zeros(dim)
        truth, net = exact_distance(steps, point, norm), network_of(steps, dim)
        assert truth < 2
        is_seen = sees_true_pieces(net, steps, point[None])
        for domain in (None, rs.Box(-9, 9, dim)):
            assert holds(column(net, point[None], norm, domain), truth) or not is_seen
        assert holds(column(net, point[None], norm, rs.Box(-0.01, 9, dim)), Fraction(0.01)) or not is_seen
        if not is_seen:
            continue
        found = rs.robustness.boundary_distance(net, point[None], norm=norm)
        assert found.details["sources"].tolist() == [[1, 0, 1]]
        touched = found.details["points"][0]
        assert exact_distance(steps, touched, norm) < 1e-9


def test_values_lost_in_rounding_leave_the_distance_open():
    """The third gate's value is known up to 1e135."""
    steps = cancelling(1e150, 1e-150, 1, 2)
    for norm in NORMS:
        found = column(network_of(steps, 2), [[0.0, 0.0]], norm)
        assert not holds(found, exact_distance(steps, np.zeros(2), norm))


@pytest.mark.parametrize("norm", NORMS)
def test_without_fractions_what_rounding_hides_widens_the_interval(norm, monkeypatch):
    monkeypatch.setattr(exact_facets, "MULTIPLICATIONS", 0)
    for size, tiny in SCALES[:3]:
        steps = cancelling(size, tiny, 1, 2)
        net = network_of(steps, 2)
        assert not holds(column(net, [[0.0, 0.0]], norm), exact_distance(steps, np.zeros(2), norm))
        assert rs.robustness.certified_radius(net, [[0.0, 0.0]], norm=norm)["decision_distance"].lower[0] < 1


def test_a_point_has_the_same_distance_alone_and_among_others():
    steps = cancelling(1e8, 1e-9, 1, 2)
    net = network_of(steps, 2)
    points = np.random.default_rng(0).uniform(-0.1, 0.1, (7, 2))
    together = rs.robustness.boundary_distance(net, points, norm="l2")
    for row, point in enumerate(points):
        if not (sees_true_pieces(net, steps, points) and sees_true_pieces(net, steps, point[None])):
            continue
        alone = rs.robustness.boundary_distance(net, point[None], norm="l2")
        for end in ("value", "lower", "upper"):
            assert getattr(together["boundary_distance"], end)[row] == pytest.approx(
                getattr(alone["boundary_distance"], end)[0], rel=1e-12
            )
        assert together.details["points"][row] == pytest.approx(alone.details["points"][0], rel=1e-9)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-160, 1e160, 1e200, 1e300])
def test_one_slope_of_any_size(size, norm):
    net = rs.load([(np.array([[3.0, 4.0], [0.0, 0.0]]) * size, np.array([-size, 1.0])), (np.ones((1, 2)), [0.0])])
    assert column(net, [[0.0, 0.0]], norm).is_exact[0]
    truth = {"l1": 1 / 4, "l2": 1 / 5, "linf": 1 / 7}[norm]
    assert column(net, [[0.0, 0.0]], norm).value[0] == pytest.approx(truth)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("size", [1e-200, 1e-165, 1e-155])
def test_products_below_the_smallest_number(size, norm):
    """``size (h_0 - h_1) = size^2 (x - 0.5)``, which is 0 in float64."""
    first = affine([[size], [0.0], [1.0]], [9 * size, 9.5 * size, 9.0])
    steps = [first, RELU, affine([[size, -size, 0.0], [0.0, 0.0, 1.0]], [0.0, 0.0]), RELU, affine([[1.0, 1.0]], [0.0])]
    net = network_of(steps, 1)
    assert holds(column(net, [[0.25]], norm), exact_distance(steps, [0.25], norm))
    assert column(net, [[0.25]], norm).value[0] == pytest.approx(0.25)
    # Right of the kink the piece itself is lost in float64.
    holds(column(net, [[0.75]], norm), exact_distance(steps, [0.75], norm))
    net = rs.load([(np.array([[size]]), [0.0]), (np.array([[size]]), [0.0]), (np.array([[1.0]]), [0.0])])
    assert column(net, [[1.0]], norm).lower[0] <= 1


@pytest.mark.parametrize("norm", NORMS)
def test_candidates_that_differ_by_less_than_rounding(norm):
    builder = GraphBuilder()
    x = builder.input((1,))
    inner = builder.relu(builder.linear(x, np.array([[1.0], [1.0], [1.0]]), np.full(3, 8.0)))
    pair = builder.linear(inner, np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1e-17]]), np.array([8.5e-17, 0.0]))
    net = builder.build(builder.maxout(pair, 0, 2))
    truth = (Fraction(8.5e-17) / Fraction(1e-17)) - 8
    holds(column(net, [[0.25]], norm), truth - Fraction(1, 4))
    assert column(net, [[0.25]], norm).lower[0] <= 0.25


def test_units_that_cancel_entirely_have_no_facet():
    net = rs.load([(np.ones((2, 1)), np.full(2, 8.0)), (np.array([[0.1, -0.1]]), [1.0]), (np.ones((1, 1)), [0.0])])
    found = column(net, [[0.0]], "l2")
    assert (found.value[0], found.claims[0]) == (8.0, "EXACT")
