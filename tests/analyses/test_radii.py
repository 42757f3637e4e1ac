"""Sizes of regions against half-spaces one by one, scipy's linear programs, and points inside and outside of balls."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

import reluscope as rs
from networks.models import branched, layers
from reluscope.analyses import pacing, radii
from reluscope.analyses.radii import ball_seconds, boundary_distances, data_box, facet_distances, inscribed_balls

NET = rs.load(layers([3, 10, 6, 4], seed=2))
POINTS = np.random.default_rng(0).normal(size=(12, 3))


def ball_by_scipy(polyhedron):
    lengths = np.linalg.norm(polyhedron.A, axis=1)
    rows = np.column_stack([polyhedron.A, lengths])
    found = linprog([0.0] * polyhedron.dim + [-1.0], rows, polyhedron.b, bounds=(None, None))
    return np.inf if found.status == 3 else -found.fun


@pytest.mark.parametrize("domain", [None, rs.Box(-2.5, 2.5, 3)])
def test_balls_are_those_of_the_linear_program_and_lie_in_the_region(domain):
    points = np.clip(POINTS, -2.5, 2.5)
    found = inscribed_balls(NET, points, domain=domain)
    assert found.rows.tolist() == list(range(12))
    for point, radius, offset in zip(points, found.radii, found.offsets, strict=True):
        region = rs.region(NET, point)
        P = region.polyhedron if domain is None else region.polyhedron.intersect(domain.polyhedron)
        assert radius == pytest.approx(ball_by_scipy(P), rel=1e-7)
        assert np.isnan(offset) == np.isinf(radius)
    if domain is not None:
        assert np.isfinite(found.radii).all()
        assert "box [-2.5, 2.5]^3" in found.median().domain
    assert found.median().claim == "EXACT"
    assert found.finding(3).value == found.radii[3]


def test_facet_distances_are_below_inscribed_radii_and_medians_say_what_they_are():
    facets = facet_distances(NET, POINTS)
    balls = inscribed_balls(NET, POINTS)
    assert (facets.distances <= balls.radii + 1e-9).all()
    assert facets.median().value == np.median(facets.distances)
    assert facets.median().claim == "EXACT"
    some = facet_distances(NET, POINTS, population=1000)
    assert some.median().claim == "ESTIMATE"
    assert some.median().interval[0] < some.median().value < some.median().interval[1]
    assert facets.finding(2).value == facets.distances[2]


def test_exact_distances_to_the_decision_boundary_against_a_search():
    net = rs.load(layers([2, 8, 3], seed=5))
    points = np.random.default_rng(2).normal(size=(40, 2))
    found = boundary_distances(net, points, facet_distances(net, points))
    assert 0 < found.is_exact.sum() < 40
    assert found.share().value == found.is_exact.mean()
    angles = np.linspace(0, 2 * np.pi, 721)
    circle = np.c_[np.cos(angles), np.sin(angles)]
    for point, lower, exact in zip(points, found.lower, found.is_exact, strict=True):
        own = int(net(point).argmax())
        inside = point + lower * 0.9999 * np.concatenate([circle, 0.5 * circle])
        assert (net(inside).argmax(1).numpy() == own).all()
        if exact:
            around = net(point + lower * (1 + 1e-3) * circle).argmax(1).numpy()
            assert (around != own).any()


def test_a_network_without_gates_knows_every_distance():
    net = rs.load([(np.eye(2), np.zeros(2))])
    facets = facet_distances(net, [[3.0, 1.0], [1.0, 1.0]])
    assert np.isinf(facets.distances).all()
    found = boundary_distances(net, [[3.0, 1.0], [1.0, 1.0]], facets)
    assert found.lower == pytest.approx([np.sqrt(2), 0.0])
    assert found.is_exact.all()


def test_one_output():
    net = rs.load([(np.array([[1.0, 0.0], [0.0, 1.0]]), np.zeros(2)), (np.array([[3.0, 4.0]]), np.array([-1.0]))])
    found = boundary_distances(net, [[1.0, 0.1], [0.1, 3.0]], facet_distances(net, [[1.0, 0.1], [0.1, 3.0]]))
    assert found.lower == pytest.approx([0.1, 0.1])
    assert not found.is_exact.any()
    near = [[1 / 6, 1 / 6]]
    found = boundary_distances(net, near, facet_distances(net, near))
    assert found.lower == pytest.approx([(7 / 6 - 1) / 5])
    assert found.is_exact.all()


def test_networks_of_all_kinds():
    net = branched()
    points = np.random.default_rng(0).normal(size=(3, net.num_inputs))
    balls = inscribed_balls(net, points, domain=data_box(points))
    assert np.isfinite(balls.radii).all()
    assert (facet_distances(net, points).gates >= 0).all()
    assert ball_seconds(net, data_box(points)) > ball_seconds(net) > 0


def test_samples_on_kinks_without_a_region():
    # On the line x = 0 the tie rule holds both units at zero, which no point around it does.
    net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    found = inscribed_balls(net, [[0.0], [2.0]])
    assert found.without.tolist() == [0]
    assert found.rows.tolist() == [1]
    assert found.radii.tolist() == [np.inf]


def test_boxes_around_data():
    assert data_box(np.ones((3, 2))) is None
    assert data_box(np.array([[0.0, 3.0]])).describe() == "box [0, 3]^2"
    assert data_box(np.array([[0.0, 3.0], [1.0, 5.0]])).lo.tolist() == [0.0, 3.0]


def test_no_time_leaves_what_is_done(monkeypatch):
    ticks = itertools.count()
    monkeypatch.setattr(pacing.time, "perf_counter", lambda: float(next(ticks)))
    found = inscribed_balls(NET, POINTS, seconds=3.0)
    assert 1 <= len(found) < 12
    assert found.stopped == "time"
    assert found.median().claim == "ESTIMATE"
    facets = facet_distances(NET, POINTS, seconds=0.0)
    assert len(facets) == 1
    assert facets.stopped == "time"


def test_ctrl_c_leaves_what_is_done(monkeypatch):
    calls = itertools.count()

    def interrupt(original, at):
        def run(*arguments, **options):
            if next(calls) == at:
                raise KeyboardInterrupt
            return original(*arguments, **options)

        return run

    monkeypatch.setattr(radii, "regions_inside", interrupt(radii.regions_inside, 2))
    found = inscribed_balls(NET, POINTS)
    assert (len(found), found.stopped) == (3, "interrupted")
    monkeypatch.setattr(radii, "nearest_facets", interrupt(radii.nearest_facets, next(calls) + 1))
    with pytest.raises(KeyboardInterrupt):
        facet_distances(NET, POINTS)


def test_work_tells_its_share():
    told = []
    inscribed_balls(NET, POINTS[:4], tell=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
