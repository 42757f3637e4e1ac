"""Distances of many points by one partition around them all, against searches for each and against samples."""

import numpy as np
import pytest
from torch import nn

import reluscope as rs
from networks.models import layers
from reluscope.analyses.robustness import distance_search as search
from reluscope.analyses.robustness import tied_regions
from reluscope.geometry.numbers.norms import Norm
from reluscope.stopping import INTERRUPTED

NORMS = ("l1", "l2", "linf")
# A budget of regions leaves each point a search of its own.
SEARCHED = rs.Budget(regions=10**9)
RELUS = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
# Outputs of 0 on a square, and where it touches 0 from below: ties that are no changes of class, or only at their ends.
PLATEAU = [(RELUS, [-0.5] * 4), ([[1.0] * 4], [0.0])]
TOUCHING = [(RELUS, [0.0] * 4), ([[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 0.4, -0.6]], [0.0, 0.0])]


def unasked(view, until):
    raise AssertionError("a search has begun")


@pytest.mark.few(2)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(
    ("parameters", "bounds"),
    [
        (layers([2, 7, 5, 3], seed=3), 1.0),
        (layers([2, 7, 5, 3], seed=3), None),
        (layers([3, 6, 4, 1], seed=2), 1.0),
        (PLATEAU, 1.0),
        (TOUCHING, 1.0),
    ],
)
def test_one_partition_says_what_searches_say(monkeypatch, parameters, bounds, norm):
    net = rs.load(parameters)
    n = net.num_inputs
    rng = np.random.default_rng(3)
    x, z = rng.uniform(-0.9, 0.9, (3, n)), rng.uniform(-1, 1, (4000, n))
    domain = None if bounds is None else rs.Box(-bounds, bounds, n)
    searched = rs.robustness.decision_distance(net, x, norm=norm, domain=domain, budget=SEARCHED)
    if bounds is not None:
        monkeypatch.setattr(search, "nearby_change", unasked)
    listed = rs.robustness.decision_distance(net, x, norm=norm, domain=domain)
    own, other = listed["decision_distance"], searched["decision_distance"]
    assert own.claims == other.claims
    np.testing.assert_allclose(own.value, other.value, rtol=1e-9, atol=1e-9)
    assert listed.details["num_branches"].max() < 20
    for row, point in enumerate(x):
        is_other = classes(net, z) != listed.details["classes"][row]
        assert (Norm(norm).size(z[is_other] - point) >= own.lower[row]).all()


def classes(net, z):
    outputs = net(z).numpy()
    return outputs.argmax(axis=1) if outputs.shape[1] > 1 else (outputs[:, 0] > 0).astype(int)


@pytest.mark.slow
def test_what_is_beyond_the_partition_is_searched_for(monkeypatch):
    net = rs.load([([[1.0, 0.0], [-1.0, 0.0]], [0.0, 0.0]), ([[1.0, 1.0]], [-1.0])])  # |x_0| - 1
    # Of another class than the first the others are far away, or farther than the domain goes, or none are.
    points = np.array([[0.9, 0.0], [0.0, 3.0], [4.0, 0.0]])
    for x, domain in ((points, None), (points[:2], None), (points[:2], rs.Box(-0.95, 9, 2))):
        found = rs.robustness.decision_distance(net, x, norm="l2", domain=domain)
        np.testing.assert_allclose(found["decision_distance"].value, [0.1, 1.0, 3.0][: len(x)], rtol=1e-12)
    for name, value in (("MOST_NEAR", 0), ("REGIONS_PER_POINT", {2: 1}), ("REGIONS_PER_POINT", {})):
        with monkeypatch.context() as patch:
            patch.setattr(tied_regions, name, value)
            found = rs.robustness.decision_distance(net, points, norm="linf")
            assert found["decision_distance"].value.tolist() == pytest.approx([0.1, 1.0, 3.0])


def test_a_partition_that_knows_too_little_does_not_end_a_search(monkeypatch):
    """A tie is 0.5 away in a box that ends after 0.05, and one 0.42 away is beyond, in another region."""
    net = rs.load([([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], [0.0, 0.0, 0.0]), ([[1.0, 1.0, 1.0]], [-1.0])])
    x, part = np.array([[0.5, -0.1], [1.5, -0.2]]), rs.Box([0.2, -0.4], [2.0, -0.05])
    monkeypatch.setattr(tied_regions, "_surroundings", lambda *_: part)
    found = rs.robustness.decision_distance(net, x, norm="l2")
    searched = rs.robustness.decision_distance(net, x, norm="l2", budget=SEARCHED)
    np.testing.assert_allclose(found["decision_distance"].value, searched["decision_distance"].value, rtol=1e-9)


def test_ctrl_c_in_the_partition_ends_it(monkeypatch):
    net, x = rs.load(layers([2, 6, 5, 2], seed=3)), np.full((2, 2), 0.125)

    def struck(*given, **settings):
        part = rs.partition(*given, **settings)
        object.__setattr__(part, "stop", INTERRUPTED)
        return part

    monkeypatch.setattr(tied_regions, "partition", struck)
    with pytest.raises(KeyboardInterrupt):
        rs.robustness.decision_distance(net, x, norm="l2", domain=rs.Box(-1, 1, 2))


def test_corners_that_rounding_puts_into_the_region_beside_hide_no_tie():
    """Outputs are equal for y from 1 to 2: in float64 corners at 1 are right below it, where the last one leads."""
    parameters = [([[0.0, -2.0], [-1.0, -2.0], [-2.0, 2.0], [-1.0, 0.0]], [2.0, 1.0, -2.0, 0.0])]
    parameters.append(([[0, -1, -1, 1], [-1, -1, -1, 0], [0, 0, 1, 0], [1, 1, -1, 1]] * np.array(1000.0), [0.0] * 4))
    net, x = rs.load(parameters), np.array([[545.6430954939734, -479.95677183763223]])
    box = rs.Box([-2207.6949281609727, -1095.1314882104462], [2952.1334056084133, 592.3339261091113])
    found = rs.robustness.decision_distance(net, x, norm="l1", domain=box)
    assert found["decision_distance"].value[0] == pytest.approx(1 - x[0, 1], rel=1e-9)


@pytest.mark.parametrize("norm", NORMS)
def test_max_gates_and_polyhedra_are_partitioned_too(monkeypatch, norm):
    """In a polyhedron without rows along axes, around points of one class alone: the box around it bounds them."""
    net = rs.load(nn.Sequential(nn.Unflatten(1, (1, 4)), nn.MaxPool1d(2), nn.Flatten()), input_shape=(4,))
    rng = np.random.default_rng(2)
    plane = rs.Slice(np.zeros(4), rng.normal(size=(2, 4)), rs.Polyhedron([[1, 1], [1, -1], [-1, 1], [-1, -1]], [2] * 4))
    x = np.array([[0.25, 0.5]])
    searched = rs.robustness.decision_distance(net, x, norm=norm, domain=plane, budget=SEARCHED)
    monkeypatch.setattr(search, "nearby_change", unasked)
    found = rs.robustness.decision_distance(net, x, norm=norm, domain=plane)
    assert found["decision_distance"].is_exact.all()
    np.testing.assert_allclose(found["decision_distance"].value, searched["decision_distance"].value, rtol=1e-9)
