"""Distances to facets whose slopes rounding hides, against the same distances in fractions."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
import torch

import reluscope as rs
from oracles.rational_steps import RELU, affine, fractions_of, network_of, rational_map, rational_values
from reluscope.networks.building.builder import GraphBuilder
from reluscope.networks.fractions.rational import PulledBack
from reluscope.regions import exact_facets
from reluscope.regions.nearest_facets import nearest_facets

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


def distances_are_between(facet, slopes, slack, norm):
    """Hold the ends of a distance against the slack in fractions, in units of the slopes."""
    weights = [Fraction(1) if norm.weights is None else Fraction(weight) for weight in norm.weights or slopes]
    scaled = [abs(slope) / weight for slope, weight in zip(slopes, weights, strict=True)]
    power = 2 if norm.name == "l2" else 1
    size = {"l1": max, "l2": lambda parts: sum(part**2 for part in parts), "linf": sum}[norm.name](scaled)
    is_above = facet.lower <= 0 or Fraction(facet.lower) ** power * size <= slack**power
    return is_above and (facet.upper == np.inf or slack**power <= Fraction(facet.upper) ** power * size)


@pytest.mark.parametrize("weights", [None, (1.0, 1.0), (1e90, 1e100), (1e-100, 1e-90), (0.25, 1e50)])
@pytest.mark.parametrize("name", NORMS)
def test_distances_of_all_sizes_are_between_their_ends(name, weights):
    """From below the smallest float, where a third of it is lost, to beyond the largest one."""
    norm, rng = rs.Norm(name, weights), np.random.default_rng(0)
    exact = exact_facets.ExactFacets(rs.load([(np.ones((1, 2)), np.zeros(1))]), norm)
    for _ in range(400):
        slopes = [Fraction(int(one)) for one in rng.integers(-9, 10, 2)]
        if not any(slopes):
            continue
        scale = Fraction(2) ** int(rng.choice([-1074, -1073, -1060, -500, -1, 0, 1, 800, 1023, 1024]))
        slack = Fraction(int(rng.integers(0, 50)), int(rng.integers(1, 50))) * scale
        facet, _ = exact._facet(PulledBack({k: one for k, one in enumerate(slopes) if one}, slack, 1), np.zeros(2))
        assert distances_are_between(facet, slopes, slack, norm)
        assert slack or facet.lower == facet.upper == 0
        if 2.0**-600 < facet.distance < 2.0**700:
            assert facet.upper <= facet.lower * (1 + 2.0**-48)


def test_the_rounding_of_a_distance_has_a_part_for_every_input(monkeypatch):
    monkeypatch.setattr(exact_facets, "EPSILON", 2.0**-10)
    exact = exact_facets.ExactFacets(rs.load([(np.ones((1, 7)), np.zeros(1))]), rs.Norm("linf"))
    facet, _ = exact._facet(PulledBack({0: Fraction(1), 3: Fraction(-1)}, Fraction(3), 1), np.zeros(7))
    assert (facet.lower, facet.upper) == (1.5 * (1 - 11 * 2.0**-10), 1.5 * (1 + 11 * 2.0**-10))


def test_points_beyond_a_facet_have_crossed_it_and_constants_have_none():
    exact = exact_facets.ExactFacets(rs.load([(np.ones((1, 2)), np.zeros(1))]), rs.Norm("l2"))
    point = np.array([2.0, 2.0**-60])
    nearly = PulledBack({0: Fraction(1), 1: Fraction(1)}, -2 - Fraction(1, 2**61), 7)
    facet, cost = exact._facet(nearly, point)
    assert (facet.is_crossed, cost) == (False, 7)
    assert facet.distance == pytest.approx(2.0**-61.5, rel=1e-12)
    touched = exact._facet(nearly._replace(constant=-2 - Fraction(1, 2**60)), point)[0]
    assert (touched.is_crossed, touched.lower, touched.upper) == (False, 0.0, 0.0)
    beyond, _ = exact._facet(PulledBack({0: Fraction(1)}, Fraction(-3), 7), point)
    assert beyond.is_crossed
    assert (beyond.lower, beyond.upper) == (0.0, np.inf)
    assert exact._facet(PulledBack({}, Fraction(0), 5), point) == (None, 5)
    assert exact._facet(PulledBack({}, Fraction(-1), 5), point)[0].is_crossed


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1.0, 1e200, 1e300])
@pytest.mark.parametrize("chosen", [0, 1])
def test_slopes_of_any_size_between_candidates_of_which_one_is_constant(size, chosen):
    """The larger of (3, 4) x size and of size, at 0: the sphere around it touches where they are equal, 1/5 away."""
    rows = np.array([[0.0, 0.0], [3.0, 4.0]] if chosen == 0 else [[3.0, 4.0], [0.0, 0.0]]) * size
    builder = GraphBuilder()
    pair = builder.linear(builder.input((2,)), rows, np.array([size, 0.0] if chosen == 0 else [size, 2 * size]))
    net = builder.build(builder.maxout(pair, 0, 2))
    found = column(net, [[0.0, 0.0]], "l2")
    assert found.is_exact[0]
    assert found.value[0] == pytest.approx(1 / 5)


def test_errors_of_distances_are_rounding_alone():
    net = rs.load([(np.array([[3.0, 4.0], [0.0, 1.0]]), np.array([5.0, 9.0])), (np.ones((1, 2)), [0.0])])
    found = nearest_facets(net.at(np.array([[0.0, 0.0], [1.0, 1.0]])))
    assert found.distances == pytest.approx([1.0, 12 / 5])
    assert (found.errors > 0).all()
    assert (found.errors < 1e-13).all()
    assert (found.lower >= found.distances - 1e-13).all()


@pytest.mark.parametrize("limit", [0, 1_000_000])
def test_hidden_rows_far_away_do_not_hide_near_ones(limit, monkeypatch):
    """A constant of 1e10 whose slopes cancel, and a kink 1/4 away; in the gate before it and in the same gate."""
    monkeypatch.setattr(exact_facets, "MULTIPLICATIONS", limit)
    first = np.array([[1e8, 0.1], [1e8, 0.1], [1.0, 0.0]]), np.array([1e9, 1e9, 0.25])
    before = rs.load([first, (np.array([[1.0, -1.0, 0.0]]), [1e10]), (np.ones((1, 1)), [0.0])])
    second = np.array([[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]]), np.array([1e10, -8.0])
    beside = rs.load([(first[0], first[1] + [0, 0, 8.0]), second, (np.ones((1, 2)), [0.0])])
    for net in (before, beside):
        found = nearest_facets(net.at(np.zeros((1, 2))))
        assert found.distances == pytest.approx([0.25])
        assert 0.25 - 1e-6 < found.lower[0] <= 0.25
        assert found.distances[0] + found.errors[0] >= 0.25


def mixed_gates():
    """Return a network of units of three pieces, of maxima that overlap, and of ReLUs."""
    torch.manual_seed(0)
    pool = [torch.nn.Unflatten(1, (1, 6)), torch.nn.MaxPool1d(3, 1), torch.nn.Flatten()]
    parts = [torch.nn.Linear(2, 5), torch.nn.ReLU6(), torch.nn.Linear(5, 6), *pool, torch.nn.Linear(4, 4)]
    return rs.load(torch.nn.Sequential(*parts, torch.nn.ReLU(), torch.nn.Linear(4, 1)).double(), input_shape=(2,))


def nearest_of_rows(at, row, norm):
    """Return distance, lower and upper bound, and source of one point, row by row of its region."""
    best, lower = (np.inf, np.inf, [-1, -1, -1]), np.inf
    spread = {"l1": 1.0, "l2": np.sqrt(2), "linf": 2.0}[norm]
    for rows in at.half_spaces:
        for place in np.flatnonzero(rows.exists[row]).tolist():
            slack, noise, wrong = (
                rows.slack[row, place],
                rows.noise[row, place],
                spread * rows.constant_below[row, place],
            )
            length = np.linalg.norm(rows.normals[row, place], {"l1": np.inf, "l2": 2, "linf": 1}[norm])
            clear = max(slack - noise, 0.0)
            if length + wrong:
                lower = min(lower, clear / (length + wrong))
            elif slack and not clear:
                lower = 0.0  # of a constant that may be on either side
            if length > wrong and (slack if clear else 0.0) / length < best[0]:
                distance = (slack if clear else 0.0) / length
                best = distance, (abs(slack) + noise) / (length - wrong), rows.sources[row, place].tolist()
    return best[0], lower, best[1], best[2]


@pytest.mark.parametrize("memory", [1, 2**28])
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("rounding", [1.0, 2.0**42, 2.0**46, 2.0**48])
def test_nearest_facets_are_those_of_all_rows_one_by_one(norm, rounding, memory, monkeypatch):
    """With coarse rounding, so that it decides which rows are hidden, and how far the others are."""
    monkeypatch.setattr(exact_facets, "MULTIPLICATIONS", 0)
    net, points = mixed_gates(), np.random.default_rng(0).normal(size=(9, 2))
    at = net.at(points, tolerance=rs.Tolerance(rounding=rounding))
    found = nearest_facets(at, norm=rs.Norm(norm), memory=memory)
    for row in range(9):
        distance, lower, upper, source = nearest_of_rows(at, row, norm)
        assert found.distances[row] == pytest.approx(distance)
        assert found.lower[row] == pytest.approx(lower, rel=1e-9, abs=1e-15)
        assert found.distances[row] + found.errors[row] == pytest.approx(upper if np.isfinite(distance) else np.inf)
        if distance:
            assert found.sources[row].tolist() == source


def test_normals_in_fractions_are_those_of_their_points_in_every_block():
    steps = cancelling(1e8, 1e-9, 1, 2)
    net, points = network_of(steps, 2), np.random.default_rng(0).uniform(-0.1, 0.1, (7, 2))
    whole, parts = (nearest_facets(net.at(points), memory=memory) for memory in (2**28, 1))
    assert len(whole.normals) > 1
    assert whole.normals.keys() == parts.normals.keys()
    for row, normal in whole.normals.items():
        assert parts.normals[row] == pytest.approx(normal)
        assert whole.distances[row] == pytest.approx(parts.distances[row])
