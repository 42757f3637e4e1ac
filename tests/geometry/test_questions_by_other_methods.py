"""Every convex question against another method, on polytopes of all kinds and on regions of a trained network.

Linear programs go to the simplex method of HiGHS, quadratic ones to its active-set solver, curved ones to SLSQP. All
questions are also stopped early: then gaps are wide, and a bound that claims too much is seen.
"""

import highspy
import numpy as np
import pytest
import torch
from scipy.optimize import LinearConstraint, linprog, minimize
from scipy.special import log_softmax

import reluscope as rs
from geometry.bodies import bodies_of
from reluscope.datasets.demo import demo_network
from reluscope.datasets.digits import digits
from reluscope.geometry.polyhedra.nearest_point import nearest_point
from reluscope.geometry.programs.convex_questions import (
    analytic_centers,
    largest_balls,
    likeliest_points,
    linear_maxima,
    point_beyond,
    widest_margins,
)
from reluscope.geometry.programs.interior_point import within

CLOSE = 1e-7


class Body:
    """Rows ``A x <= b`` of any length, bounds, and a strictly interior point."""

    def __init__(self, A, b, lower, upper, inside):
        self.A, self.b, self.inside = np.asarray(A, dtype=float), np.asarray(b, dtype=float), inside
        self.dim = len(inside)
        self.lower, self.upper = (np.broadcast_to(np.asarray(end, float), (self.dim,)) for end in (lower, upper))

    @property
    def bodies(self):
        return bodies_of([(self.A, self.b)], self.lower, self.upper)

    @property
    def start(self):
        return torch.from_numpy(self.inside[None].copy())

    @property
    def bounds(self):
        return np.column_stack([self.lower, self.upper])

    @property
    def size(self):
        return max(1.0, float(np.abs(self.b).max()))

    def contains(self, point):
        slack = 1e-12 * self.size
        return (self.A @ point <= self.b + slack).all() and (point >= self.lower).all() and (point <= self.upper).all()

    def maximum(self, gain, more=None):
        """Return the largest value of a linear function by the simplex method."""
        A, b, bounds = (self.A, self.b, self.bounds) if more is None else more
        options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
        found = linprog(-gain, A, b, bounds=bounds, method="highs-ds", options=options)
        assert found.status == 0
        return -found.fun


def random_body(seed, dim, number):
    draw = np.random.default_rng(seed)
    return Body(draw.standard_normal((number, dim)), draw.uniform(0.1, 2.0, number), -2.0, 2.0, np.zeros(dim))


def with_duplicates():
    """Rows that are there three times, some of them scaled, and all bounds once more as rows."""
    body = random_body(1, 5, 12)
    scale = np.r_[np.ones(12), np.full(12, 3.0), np.full(12, 1e-3), np.ones(10)]
    A = np.r_[np.tile(body.A, (3, 1)), np.eye(5), -np.eye(5)]
    return Body(scale[:, None] * A, scale * np.r_[np.tile(body.b, 3), np.full(10, 2.0)], -2.0, 2.0, np.zeros(5))


def nearly_flat():
    """Two walls 2e-5 apart."""
    body = random_body(2, 5, 12)
    wall = np.random.default_rng(3).standard_normal(5)
    wall /= np.linalg.norm(wall)
    return Body(np.r_[body.A, [wall, -wall]], np.r_[body.b, 1e-5, 1e-5], -2.0, 2.0, np.zeros(5))


def unbounded():
    """A cone in three of six directions, bounded in the others."""
    body = random_body(4, 6, 14)
    lower, upper = np.r_[np.full(3, -1.0), np.full(3, -np.inf)], np.r_[np.full(3, 1.0), np.full(3, np.inf)]
    A = np.c_[body.A[:, :3], -np.abs(body.A[:, 3:])]
    return Body(A, body.b, lower, upper, np.zeros(6))


def pointed():
    """Many rows through one corner."""
    draw = np.random.default_rng(5)
    rows = np.abs(draw.standard_normal((30, 4)))
    return Body(rows, rows @ np.full(4, 0.5), -1.0, 1.0, np.zeros(4))


def real_region(row):
    """The region of a digit under a trained network, in 64 dimensions, the digit on the boundary of the box."""
    net, point = rs.load(demo_network(), input_shape=(1, 8, 8)), digits("test").points.reshape(-1, 64)[row]
    region = rs.region(net, point[None])
    center = region.polyhedron.intersect(rs.Box(0, 1, 64).polyhedron).insphere().center
    return Body(region.polyhedron.A, region.polyhedron.b, 0.0, 1.0, center), region, point


BOUNDED = {
    "line": lambda: random_body(0, 1, 3),
    "few": lambda: random_body(0, 3, 8),
    "tens": lambda: random_body(6, 24, 100),
    "duplicates": with_duplicates,
    "nearly flat": nearly_flat,
    "pointed": pointed,
    "real": lambda: real_region(0)[0],
    "another real": lambda: real_region(7)[0],
}
ALL = {**BOUNDED, "unbounded": unbounded}
bounded = pytest.mark.parametrize("body", [make() for make in BOUNDED.values()], ids=list(BOUNDED))
each = pytest.mark.parametrize("body", [make() for make in ALL.values()], ids=list(ALL))
SHARES = (None, 0.5, 0.05)


def agrees(value, gap, truth, scale, share):
    """Check a maximum found, and its gap: at its best where no gap was asked for, else as wide as that."""
    assert value <= truth + 1e-8 * scale
    assert truth <= value + gap + 1e-8 * scale
    assert gap >= 0
    if share is None:
        assert value == pytest.approx(truth, abs=CLOSE * scale)
        assert gap <= CLOSE * scale


@pytest.mark.few(15)
@pytest.mark.parametrize("share", SHARES)
@each
def test_largest_balls(body, share):
    walls = np.r_[body.A, np.eye(body.dim), -np.eye(body.dim)], np.r_[body.b, body.upper, -body.lower]
    rows = np.isfinite(walls[1])
    A, b = walls[0][rows], walls[1][rows]
    lengths = np.linalg.norm(A, axis=1)
    more = np.c_[A / lengths[:, None], np.ones(len(A))], b / lengths, (-np.inf, np.inf)
    found = largest_balls(body.bodies, body.start, **({} if share is None else {"relative_gap": share}))
    if np.isinf(found.values[0]):
        assert linprog(np.r_[np.zeros(body.dim), -1.0], *more[:2], bounds=more[2]).status == 3
        return
    truth = body.maximum(np.r_[np.zeros(body.dim), 1.0], more)
    agrees(found.values[0], found.gaps[0], truth, max(truth, 1e-2), share)
    assert (A @ found.points[0] + found.values[0] * lengths <= b + 1e-12 * body.size).all()


def gains_of(body, count=3):
    """Return directions in which a body ends: sums of normals."""
    draw = np.random.default_rng(body.dim)
    if np.isfinite(body.bounds).all():
        return draw.standard_normal((count, body.dim))
    ends = np.isfinite(body.upper)
    return draw.uniform(0, 1, (count, len(body.A))) @ body.A + draw.standard_normal((count, body.dim)) * ends


@pytest.mark.few(7)
@pytest.mark.parametrize("share", SHARES)
@each
def test_linear_maxima(body, share):
    for gain in gains_of(body):
        asked = () if share is None else (within(share, 1.0),)
        found = linear_maxima(body.bodies, body.start, torch.from_numpy(gain[None]), *asked)
        truth = body.maximum(gain)
        agrees(found.values[0], found.gaps[0], truth, max(1.0, abs(truth)), share)
        assert body.contains(found.points[0])


@pytest.mark.few(4)
@each
def test_points_beyond(body):
    moved = Body(
        body.A, body.b - body.A @ body.inside, body.lower - body.inside, body.upper - body.inside, 0 * body.inside
    )
    for gain in gains_of(body, 2):
        truth = moved.maximum(gain)
        for share in (-0.5, -1e-6, 1e-6, 0.5):
            distance = truth + share * max(1.0, abs(truth))
            point = point_beyond(moved.bodies, torch.from_numpy(gain[None]), distance)
            assert (point is not None) == (share < 0)
            if point is not None:
                assert gain @ point > distance
                assert moved.contains(point)


def nearest_by_highs(body, target):
    """Return the squared distance by the quadratic solver of HiGHS."""
    model, dim = highspy.Highs(), body.dim
    model.setOptionValue("output_flag", False)
    for option in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
        model.setOptionValue(option, 1e-10)
    model.addVars(dim, body.lower, body.upper)
    rows, columns = len(body.A), np.tile(np.arange(dim, dtype=np.int32), len(body.A))
    starts = np.arange(0, rows * dim, dim, dtype=np.int32)
    model.addRows(rows, np.full(rows, -np.inf), body.b, body.A.size, starts, columns, body.A.ravel())
    for variable, cost in enumerate(-2 * target):
        model.changeColCost(variable, cost)
    hessian = highspy.HighsHessian()
    hessian.dim_, hessian.format_ = dim, highspy.HessianFormat.kTriangular
    hessian.start_, hessian.index_ = np.arange(dim + 1, dtype=np.int32), np.arange(dim, dtype=np.int32)
    hessian.value_ = np.full(dim, 2.0)
    model.passHessian(hessian)
    model.run()
    assert model.getModelStatus() == highspy.HighsModelStatus.kOptimal
    point = np.array(model.getSolution().col_value)
    return float(np.linalg.norm(point - target))


@pytest.mark.parametrize("name", ["few", "duplicates", "nearly flat", "pointed"])
def test_nearest_point_by_highs(name):
    body = ALL[name]()
    target = body.inside + 3.0 * np.random.default_rng(1).standard_normal(body.dim)
    found = nearest_point(body.A, body.b, target, lower=body.lower, upper=body.upper)
    assert found.distance == pytest.approx(nearest_by_highs(body, target), abs=CLOSE)


def logits_of(body, number=4, size=1.0):
    draw = np.random.default_rng(body.dim + 1)
    return size * draw.standard_normal((number, body.dim)), draw.standard_normal(number)


def asked_of(body, weights, biases, one):
    given = torch.from_numpy(weights[None]), torch.from_numpy(biases[None]), torch.tensor([one])
    return body.bodies, body.start, *given


@pytest.mark.few(6)
@pytest.mark.parametrize("gap", [1e-9, 0.3, 0.03])
@pytest.mark.parametrize("size", [1.0, 30.0])
@pytest.mark.parametrize("name", ["line", "few", "duplicates", "nearly flat", "pointed"])
def test_likeliest_points(name, size, gap):
    body = BOUNDED[name]()
    weights, biases = logits_of(body, size=size)
    for one in range(4):
        found = likeliest_points(*asked_of(body, weights, biases, one), relative_gap=gap)

        def loss(x, one=one):
            return -log_softmax(weights @ x + biases)[one]

        def slope(x, one=one):
            return weights.T @ np.exp(log_softmax(weights @ x + biases)) - weights[one]

        options = {"ftol": 1e-14, "maxiter": 1000}
        constraint = LinearConstraint(body.A, ub=body.b)
        runs = [
            minimize(loss, x, jac=slope, constraints=constraint, bounds=body.bounds, method="SLSQP", options=options)
            for x in (body.inside, found.points[0])
        ]
        truth = -min(run.fun for run in runs if (body.A @ run.x <= body.b + 1e-9 * body.size).all())
        value, scale = found.values[0], max(1.0, abs(truth))
        assert value == pytest.approx(-loss(found.points[0]), abs=1e-12 * scale)
        assert body.contains(found.points[0])
        assert truth <= value + found.gaps[0] + 1e-7 * scale
        assert found.gaps[0] <= gap * max(1.0, abs(value))
        if gap == 1e-9:
            assert value == pytest.approx(truth, abs=CLOSE * scale)


@pytest.mark.slow
def test_likeliest_points_of_two_real_classes_are_linear_maxima():
    """With two classes the logarithm grows with the difference of logits."""
    body, region, _ = real_region(0)
    weight, bias = (np.asarray(part[0]) for part in (region.map.weight, region.map.bias))
    for one, other in ((0, 1), (3, 8)):
        weights, biases = weight[[one, other]], bias[[one, other]]
        found = likeliest_points(*asked_of(body, weights, biases, 0))
        truth = body.maximum(weights[0] - weights[1]) + biases[0] - biases[1]
        assert found.values[0] == pytest.approx(-np.logaddexp(0.0, -truth), abs=CLOSE * max(1.0, abs(truth)))


@pytest.mark.few(5)
@pytest.mark.parametrize("is_sign_enough", [False, True])
@bounded
def test_widest_margins(body, is_sign_enough):
    weights, biases = logits_of(body)
    for one in range(4):
        others = np.delete(np.arange(4), one)
        rows = np.r_[np.c_[body.A, np.zeros(len(body.A))], np.c_[weights[others] - weights[one], np.ones(3)]]
        offsets = np.r_[body.b, biases[one] - biases[others]]
        more = rows, offsets, np.r_[body.bounds, [[-np.inf, np.inf]]]
        truth = body.maximum(np.r_[np.zeros(body.dim), 1.0], more)
        found = widest_margins(*asked_of(body, weights, biases, one), is_sign_enough=is_sign_enough)
        value, gap, scale = found.values[0], found.gaps[0], max(1.0, abs(truth))
        agrees(value, gap, truth, scale, 1.0 if is_sign_enough else None)
        logits = weights @ found.points[0] + biases
        assert value <= logits[one] - logits[others].max() + 1e-9 * scale
        assert body.contains(found.points[0])
        if is_sign_enough:
            assert (value > 0) == (truth > 0)
            assert (value + gap < 0) == (truth < 0)


@bounded
def test_analytic_centers(body):
    found = analytic_centers(body.bodies, body.start)
    lengths = np.linalg.norm(body.A, axis=1)
    A = np.r_[body.A / lengths[:, None], np.eye(body.dim), -np.eye(body.dim)]
    b = np.r_[body.b / lengths, body.upper, -body.lower]
    slack = b - A @ found.points[0]
    assert (slack > 0).all()
    assert found.values[0] == pytest.approx(np.log(slack).sum(), abs=1e-9 * len(b))
    # Newton's decrement once more, by least squares: of a self-concordant function it bounds what is left.
    step = np.linalg.lstsq(A / slack[:, None], -np.ones(len(b)), rcond=None)[0]
    decrement = np.linalg.norm((A / slack[:, None]) @ step)
    assert decrement <= 1e-6
    assert found.gaps[0] <= CLOSE
    assert -decrement - np.log1p(-decrement) <= found.gaps[0] + 1e-12


def test_analytic_centers_say_what_is_left(monkeypatch):
    body = random_body(6, 24, 100)
    truth, seen = analytic_centers(body.bodies, body.start).values[0], []
    for steps in range(1, 16):
        monkeypatch.setattr("reluscope.geometry.programs.convex_questions.MAX_CENTERING", steps)
        found = analytic_centers(body.bodies, body.start)
        assert found.values[0] <= truth + 1e-9
        assert truth <= found.values[0] + found.gaps[0] + 1e-9
        seen.append(truth - found.values[0])
    assert any(1e-4 < left < 0.3 for left in seen)
