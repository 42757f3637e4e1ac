"""Certified radii against points on circles, and against fractions where rounding decides."""

from dataclasses import replace
from fractions import Fraction
from inspect import unwrap
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import reluscope as rs
from networks.models import layers
from oracles.rational_steps import LEAKY, affine, fractions_of, network_of, rational_map, rational_values
from reluscope.analyses.robustness import certified_radii as certified
from reluscope.analyses.robustness.distance_quantities import BOUNDARY_DISTANCE, DECISION_DISTANCE
from reluscope.findings import Status
from reluscope.geometry.numbers.norms import Norm
from reluscope.networks import point_evaluation
from reluscope.regions.nearest_facets import nearest_facets

NORMS = ("l1", "l2", "linf")


def radii(net, points, norm="l2"):
    return rs.robustness.certified_radius(net, points, norm=norm)[DECISION_DISTANCE]


@pytest.fixture
def facets_at(monkeypatch):
    """Say where the facets are."""

    def set_to(distances, errors=0.0):
        distances = np.array(distances, dtype=np.float64)
        sources = np.tile([-1, -1, -1], (len(distances), 1))
        errors = np.broadcast_to(np.array(errors, dtype=np.float64), distances.shape)
        proper = nearest_facets  # which knows the rounding of gradients
        monkeypatch.setattr(
            certified,
            "nearest_facets",
            lambda *given, **named: replace(
                proper(*given, **named), distances=distances, errors=errors, lower=distances - errors, sources=sources
            ),
        )

    return set_to


def margin_in_the_open(seed, size, margin=1.0):
    """A network whose two outputs are what is left of sums of a size, and the exact distance to their tie."""
    generator = np.random.default_rng(seed)
    steps = [affine(generator.normal(size=(3, 2)), size * generator.uniform(1, 2, 3)), LEAKY]
    weight, point = generator.normal(size=(2, 3)), generator.normal(size=2)
    inner = rational_values(steps, point)[-1]
    heights = [float(sum(w * v for w, v in zip(fractions_of(row), inner, strict=True))) for row in weight]
    steps.append(affine(weight, [margin * generator.uniform(1, 2) - heights[0], -heights[1]]))
    return steps, point


def exact_distance(steps, point, norm):
    """Return the distance to the tie, in fractions; in l2 its square."""
    first, second = rational_map(steps, point)
    ahead = [a - b for a, b in zip(first, second, strict=True)]
    margin = sum((w * v for w, v in zip(ahead, fractions_of(point), strict=False)), ahead[-1])
    entries = [abs(entry) for entry in ahead[:-1]]
    if norm == "l2":
        return margin**2 / sum(entry**2 for entry in entries)
    return abs(margin) / {"l1": max, "linf": sum}[norm](entries)


def is_between(column, steps, point, norm):
    power = 2 if norm == "l2" else 1
    low, high = (Fraction(float(end[0])) ** power for end in (column.lower, column.upper))
    return low <= exact_distance(steps, point, norm) <= high


@pytest.mark.parametrize("norm", NORMS)
def test_exact_distances_to_the_decision_boundary_against_a_search(norm):
    net = rs.load(layers([2, 8, 3], seed=5))
    points = np.random.default_rng(2).normal(size=(40, 2))
    found = radii(net, points, norm)
    assert 0 < found.is_exact.sum() < 40
    assert set(found.claims) == {"EXACT", "LOWER"}
    angles = np.linspace(0, 2 * np.pi, 721)
    circle = np.c_[np.cos(angles), np.sin(angles)]
    circle /= Norm(norm).size(circle)[:, None]
    corners = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]
    circle = np.concatenate([circle, np.array(corners) / Norm(norm).size(np.array(corners))[:, None]])
    for point, lower, exact in zip(points, found.lower, found.is_exact, strict=True):
        own = int(net(point).argmax())
        inside = point + lower * 0.9999 * np.concatenate([circle, 0.5 * circle])
        assert (net(inside).argmax(1).numpy() == own).all()
        if exact:
            around = net(point + lower * (1 + 1e-3) * circle).argmax(1).numpy()
            assert (around != own).any()


@pytest.mark.few(1)
@pytest.mark.parametrize("norm", NORMS)
def test_they_are_the_least_of_facets_and_of_what_the_region_says(norm):
    net = rs.load(layers([4, 9, 6, 3], seed=1))
    points = np.random.default_rng(0).normal(size=(20, 4))
    found = rs.robustness.certified_radius(net, points, norm=norm)
    facets = rs.robustness.boundary_distance(net, points, norm=norm)
    within = rs.robustness.decision_distance_within(net, points, norm=norm)["decision_distance_within"].value
    assert np.allclose(found[BOUNDARY_DISTANCE].value, facets[BOUNDARY_DISTANCE].value, rtol=1e-12)
    assert np.array_equal(found.details["sources"], facets.details["sources"])
    assert np.allclose(found[DECISION_DISTANCE].value, np.minimum(facets[BOUNDARY_DISTANCE].value, within), rtol=1e-9)


def test_medians_say_which_samples_they_are_of():
    net, points = rs.load(layers([3, 10, 6, 4], seed=2)), np.random.default_rng(0).normal(size=(12, 3))
    found = rs.robustness.certified_radius(net, points, norm="l2")
    median = found.median(BOUNDARY_DISTANCE)
    assert (median.claim, median.value) == ("EXACT", np.median(found[BOUNDARY_DISTANCE].value))
    assert found.median(DECISION_DISTANCE).claim == "LOWER"
    assert found.share_exact(DECISION_DISTANCE).value == found[DECISION_DISTANCE].is_exact.mean()
    some = rs.robustness.certified_radius(net, points, norm="l2", population=1000).median(BOUNDARY_DISTANCE)
    assert some.claim == "ESTIMATE"
    assert some.interval[0] < some.value < some.interval[1]


def test_no_time_leaves_one_sample():
    net, points = rs.load(layers([3, 10, 6, 4], seed=2)), np.random.default_rng(0).normal(size=(12, 3))
    for ask in (rs.robustness.certified_radius, rs.robustness.boundary_distance):
        found = ask(net, points, norm="l2", budget=rs.Budget(seconds=0.0))
        assert (found.stopped, found.status) == ("time", (Status.DONE,) + (Status.NOT_REACHED,) * 11)


def test_a_network_without_gates_knows_every_distance():
    found = rs.robustness.certified_radius(rs.load([(np.eye(2), np.zeros(2))]), [[3.0, 1.0], [1.0, 1.0]], norm="l2")
    assert np.isinf(found[BOUNDARY_DISTANCE].value).all()
    assert found[DECISION_DISTANCE].value == pytest.approx([np.sqrt(2), 0.0])
    assert found[DECISION_DISTANCE].is_exact.all()


@pytest.mark.parametrize("norm", NORMS)
def test_one_output(norm):
    net = rs.load([(np.array([[1.0, 0.0], [0.0, 1.0]]), np.zeros(2)), (np.array([[3.0, 4.0]]), np.array([-1.0]))])
    found = radii(net, [[1.0, 0.1], [0.1, 3.0]], norm)
    assert found.value == pytest.approx([0.1, 0.1])
    assert not found.is_exact.any()
    found = radii(net, [[1 / 6, 1 / 6]], norm)
    assert found.value == pytest.approx([(7 / 6 - 1) / Norm(norm).dual.size(np.array([3.0, 4.0]))])
    assert found.is_exact.all()


@pytest.mark.few(2)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("margin", [1.0, 1e-6])
def test_distances_to_the_decision_boundary_are_within_the_rounding_of_outputs(facets_at, margin, norm):
    """Near the boundary the outputs decide, and far from it the gradients do."""
    facets_at([1e9])
    apart = 0
    for seed in range(20):
        steps, point = margin_in_the_open(seed, 1e8, margin)
        found = radii(network_of(steps, 2), point[None], norm)
        assert np.isfinite(found.upper[0])
        assert is_between(found, steps, point, norm)
        exact = float(exact_distance(steps, point, norm)) ** (0.5 if norm == "l2" else 1.0)
        apart += abs(found.value[0] - exact) > 1e-10
    assert apart > 5


@pytest.mark.few(1)
@pytest.mark.parametrize("norm", NORMS)
def test_distances_where_gradients_cancel_are_within_their_rounding(facets_at, norm):
    """The margin's gradient is what is left of large entries, and with it the distance is rounded."""
    facets_at([1e9])  # far enough for the distance to be the answer
    apart = 0
    for seed in range(20):
        generator = np.random.default_rng(seed)
        column, point = generator.normal(size=4), 1e-12 * generator.normal(size=2)
        steps = [affine(1e6 * generator.normal(size=(4, 2)), 1e-4 * generator.uniform(1, 2, 4)), LEAKY]
        steps += [affine(np.concatenate([np.eye(4), column[None]]), np.zeros(5)), LEAKY]
        left = [*(-column + 1e-8 * generator.normal(size=4)), 1.0]
        steps.append(affine([left, np.zeros(5)], [1e-7, 0.0]))
        found = radii(network_of(steps, 2), point[None], norm)
        assert is_between(found, steps, point, norm)
        power, exact = 2 if norm == "l2" else 1, exact_distance(steps, point, norm)
        apart += abs(Fraction(float(found.value[0])) ** power - exact) > power * Fraction(1, 10**12) * exact
    assert apart > 3


def test_what_rounding_leaves_open_is_not_exact(facets_at):
    """The hyperplane is 1 away and known to about 1e-7: facets nearer than that leave the answer open."""
    steps, point = margin_in_the_open(0, 1e8)
    net = network_of(steps, 2)
    facets_at([np.inf])
    found = radii(net, point[None])
    distance, error = found.value[0], found.upper[0] - found.value[0]
    assert 1e-9 < error < 1e-4
    assert found.claims == ("ESTIMATE",)

    def is_known(reach, unsure=0.0):
        facets_at([reach], unsure)
        return bool(np.isfinite(radii(net, point[None]).upper[0]))

    assert is_known(distance + 1.01 * error)
    assert is_known(found.upper[0])
    assert not is_known(distance + 0.99 * error)
    assert not is_known(distance + 2 * error, 1.01 * error)
    assert is_known(distance + 2 * error, 0.99 * error)
    for reach, unsure, lower in ((0.5 * distance, 0.125, 0.5 * distance - 0.125), (distance, 0.0, distance - error)):
        facets_at([reach], unsure)
        near = radii(net, point[None])
        assert (near.value[0], near.upper[0], near.claims) == (near.lower[0], np.inf, ("LOWER",))
        assert near.lower[0] == pytest.approx(lower, rel=1e-12)


def test_a_tie_that_is_nearer_than_its_rounding_certifies_nothing(facets_at):
    steps, point = margin_in_the_open(0, 1e8, 1e-9)
    facets_at([0.0])
    found = radii(network_of(steps, 2), point[None])
    assert (found.value.tolist(), found.lower.tolist(), found.upper.tolist()) == ([0.0], [0.0], [np.inf])
    assert found.claims == ("LOWER",)


def test_the_tolerance_says_how_much_is_rounding():
    steps, point = margin_in_the_open(0, 1e3)
    net = network_of(steps, 2)
    found = [
        rs.robustness.certified_radius(net, point[None], norm="l2", tolerance=rs.Tolerance(rounding=rounding))
        for rounding in (8.0, 8e6)
    ]
    near, far = (one[DECISION_DISTANCE] for one in found)
    assert (near.claims, far.claims) == (("EXACT",), ("ESTIMATE",))
    for name in (BOUNDARY_DISTANCE, DECISION_DISTANCE):
        widths = [float(one[name].upper[0] - one[name].lower[0]) for one in found]
        assert widths[1] == pytest.approx(1e6 * widths[0], rel=0.1)


def test_endless_distances_are_far(facets_at):
    """Outputs that differ by a constant tie nowhere."""
    net = network_of([affine(np.eye(2), [0.0, 0.0]), LEAKY, affine([[1.0, 1.0], [1.0, 1.0]], [1.0, 0.0])], 2)
    facets_at([np.inf])
    endless = rs.robustness.certified_radius(net, [[1.0, 2.0]], norm="l2").finding(DECISION_DISTANCE)
    assert endless.claim == "LOWER"  # slopes that are equal in floats differ by their rounding at most
    assert endless.value > 1e12
    facets_at([2.0], 0.5)
    found = radii(net, [[1.0, 2.0]])
    assert (found.value.tolist(), found.claims) == ([1.5], ("LOWER",))


def test_maps_are_read_in_blocks(monkeypatch):
    steps, point = margin_in_the_open(0, 1e3)
    net, points = network_of(steps, 2), point + np.random.default_rng(0).normal(size=(5, 2))
    whole = radii(net, points)
    monkeypatch.setattr(point_evaluation, "BUDGET", 1)
    found = radii(net, points)
    for end in ("value", "lower", "upper"):
        assert getattr(found, end) == pytest.approx(getattr(whole, end))


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_outputs_that_differ_by_less_than_rounding_are_rivals(norm):
    # 2e8 relu(x) + 2^-40 relu(x) against 2e8 relu(x) + 2^-43: equal at 1/8, and as floats everywhere.
    copies = (np.ones((2, 1)), np.zeros(2))
    net = rs.load([copies, (np.array([[2e8, 2.0**-40], [2e8, 0.0]]), np.array([0.0, 2.0**-43]))])
    found = rs.robustness.certified_radius(net, [[1.5]], norm=norm)
    assert found["decision_distance"].lower[0] == pytest.approx(1.375)


def test_outputs_that_are_equal_everywhere_are_no_rivals():
    net = rs.load([(np.ones((1, 1)), np.zeros(1)), (np.full((2, 1), 0.1), np.full(2, 0.3))])
    found = rs.robustness.certified_radius(net, [[1.5]], norm="l2")
    assert found["decision_distance"].lower[0] == pytest.approx(1.5)


@pytest.mark.parametrize("norm", NORMS)
def test_rivals_whose_hyperplanes_rounding_moves_more_are_no_farther_than_certified(facets_at, norm):
    """A steep rival right before a gentle one: of the gentle one the own class's rounding moves the distance more.

    The gentle rival is the constant 0, without any rounding, and the own class what is left of large terms.
    """
    facets_at([1e9])
    nearer = 0
    for seed in range(20):
        generator = np.random.default_rng(seed)
        small, away = 1e-6, 2.0 ** -generator.integers(0, 4)
        first = np.concatenate([small * generator.normal(size=(3, 2)), generator.normal(size=(1, 2))])
        steps = [affine(first, [*(1e8 * generator.uniform(1, 2, 3)), 0.0]), LEAKY]
        point, weight = generator.normal(size=2), np.zeros((3, 4))
        weight[0, :3], weight[1, 3] = generator.normal(size=3), 1e3
        inner = rational_values(steps, point)[-1]
        heights = [float(sum(w * v for w, v in zip(fractions_of(row), inner, strict=True))) for row in weight]
        rows = rational_map([*steps, affine(weight, np.zeros(3))], point)
        gentle, steep = (
            Norm(norm).dual.size(np.array([float(a - b) for a, b in zip(rows[0][:2], row[:2], strict=True)]))
            for row in (rows[2], rows[1])
        )
        margin = gentle * away * (1 + 1e-9)
        steps.append(affine(weight, [margin - heights[0], margin - away * steep - heights[1], 0.0]))
        found = radii(network_of(steps, 2), point[None], norm)
        power = 2 if norm == "l2" else 1
        exact = min(
            exact_distance([*steps[:-1], affine(weight[pair], steps[-1][2][pair])], point, norm)
            for pair in ([0, 1], [0, 2])
        )
        assert Fraction(float(found.lower[0])) ** power <= exact
        nearer += exact < Fraction(away * (1 - 1e-6)) ** power
    assert nearer > 3


@pytest.mark.parametrize("norm", NORMS)
def test_lower_ends_take_all_rounding_off_margins_and_add_that_of_gradients_to_slopes(norm):
    """Errors of the rival and the largest of all; twice that of gradients for every input; by outputs set by hand."""
    gate = network_of([affine(np.eye(2), [0.0, 0.0]), LEAKY, affine(np.zeros((4, 2)), np.zeros(4))], 2)
    outputs, errors = np.array([[8.0, 6.0, 5.0, 8.0 - 2**-5]]), np.array([[0.25, 0.5, 0.125, 2**-5]])
    weight = torch.tensor([[[1.0, 0.0], [-3.0, 0.0], [1.0, 2.0], [1.0, 0.0]]], dtype=torch.float64)
    slopes, ones = np.array([0.0, 4.0, 2.0, 0.0]), Norm(norm).dual.size_of_ones(2)
    for gradient, rivals in ((0.5, (1, 2, 3)), (0.125, (1, 2)), (0.0, (1, 2)), (0.0, (1,)), (0.0, (2,)), (0.0, (3,))):
        shown = [0, *rivals]
        blocks = [(slice(0, 1), SimpleNamespace(maps=SimpleNamespace(weight=weight[:, shown])))]
        network = SimpleNamespace(num_inputs=2, num_outputs=len(shown), stages=gate.stages, nodes=gate.nodes)
        at = Given(network, outputs[:, shown], errors[:, shown], blocks)
        away, error, nearest = unwrap(certified._to_rivals)(at, np.full((1, len(shown)), gradient), Norm(norm))
        largest = errors[0, shown].max()
        least = {
            rival: max(8.0 - outputs[0, rival] - errors[0, rival] - largest, 0.0)
            / (slopes[rival] + 2 * ones * gradient)
            if slopes[rival] + gradient
            else np.inf
            for rival in rivals
        }
        assert max(nearest[0], 0.0) == pytest.approx(min(least.values()))
        distances = {rival: (8.0 - outputs[0, rival]) / slopes[rival] for rival in rivals if slopes[rival]}
        assert away[0] == pytest.approx(min(distances.values(), default=np.inf))
        if distances:
            rival = min(distances, key=distances.get)
            assert error[0] == pytest.approx(2 * (largest + away[0] * gradient * ones) / slopes[rival])


class Given:
    """One point with outputs, errors and maps that are given."""

    def __init__(self, network, outputs, errors, blocks):
        self.network, self.outputs, self.errors, self._blocks = network, outputs, errors, blocks

    def __len__(self):
        return len(self.outputs)

    def blocks(self, most):
        return self._blocks
