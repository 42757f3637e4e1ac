"""What is exact about distances to decision boundaries where rounding decides, and what claims follow."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest

import reluscope as rs
from oracles.rational_steps import LEAKY, affine, fractions_of, network_of, rational_map, rational_values
from reluscope.analyses import radii
from reluscope.analyses.radii import (
    BoundaryDistances,
    FacetDistances,
    InscribedBalls,
    boundary_distances,
    data_box,
    facet_distances,
    inscribed_balls,
)
from reluscope.regions.nearest import NearestFacets


def facets_at(distances, errors=0.0, population=0):
    distances = np.array(distances, dtype=np.float64)
    errors = np.broadcast_to(np.array(errors, dtype=np.float64), distances.shape)
    sources = np.tile([0, 1, 0], (len(distances), 1))
    return FacetDistances(NearestFacets(distances, errors, sources), population or len(distances), "", 1.0)


def margin_in_the_open(seed, size, margin=1.0):
    """A network whose two outputs are what is left of sums of a size, and the exact distance to their tie."""
    generator = np.random.default_rng(seed)
    steps = [affine(generator.normal(size=(3, 2)), size * generator.uniform(1, 2, 3)), LEAKY]
    weight, point = generator.normal(size=(2, 3)), generator.normal(size=2)
    inner = rational_values(steps, point)[-1]
    heights = [float(sum(w * v for w, v in zip(fractions_of(row), inner, strict=True))) for row in weight]
    steps.append(affine(weight, [margin * generator.uniform(1, 2) - heights[0], -heights[1]]))
    return steps, point


def exact_distance(steps, point):
    first, second = rational_map(steps, point)
    ahead = [a - b for a, b in zip(first, second, strict=True)]
    margin = sum((w * v for w, v in zip(ahead, fractions_of(point), strict=False)), ahead[-1])
    square = margin**2 / sum(entry**2 for entry in ahead[:-1])
    return mpmath.sqrt(mpmath.mpf(square.numerator) / square.denominator)


@pytest.mark.parametrize("margin", [1.0, 1e-6])
def test_distances_to_the_decision_boundary_are_within_the_rounding_of_outputs(margin):
    """Near the boundary the outputs decide, and far from it the gradients do."""
    apart = 0
    with mpmath.workdps(60):
        for seed in range(20):
            steps, point = margin_in_the_open(seed, 1e8, margin)
            net = network_of(steps, 2)
            found = boundary_distances(net, point[None], facets_at([1e9]))
            away = abs(mpmath.mpf(found.lower[0]) - exact_distance(steps, point))
            assert found.is_exact[0]
            assert away <= found.tolerance
            apart += away > 1e-10
    assert apart > 5


def test_distances_where_gradients_cancel_are_within_their_rounding():
    """The margin's gradient is what is left of large entries, and with it the distance is rounded."""
    apart = 0
    with mpmath.workdps(60):
        for seed in range(20):
            generator = np.random.default_rng(seed)
            column, point = generator.normal(size=4), 1e-12 * generator.normal(size=2)
            steps = [affine(1e6 * generator.normal(size=(4, 2)), 1e-4 * generator.uniform(1, 2, 4)), LEAKY]
            steps += [affine(np.concatenate([np.eye(4), column[None]]), np.zeros(5)), LEAKY]
            left = [*(-column + 1e-8 * generator.normal(size=4)), 1.0]
            steps.append(affine([left, np.zeros(5)], [1e-7, 0.0]))
            net = network_of(steps, 2)
            facets = facets_at([1e9])  # far enough for the distance to be the answer
            found = boundary_distances(net, point[None], facets)
            away = abs(mpmath.mpf(found.lower[0]) - exact_distance(steps, point))
            assert away <= found.tolerance
            apart += away > 1e-12 * found.lower[0]
    assert apart > 3


def test_what_rounding_leaves_open_is_not_exact():
    """The hyperplane is 1 away and known to about 1e-7: facets nearer than that leave the answer open."""
    steps, point = margin_in_the_open(0, 1e8)
    net = network_of(steps, 2)
    distance = boundary_distances(net, point[None], facets_at([np.inf])).lower[0]
    error = boundary_distances(net, point[None], facets_at([np.inf])).tolerance
    assert 1e-9 < error < 1e-4

    def is_exact(reach, unsure=0.0):
        return bool(boundary_distances(net, point[None], facets_at([reach], unsure)).is_exact[0])

    assert is_exact(distance + 1.01 * error)
    assert not is_exact(distance + 0.99 * error)
    assert not is_exact(distance + 2 * error, 1.01 * error)
    assert is_exact(distance + 2 * error, 0.99 * error)
    near = boundary_distances(net, point[None], facets_at([0.5 * distance], 0.125))
    assert (near.lower[0], near.tolerance) == (0.5 * distance, 0.125)
    far = boundary_distances(net, point[None], facets_at([2 * distance], 0.125))
    assert (far.lower[0], far.tolerance) == (distance, 0.125)


def test_endless_distances_are_exact_and_add_no_rounding():
    """Outputs that differ by a constant tie nowhere."""
    net = network_of([affine(np.eye(2), [0.0, 0.0]), LEAKY, affine([[1.0, 1.0], [1.0, 1.0]], [1.0, 0.0])], 2)
    found = boundary_distances(net, [[1.0, 2.0], [3.0, 2.0]], facets_at([np.inf, 2.0], [0.0, 0.5]))
    assert found.lower.tolist() == [np.inf, 2.0]
    assert found.is_exact.tolist() == [True, False]
    assert found.tolerance == 0.5
    assert boundary_distances(net, [[1.0, 2.0]], facets_at([np.inf], [7.0])).tolerance == 0.0


def test_claims_and_tolerances():
    facets = facets_at([1.0, 3.0, 2.0], [0.1, 0.3, 0.2])
    assert (facets.tolerance, facets.finding(2).tolerance, facets.finding(2).value) == (0.3, 0.2, 2.0)
    assert (facets.finding(2).claim, facets.median().claim, facets.median().tolerance) == ("EXACT", "EXACT", 0.3)
    assert facets.gates.tolist() == [0, 0, 0]
    assert facets_at([1.0, 3.0], population=7).median().claim == "ESTIMATE"
    boundary = BoundaryDistances(np.array([1.0, 2.0]), np.array([True, False]), 0.25, 2, 1.0)
    assert (boundary.median().claim, boundary.median().tolerance) == ("EXACT", 0.25)
    assert (boundary.share().value, boundary.share().claim, boundary.share().tolerance) == (0.5, "EXACT", 0.0)
    assert replace(boundary, population=9).median().claim == "ESTIMATE"
    balls = InscribedBalls(
        np.arange(2), np.array([1.0, 4.0]), np.array([0.5, 0.25]), np.zeros(2), np.zeros(0, int), None, 2, "", 1.0
    )
    assert (balls.median().tolerance, balls.median().claim) == (0.5, "EXACT")
    assert [(balls.finding(k).value, balls.finding(k).tolerance, balls.finding(k).claim) for k in (0, 1)] == [
        (1.0, 0.5, "EXACT"),
        (4.0, 0.25, "EXACT"),
    ]
    assert replace(balls, population=5).median().claim == "ESTIMATE"


def test_populations_and_time():
    net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    points = [[3.0, -1.0], [2.0, 5.0]]
    assert facet_distances(net, points).population == 2
    assert facet_distances(net, points, population=50).median().claim == "ESTIMATE"
    assert inscribed_balls(net, points, domain=rs.Box(-4, 4, 2)).population == 2
    found = inscribed_balls(net, points, domain=rs.Box(-4, 6, 2), population=50)
    assert (found.population, found.stopped, found.offsets.tolist()) == (
        50,
        "",
        pytest.approx([np.hypot(1, 1), 0.0 + np.hypot(1, 2)], abs=9),
    )
    assert found.seconds >= 0
    assert boundary_distances(net, points, facet_distances(net, points)).seconds >= 0


def test_balls_that_the_first_method_does_not_prove_go_to_the_second(monkeypatch):
    """A radius that is not positive, or a gap too large, is asked for again; balls of every size are not."""
    net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    proper = radii.largest_balls

    for spoil in (lambda r, g: (-r, g), lambda r, g: (r, g + r), lambda r, g: (0 * r, g)):

        def wrong(bodies, start, spoil=spoil, **options):
            answers = proper(bodies, start, **options)
            radius, gap = spoil(answers.values, answers.gaps)
            return type(answers)(answers.points, radius, gap)

        monkeypatch.setattr(radii, "largest_balls", wrong)
        found = inscribed_balls(net, [[3.0, -1.0]], domain=rs.Box(-4, 4, 2))
        assert found.radii[0] == pytest.approx(2.0)
        assert found.gaps[0] < 1e-6
    monkeypatch.setattr(
        radii,
        "largest_balls",
        lambda bodies, start, **options: proper(bodies, start, **options)._replace(values=np.array([np.inf])),
    )
    assert inscribed_balls(net, [[3.0, -1.0]]).radii[0] == np.inf


def test_one_range_for_all_inputs_where_some_never_vary():
    assert data_box(np.array([[0.0, 5.0], [1.0, 7.0]])).describe() == rs.Box([0.0, 5.0], [1.0, 7.0]).describe()
    assert data_box(np.array([[0.0, 5.0], [0.0, 7.0]])).describe() == "box [0, 7]^2"
    assert data_box(np.full((3, 2), 4.0)) is None


def test_equal_outputs_have_no_distance():
    """Margins and slopes of zero: a quotient of nothing is no distance, and no warning either."""
    from reluscope.analyses.coefficients.margins import linear_margins

    two = linear_margins(network_of([affine([[1.0], [1.0]], [0.0, 0.0])], 1), [[2.0]])
    assert (two.distances.tolist(), two.margins.tolist(), two.classes.tolist()) == ([np.inf], [0.0], [0])
    one = linear_margins(network_of([affine([[0.0]], [0.0])], 1), [[2.0]])
    assert one.distances.tolist() == [np.inf]
    three = linear_margins(network_of([affine([[1.0], [1.0], [-1.0]], [0.0, 0.0, 0.0])], 1), [[2.0]])
    assert (three.rivals.tolist(), three.distances.tolist()) == ([2], [2.0])


def test_maps_are_read_in_blocks(monkeypatch):
    steps, point = margin_in_the_open(0, 1e3)
    net, points = network_of(steps, 2), point + np.random.default_rng(0).normal(size=(5, 2))
    whole = boundary_distances(net, points, facet_distances(net, points))
    monkeypatch.setattr(radii, "BUDGET", 1)
    found = boundary_distances(net, points, facet_distances(net, points))
    assert found.lower == pytest.approx(whole.lower)
    assert found.tolerance == pytest.approx(whole.tolerance)
    assert len(boundary_distances(net, points, facet_distances(net, points[:2])).lower) == 2


def test_samples_without_a_region_have_the_rows_they_came_in(monkeypatch):
    """Block after block: on the line x = 0 the tie rule holds both units at zero, which no point around it does."""
    monkeypatch.setattr(radii, "bodies_at_once", lambda network: 2)
    net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    found = inscribed_balls(net, [[2.0], [0.0], [1.0], [0.0], [0.0], [3.0]])
    assert found.without.tolist() == [1, 3, 4]
    assert found.rows.tolist() == [0, 2, 5]
