"""Inscribed balls against scipy's linear programs, and points inside and outside of them."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import linprog

import reluscope as rs
from networks.models import branched, layers
from reluscope.analyses.bodies import inscribed_balls as module
from reluscope.analyses.bodies.inscribed_balls import Ball, ball_seconds
from reluscope.analyses.samples import pacing
from reluscope.analyses.samples.data_box import data_box
from reluscope.errors import SolverError
from reluscope.findings import Status

NET = rs.load(layers([3, 10, 6, 4], seed=2))
POINTS = np.random.default_rng(0).normal(size=(12, 3))
# On the line x = 0 the tie rule holds both units at zero, which no point around it does.
KINK = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])


def ball_by_scipy(polyhedron):
    lengths = np.linalg.norm(polyhedron.A, axis=1)
    rows = np.column_stack([polyhedron.A, lengths])
    found = linprog([0.0] * polyhedron.dim + [-1.0], rows, polyhedron.b, bounds=(None, None))
    return np.inf if found.status == 3 else -found.fun


@pytest.mark.few(1)
@pytest.mark.parametrize("domain", [None, rs.Box(-2.5, 2.5, 3)])
def test_balls_are_those_of_the_linear_program_and_lie_in_the_region(domain):
    points = np.clip(POINTS, -2.5, 2.5)
    found = rs.inscribed_balls(NET, points, domain=domain)
    assert found.is_done.all()
    for row, point in enumerate(points):
        finding, offset = found.finding("inradius", row), found.details["offsets"][row]
        region = rs.region(NET, point)
        P = region.polyhedron if domain is None else region.polyhedron.intersect(domain.polyhedron)
        assert finding.value == pytest.approx(ball_by_scipy(P), rel=1e-7)
        assert finding.claim == "EXACT"
        assert np.isnan(offset) == np.isinf(finding.value)
    if domain is not None:
        assert np.isfinite(found["inradius"].value).all()
        assert "box [-2.5, 2.5]^3" in found.median("inradius").domain
    assert found.median("inradius").claim == "EXACT"


def test_centres_are_as_far_from_the_sample_as_is_said():
    points = [[3.0, -1.0], [2.0, 5.0]]
    net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    found = rs.inscribed_balls(net, points, domain=rs.Box(-4, 6, 2))
    assert found["inradius"].value == pytest.approx([2.0, 3.0])
    # Any centre of the first has y = -2 and x from 2 to 4, the second has (3, 3).
    assert 1 - 1e-7 <= found.details["offsets"][0] <= np.hypot(1, 1) + 1e-7
    assert found.details["offsets"][1] == pytest.approx(np.hypot(1, 2))


def test_radii_and_gaps_are_the_ends(monkeypatch):
    """What the programs leave open is between the ends, and decides the claim."""
    proper = module.largest_balls

    def loose(bodies, start, **options):
        answers = proper(bodies, start, **options)
        return answers._replace(gaps=1e-3 * answers.values)

    monkeypatch.setattr(module, "WELL_PROVED", 1.0)
    monkeypatch.setattr(module, "largest_balls", loose)
    found = rs.inscribed_balls(NET, POINTS[:4], domain=rs.Box(-4, 4, 3))["inradius"]
    assert np.array_equal(found.lower, found.value)
    assert found.upper == pytest.approx(1.001 * found.value)
    assert set(found.claims) == {"LOWER"}


def test_networks_of_all_kinds():
    net = branched()
    points = np.random.default_rng(0).normal(size=(3, net.num_inputs))
    balls = rs.inscribed_balls(net, points, domain=data_box(points))
    assert np.isfinite(balls["inradius"].value).all()
    assert ball_seconds(net, data_box(points)) > ball_seconds(net) > 0


def test_samples_on_kinks_without_a_region():
    found = rs.inscribed_balls(KINK, [[0.0], [2.0]])
    assert found.status == (Status.UNDEFINED, Status.DONE)
    assert found["inradius"].value[1] == np.inf
    assert str(found.median("inradius")) == "inf (EXACT)"


def test_samples_without_a_region_keep_their_rows(monkeypatch):
    """Block after block."""
    monkeypatch.setattr(module, "bodies_at_once", lambda network: 2)
    found = rs.inscribed_balls(KINK, [[2.0], [0.0], [1.0], [0.0], [0.0], [3.0]])
    assert np.flatnonzero(found.is_done).tolist() == [0, 2, 5]


def test_boxes_around_data():
    assert data_box(np.ones((3, 2))) is None
    assert data_box(np.full((3, 2), 4.0)) is None
    assert data_box(np.array([[0.0, 3.0]])).describe() == "box [0, 3]^2"
    assert data_box(np.array([[0.0, 3.0], [1.0, 5.0]])).lo.tolist() == [0.0, 3.0]
    assert data_box(np.array([[0.0, 5.0], [1.0, 7.0]])).describe() == rs.Box([0.0, 5.0], [1.0, 7.0]).describe()
    assert data_box(np.array([[0.0, 5.0], [0.0, 7.0]])).describe() == "box [0, 7]^2"


def test_no_time_leaves_what_is_done(monkeypatch):
    ticks = itertools.count()
    monkeypatch.setattr(pacing.time, "perf_counter", lambda: float(next(ticks)))
    found = rs.inscribed_balls(NET, POINTS, budget=rs.Budget(seconds=3.0))
    assert 1 <= found.is_done.sum() < 12
    assert found.stopped == "time"
    assert found.median("inradius").interval[1] == np.inf  # the others may hold balls of any size
    drawn = rs.inscribed_balls(NET, POINTS, budget=rs.Budget(seconds=3.0), population=1000)
    assert drawn.median("inradius").claim == "ESTIMATE"
    assert "of 1,000 samples" in drawn.median("inradius").domain


def test_the_second_method_has_the_time_that_the_first_one_left(monkeypatch):
    ticks, left = itertools.count(), []
    monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: 10.0 * next(ticks)))
    monkeypatch.setattr(module, "WELL_PROVED", -1.0)  # no ball is
    proper = module._within_time
    monkeypatch.setattr(
        module, "_within_time", lambda body, ball, seconds: (left.append(seconds), proper(body, ball, None))[1]
    )
    asked = module._largest_balls
    monkeypatch.setattr(
        module, "_largest_balls", lambda found, points, domain, _, device: asked(found, points, domain, 25.0, device)
    )
    rs.inscribed_balls(NET, POINTS[:7], domain=rs.Box(-4, 4, POINTS.shape[1]))
    assert left == [15.0, 15.0, 5.0, 15.0, 5.0, 0.0, 0.0]


def test_ctrl_c_leaves_what_is_done(monkeypatch):
    calls, proper = itertools.count(), module.regions_inside

    def interrupted(*arguments):
        if next(calls) == 2:
            raise KeyboardInterrupt
        return proper(*arguments)

    monkeypatch.setattr(module, "regions_inside", interrupted)
    found = rs.inscribed_balls(NET, POINTS)
    assert (int(found.is_done.sum()), found.stopped) == (3, "interrupted")
    assert set(found.status[3:]) == {Status.NOT_REACHED}


def test_work_tells_its_share():
    told = []
    rs.inscribed_balls(NET, POINTS[:4], progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_a_domain_of_other_dimensions_is_refused():
    with pytest.raises(rs.errors.ShapeError):
        rs.inscribed_balls(NET, POINTS, domain=rs.Box(-1, 1, 2))


def test_balls_that_the_first_method_does_not_prove_go_to_the_second(monkeypatch):
    """A radius that is not positive, or a gap too large, is asked for again; balls of every size are not."""
    net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    proper = module.largest_balls

    for spoil in (lambda r, g: (-r, g), lambda r, g: (r, g + r), lambda r, g: (0 * r, g)):

        def wrong(bodies, start, spoil=spoil, **options):
            answers = proper(bodies, start, **options)
            radius, gap = spoil(answers.values, answers.gaps)
            return type(answers)(answers.points, radius, gap)

        monkeypatch.setattr(module, "largest_balls", wrong)
        found = rs.inscribed_balls(net, [[3.0, -1.0]], domain=rs.Box(-4, 4, 2))
        assert str(found.finding("inradius")) == "2 (EXACT)"
    monkeypatch.setattr(
        module,
        "largest_balls",
        lambda bodies, start, **options: proper(bodies, start, **options)._replace(values=np.array([np.inf])),
    )
    assert rs.inscribed_balls(net, [[3.0, -1.0]])["inradius"].value[0] == np.inf


@pytest.mark.parametrize("ends", [(0.5, 0.75), (-0.5, 0.25), (-1.0, -0.5)])
def test_balls_that_there_is_no_time_to_prove_keep_their_ends(monkeypatch, ends):
    """No radius is negative, and the upper end stays where it is."""

    def out_of_time(*_, **__):
        raise SolverError("no time")

    monkeypatch.setattr(module, "inscribed_ball", out_of_time)
    ball = module._within_time(rs.Box(-1, 1, 2).polyhedron, Ball(np.zeros(2), ends[0], ends[1] - ends[0]), 1.0)
    assert (ball.radius, ball.radius + ball.gap) == (max(0.0, ends[0]), max(0.0, ends[1]))
