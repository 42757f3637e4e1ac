"""Convex questions against closed forms, scipy's linear programs and general-purpose minimisers."""

import numpy as np
import pytest
import torch
from scipy.optimize import LinearConstraint, linprog, minimize
from scipy.special import log_softmax

import reluscope as rs
from geometry.bodies import bodies_of
from reluscope.geometry.polyhedra.interior import _by_interior_point
from reluscope.geometry.programs import convex_questions, interior_point
from reluscope.geometry.programs.convex_questions import (
    analytic_centers,
    largest_balls,
    likeliest_points,
    linear_maxima,
    widest_margins,
)
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramStatus


def unit(normals, offsets):
    lengths = np.linalg.norm(normals, axis=1)
    return normals / lengths[:, None], offsets / lengths


def radius_by_scipy(normals, offsets):
    dim = normals.shape[1]
    rows = np.column_stack([normals, np.ones(len(normals))])
    found = linprog(np.append(np.zeros(dim), -1.0), rows, offsets, bounds=(None, None), method="highs")
    assert found.status == 0
    return -found.fun


@pytest.mark.parametrize(("dim", "number"), [(1, 2), (2, 5), (5, 40), (30, 200)])
def test_radius_is_that_of_the_linear_program(dim, number):
    generator = np.random.default_rng(dim)
    normals, offsets = unit(generator.normal(size=(number, dim)), generator.uniform(0.1, 2.0, number))
    normals, offsets = np.r_[normals, np.eye(dim), -np.eye(dim)], np.r_[offsets, np.full(2 * dim, 3.0)]
    ball = _by_interior_point(normals, offsets)
    truth = radius_by_scipy(normals, offsets)
    assert ball.radius == pytest.approx(truth, rel=1e-6)
    assert ball.radius - 1e-12 <= truth <= ball.radius + ball.gap + 1e-9
    assert ball.gap <= 1e-6 * ball.radius
    directions = generator.normal(size=(500, dim))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    assert (normals @ (ball.center + ball.radius * directions).T <= offsets[:, None] + 1e-12).all()


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_scale_and_place_do_not_matter(size):
    normals = np.r_[np.eye(3), -np.eye(3)]
    place = size * np.array([5.0, -3.0, 100.0])
    offsets = normals @ place + size * np.array([2.0, 1.0, 3.0, 2.0, 1.0, 3.0])
    ball = _by_interior_point(normals, offsets)
    assert ball.radius == pytest.approx(size, rel=1e-6)
    assert ball.center[1] == pytest.approx(-3.0 * size, rel=1e-5)


def test_repeated_rows_and_columns_of_zeros():
    normals = np.repeat(np.c_[np.r_[np.eye(2), -np.eye(2)], np.zeros((4, 2))], 3, axis=0)
    assert _by_interior_point(normals, np.ones(12)).radius == pytest.approx(1.0, rel=1e-6)


def test_cones_hold_balls_of_every_size():
    generator = np.random.default_rng(0)
    normals = -np.abs(generator.normal(size=(40, 6)))
    normals, offsets = unit(normals, generator.normal(size=40))
    ball = _by_interior_point(normals, offsets)
    assert ball.radius == np.inf


@pytest.mark.parametrize("offset", [0.0, -1.0])
def test_flat_and_empty_polyhedra_are_left_to_others(offset):
    assert _by_interior_point(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([0.0, offset])) is None


def test_polyhedra_of_many_rows_go_this_way(monkeypatch):
    generator = np.random.default_rng(3)
    normals, offsets = generator.normal(size=(600, 25)), generator.uniform(0.5, 1.0, 600)
    quick = rs.Polyhedron(normals, offsets).insphere()
    monkeypatch.setattr("reluscope.geometry.polyhedra.interior.MANY_ENTRIES", 10**9)
    slow = rs.Polyhedron(normals, offsets).insphere()
    assert quick.radius == pytest.approx(slow.radius, rel=1e-7)
    assert quick.gap > 0


BOX = 2.0


def tables(dim, number, count, seed=0):
    """Return random bodies around the origin, each with a row more than the one before."""
    draw = np.random.default_rng(seed)
    sizes = range(number, number + count)
    return [(draw.standard_normal((size, dim)), draw.uniform(0.1, 3.0, size)) for size in sizes]


def zeros(count, dim):
    return torch.zeros(count, dim, dtype=torch.float64)


def by_scipy(A, b, gain, bounds=(-BOX, BOX)):
    found = linprog(-gain, A, b, bounds=bounds, method="highs-ds", options={"primal_feasibility_tolerance": 1e-10})
    assert found.status == 0
    return -found.fun


@pytest.mark.parametrize(("dim", "number"), [(1, 2), (2, 5), (6, 30), (25, 120)])
def test_linear_maxima_are_those_of_the_simplex_method(dim, number):
    bodies, draw = tables(dim, number, 4), np.random.default_rng(1)
    gains = draw.standard_normal((4, dim))
    found = linear_maxima(bodies_of(bodies, -BOX, BOX), zeros(4, dim), torch.from_numpy(gains))
    truth = np.array([by_scipy(A, b, gain) for (A, b), gain in zip(bodies, gains, strict=True)])
    assert np.abs(found.values - truth).max() <= 1e-7
    assert (truth <= found.values + found.gaps + 1e-8).all()
    assert (found.gaps <= 1e-7).all()
    for (A, b), point in zip(bodies, found.points, strict=True):
        assert (A @ point <= b).all()
        assert np.abs(point).max() <= BOX


@pytest.mark.parametrize(("dim", "number"), [(1, 2), (2, 5), (6, 30)])
def test_balls_of_many_bodies_at_once(dim, number):
    bodies = tables(dim, number, 5)
    found = largest_balls(bodies_of(bodies, -BOX, BOX), zeros(5, dim))
    for (A, b), radius, gap in zip(bodies, found.values, found.gaps, strict=True):
        walls = np.r_[A, np.eye(dim), -np.eye(dim)], np.r_[b, np.full(2 * dim, BOX)]
        assert radius == pytest.approx(rs.Polyhedron(*walls).insphere().radius, rel=1e-7)
        assert gap <= 1e-7 * radius


def test_balls_with_closed_forms():
    dim = 7
    simplex = np.r_[-np.eye(dim), np.ones((1, dim))], np.r_[np.zeros(dim), 1.0]
    found = largest_balls(bodies_of([simplex]), zeros(1, dim))
    assert found.values[0] == pytest.approx(1 / (dim + np.sqrt(dim)), rel=1e-8)
    cube = largest_balls(bodies_of([(np.zeros((0, dim)), np.zeros(0))], -1.0, 1.0), zeros(1, dim) + 0.3)
    assert cube.values[0] == pytest.approx(1.0, rel=1e-8)
    assert largest_balls(bodies_of([(-np.eye(2), np.zeros(2))]), zeros(1, 2)).values[0] == np.inf


def test_margins_are_those_of_the_simplex_method_and_signs_come_sooner():
    dim, draw = 5, np.random.default_rng(2)
    bodies = tables(dim, 20, 6)
    weights, biases = draw.standard_normal((6, 4, dim)), 2 * draw.standard_normal((6, 4))
    given = bodies_of(bodies, -BOX, BOX), zeros(6, dim), torch.from_numpy(weights), torch.from_numpy(biases)
    signs = set()
    for one in range(4):
        classes = torch.full((6,), one)
        found, sooner = widest_margins(*given, classes), widest_margins(*given, classes, is_sign_enough=True)
        for body, (A, b) in enumerate(bodies):
            others = np.delete(np.arange(4), one)
            rows = np.c_[weights[body, others] - weights[body, one], np.ones(3)]
            rows = np.r_[np.c_[A, np.zeros(len(A))], rows]
            offsets = np.r_[b, biases[body, one] - biases[body, others]]
            low, high = np.r_[np.full(dim, -BOX), -1e4], np.r_[np.full(dim, BOX), 1e4]
            truth = by_scipy(rows, offsets, np.r_[np.zeros(dim), 1.0], np.c_[low, high])
            assert found.values[body] == pytest.approx(truth, abs=1e-7)
            assert truth <= found.values[body] + found.gaps[body] + 1e-8
            assert (sooner.values[body] > 0) == (truth > 0)
            assert (sooner.values[body] + sooner.gaps[body] < 0) == (truth < 0)
            signs.add(bool(truth > 0))
    assert signs == {True, False}


def test_likeliest_points_against_a_general_minimiser():
    dim, draw = 3, np.random.default_rng(4)
    bodies, weights, biases = tables(dim, 8, 3), 2 * draw.standard_normal((3, 4, dim)), draw.standard_normal((3, 4))
    given = torch.from_numpy(weights), torch.from_numpy(biases)
    for one in range(4):
        found = likeliest_points(bodies_of(bodies, -BOX, BOX), zeros(3, dim), *given, torch.full((3,), one))
        for body, (A, b) in enumerate(bodies):
            truth = minimize(
                lambda x, body=body, one=one: -log_softmax(weights[body] @ x + biases[body])[one],
                np.zeros(dim),
                constraints=LinearConstraint(A, ub=b),
                bounds=[(-BOX, BOX)] * dim,
                method="SLSQP",
                options={"ftol": 1e-13, "maxiter": 500},
            )
            assert found.values[body] == pytest.approx(-truth.fun, abs=1e-6)
            assert -truth.fun <= found.values[body] + found.gaps[body] + 1e-7
            assert found.gaps[body] <= 1e-7


def test_analytic_centers():
    dim = 6
    simplex = np.r_[-np.eye(dim), np.ones((1, dim))], np.r_[np.zeros(dim), 1.0]
    found = analytic_centers(bodies_of([simplex]), zeros(1, dim) + 0.01)
    np.testing.assert_allclose(found.points, np.full((1, dim), 1 / (dim + 1)), atol=1e-9)
    assert found.gaps[0] < 1e-9


def test_analytic_centers_of_several_bodies_are_all_found():
    """One starts at its centre, the others have some way to go."""
    square = bodies_of([(np.zeros((0, 2)), np.zeros(0))] * 3, -1.0, 1.0)
    start = torch.tensor([[0.0, 0.0], [0.9, -0.99], [-0.5, 0.0]], dtype=torch.float64)
    found = analytic_centers(square, start)
    np.testing.assert_allclose(found.points, np.zeros((3, 2)), atol=1e-9)
    assert (found.gaps < 1e-15).all()
    np.testing.assert_allclose(found.values, np.zeros(3), atol=1e-12)
    # One has no centre, and the other one is found all the same.
    square = np.concatenate([np.eye(2), -np.eye(2)]), np.ones(4)
    strip = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.ones(2)
    found = analytic_centers(bodies_of([strip, square]), start[[1, 1]])
    np.testing.assert_allclose(found.points[1], np.zeros(2), atol=1e-9)
    assert found.gaps[0] == np.inf
    assert found.gaps[1] < 1e-15


def test_what_stalls_goes_to_the_simplex_method(monkeypatch):
    dim, bodies = 3, tables(3, 9, 2)
    gains = torch.from_numpy(np.random.default_rng(5).standard_normal((2, dim)))
    given = bodies_of(bodies, -BOX, BOX), zeros(2, dim), gains
    truth = linear_maxima(*given)
    monkeypatch.setattr("reluscope.geometry.programs.interior_point.MAX_STEPS", 1)
    found = linear_maxima(*given)
    np.testing.assert_allclose(found.values, truth.values, atol=1e-8)
    assert (found.gaps <= 1e-8).all()


def test_repeated_rows_and_thin_bodies():
    thin = np.r_[np.repeat(np.eye(3)[:1], 4, axis=0), -np.eye(3)[:1]], np.r_[np.full(4, 1e-6), 1e-6]
    found = largest_balls(bodies_of([thin], -1.0, 1.0), zeros(1, 3))
    assert found.values[0] == pytest.approx(1e-6, rel=1e-6)
    gain = torch.tensor([[1.0, 1.0, 0.0]]).double()
    assert linear_maxima(bodies_of([thin], -1.0, 1.0), zeros(1, 3), gain).values[0] == pytest.approx(1 + 1e-6, rel=1e-9)


def test_a_bound_that_is_wrong_would_be_seen(monkeypatch):
    """The proof is checked for what it proves: without the part that rounding leaves, it says too much."""
    monkeypatch.setattr("reluscope.geometry.programs.interior_point.MAX_STEPS", 3)
    monkeypatch.setattr(convex_questions, "_finished", lambda bodies, gains, answers, is_open: answers)
    bodies, draw = tables(6, 30, 8), np.random.default_rng(6)
    gains = draw.standard_normal((8, 6))
    found = linear_maxima(bodies_of(bodies, -BOX, BOX), zeros(8, 6), torch.from_numpy(gains))
    truth = np.array([by_scipy(A, b, gain) for (A, b), gain in zip(bodies, gains, strict=True)])
    assert (found.gaps > 1e-3).any()
    assert (truth <= found.values + found.gaps + 1e-9).all()


@pytest.mark.parametrize("ahead", [4.0, -4.0, 1e-12])
@pytest.mark.parametrize("is_sign_enough", [False, True])
def test_a_margin_that_is_the_same_everywhere(ahead, is_sign_enough):
    square, biases = bodies_of([(np.zeros((0, 2)), np.zeros(0))], -1.0, 1.0), torch.zeros(1, 2, dtype=torch.float64)
    biases[0, 0] = ahead
    weights = torch.ones(1, 2, 2, dtype=torch.float64)
    found = widest_margins(square, zeros(1, 2), weights, biases, torch.tensor([0]), is_sign_enough=is_sign_enough)
    assert found.values[0] <= ahead + 1e-15
    assert ahead <= found.values[0] + found.gaps[0] + 1e-15
    assert np.sign(found.values[0]) == np.sign(ahead)


@pytest.mark.parametrize(("ahead", "middle", "truth"), [(20.0, 10.0, 13.0), (-10.0, -10.0, 3.0), (0.0, 35.0, -32.0)])
def test_margins_far_above_what_either_part_of_them_says(ahead, middle, truth):
    """``20 - x`` around 10 is 13 at most, and ``-10 - x`` around -10 is 3: of that the slope adds -7, and 13."""
    interval = bodies_of([(np.zeros((0, 1)), np.zeros(0))], middle - 3, middle + 3)
    weights, biases = torch.tensor([[[0.0], [1.0]]]).double(), torch.tensor([[ahead, 0.0]]).double()
    found = widest_margins(interval, zeros(1, 1) + middle, weights, biases, torch.tensor([0]))
    assert found.values[0] == pytest.approx(truth, rel=1e-6)
    assert found.values[0] + found.gaps[0] >= truth - 1e-12


@pytest.mark.parametrize("is_sign_enough", [True, False])
def test_margins_end_with_their_time(is_sign_enough, monkeypatch):
    """Neither more steps nor the simplex method: what is known is what the first step shows."""
    monkeypatch.setattr(convex_questions, "LinearProgram", None)
    steps, proper = [], convex_questions.minimize
    monkeypatch.setattr(convex_questions, "minimize", lambda *given: steps.append(proper(*given)) or steps[-1])
    (A, b), draw = tables(5, 20, 1)[0], np.random.default_rng(2)
    weights, biases = (torch.from_numpy(draw.standard_normal(shape)) for shape in ((1, 4, 5), (1, 4)))
    given = bodies_of([(A, b)], -BOX, BOX), zeros(1, 5), weights, biases, torch.zeros(1, dtype=torch.int64)
    late = widest_margins(*given, is_sign_enough=is_sign_enough, until=0.0)
    assert steps[-1].steps == 1
    whole = widest_margins(*given)
    assert steps[-1].steps > 1
    assert late.values <= whole.values + 1e-9 <= late.values + late.gaps + 2e-9


def worst_of_solver(spoil):
    """Return a linear program whose answers are spoiled: what is proved must not hang on them."""

    class Spoiled(convex_questions.LinearProgram):
        def maximize(self, objective):
            return spoil(super().maximize(objective))

    return Spoiled


@pytest.mark.few(13)
@pytest.mark.parametrize(
    "spoil",
    [
        lambda found: found._replace(duals=0 * found.duals),
        lambda found: found._replace(duals=0.5 * found.duals),
        lambda found: found._replace(duals=-found.duals - 1.0),
        lambda found: found._replace(duals=found.duals[:0]),
        lambda found: found._replace(duals=2.0 * found.duals, point=0.5 * found.point, value=0.5 * found.value),
        lambda found: found._replace(duals=found.duals + np.random.default_rng(0).random(len(found.duals))),
    ],
)
@pytest.mark.parametrize("seed", range(4))
def test_bounds_hold_whatever_multipliers_the_solver_gives(monkeypatch, spoil, seed):
    """Bounds of variables prove their share: with rows alone, or with multipliers that are off, gaps would be short."""
    generator = np.random.default_rng(seed)
    rows, offsets = unit(generator.normal(size=(6, 4)), generator.uniform(0.2, 1.0, 6))
    lower, upper = -generator.uniform(0.2, 2.0, 4), generator.uniform(0.2, 2.0, 4)
    gain = generator.normal(size=4)
    truth = -linprog(-gain, rows, offsets, bounds=np.c_[lower, upper]).fun
    bodies = bodies_of([(rows, offsets)], lower, upper)
    start = torch.zeros(1, 4, dtype=torch.float64)
    monkeypatch.setattr(convex_questions, "LinearProgram", worst_of_solver(spoil))
    monkeypatch.setattr(
        convex_questions,
        "_answers",
        lambda found, values: convex_questions.Answers(start.numpy(), np.full(1, -np.inf), np.zeros(1)),
    )
    monkeypatch.setattr(
        convex_questions, "within", lambda *_: lambda values, bounds: torch.zeros_like(values, dtype=torch.bool)
    )
    found = linear_maxima(bodies, start, torch.tensor(gain[None]))
    assert np.isfinite(found.values[0])
    assert found.values[0] <= truth + 1e-9
    assert found.values[0] + found.gaps[0] >= truth - 1e-12


def test_without_rows_the_bounds_of_variables_are_the_whole_proof(monkeypatch):
    bodies = bodies_of([(np.zeros((0, 2)), np.zeros(0))], -1.0, 2.0)
    start = torch.zeros(1, 2, dtype=torch.float64)
    short = worst_of_solver(lambda found: found._replace(point=found.point / 2, value=found.value / 2))
    monkeypatch.setattr(convex_questions, "LinearProgram", short)
    monkeypatch.setattr(
        convex_questions,
        "_answers",
        lambda found, values: convex_questions.Answers(start.numpy(), np.full(1, -np.inf), np.zeros(1)),
    )
    monkeypatch.setattr(
        convex_questions, "within", lambda *_: lambda values, bounds: torch.zeros_like(values, dtype=torch.bool)
    )
    found = linear_maxima(bodies, start, torch.tensor([[3.0, -1.0]], dtype=torch.float64))
    assert found.values[0] == 3.5
    assert 3.5 <= found.gaps[0] <= 3.5 + 1e-13


def test_the_simplex_method_does_not_make_answers_worse(monkeypatch):
    """A better point that is there already stays, with its gap."""
    bodies = bodies_of([(np.zeros((0, 1)), np.zeros(0))], -1.0, 1.0)
    start = torch.zeros(1, 1, dtype=torch.float64)
    worse = worst_of_solver(lambda found: found._replace(point=found.point - 1.0, value=found.value - 1.0))
    monkeypatch.setattr(convex_questions, "LinearProgram", worse)
    monkeypatch.setattr(
        convex_questions,
        "_answers",
        lambda found, values: convex_questions.Answers(np.ones((1, 1)), np.ones(1), np.full(1, 0.5)),
    )
    monkeypatch.setattr(
        convex_questions, "within", lambda *_: lambda values, bounds: torch.zeros_like(values, dtype=torch.bool)
    )
    found = linear_maxima(bodies, start, torch.ones(1, 1, dtype=torch.float64))
    assert (found.values[0], found.gaps[0]) == (1.0, 0.5)


def test_gaps_are_never_negative_though_a_solver_s_value_is_above_the_proof(monkeypatch):
    bodies = bodies_of([(np.zeros((0, 1)), np.zeros(0))], -1.0, 1.0)
    start = torch.zeros(1, 1, dtype=torch.float64)
    above = worst_of_solver(lambda found: found._replace(value=found.value + 1e-9))
    monkeypatch.setattr(convex_questions, "LinearProgram", above)
    monkeypatch.setattr(
        convex_questions,
        "_answers",
        lambda found, values: convex_questions.Answers(start.numpy(), np.full(1, -np.inf), np.zeros(1)),
    )
    monkeypatch.setattr(
        convex_questions, "within", lambda *_: lambda values, bounds: torch.zeros_like(values, dtype=torch.bool)
    )
    assert linear_maxima(bodies, start, torch.ones(1, 1, dtype=torch.float64)).gaps[0] == 0.0


def test_rows_that_only_fill_up_a_table_make_no_body_endless():
    triangle = (np.array([[-1.0, 0.0], [0.0, -1.0], [4.0, 3.0]]), np.array([0.0, 0.0, 12.0]))
    wedge = (np.array([[-1.0, 0.0], [0.0, -1.0]]), np.zeros(2))
    bodies = bodies_of([triangle, wedge, (np.zeros((0, 2)), np.zeros(0)), triangle])
    found = largest_balls(bodies, torch.ones(4, 2, dtype=torch.float64))
    assert found.values == pytest.approx([1.0, np.inf, np.inf, 1.0])
    four = (np.concatenate([triangle[0], [[1.0, 1.0]]]), np.append(triangle[1], 99.0))
    found = largest_balls(bodies_of([triangle, four]), torch.ones(2, 2, dtype=torch.float64))
    assert found.values == pytest.approx([1.0, 1.0])


def test_bodies_around_the_origin_are_not_endless():
    square = (np.concatenate([np.eye(2), -np.eye(2)]), np.ones(4))
    found = largest_balls(bodies_of([square]), torch.zeros(1, 2, dtype=torch.float64))
    assert found.values == pytest.approx([1.0])


def not_begun(bodies, objective, start, is_done):
    """Leave everything open: the start is the best point, and nothing is proved."""
    values = objective(start, torch.arange(len(start))).value
    return convex_questions.Minima(start, values, torch.full_like(values, torch.inf), torch.zeros(1, 4), 0)


def test_what_is_left_open_goes_to_the_simplex_method(monkeypatch):
    monkeypatch.setattr(convex_questions, "minimize", not_begun)
    square = bodies_of([(np.zeros((0, 2)), np.zeros(0))], -1.0, 1.0)
    gain = torch.ones(1, 2, dtype=torch.float64)
    found = linear_maxima(square, 0 * gain, gain)
    assert found.values[0] == 2.0
    assert 0.0 <= found.gaps[0] <= 1e-13
    assert convex_questions.point_beyond(square, gain, 1.9).sum() > 1.9
    assert convex_questions.point_beyond(square, gain, 2.1) is None
    assert convex_questions.point_beyond(square, gain, 2.0) is None  # it is not passed
    # A start that is the answer already, of which nothing is proved.
    monkeypatch.setattr(
        convex_questions,
        "_answers",
        lambda found, values: convex_questions.Answers(np.ones((1, 2)), np.array([2.0]), np.array([np.inf])),
    )
    found = linear_maxima(square, 0 * gain, gain)
    assert found.values[0] == 2.0
    assert 0.0 <= found.gaps[0] <= 1e-13


def test_multipliers_below_zero_prove_nothing(monkeypatch):
    """``x <= 5`` times -1 is no consequence of it; the bound ``x <= 1`` is what proves."""
    bodies = bodies_of([(np.array([[1.0]]), np.array([5.0]))], -1.0, 1.0)
    wrong = worst_of_solver(
        lambda found: found._replace(duals=-np.ones(1), point=found.point / 2, value=found.value / 2)
    )
    monkeypatch.setattr(convex_questions, "LinearProgram", wrong)
    monkeypatch.setattr(convex_questions, "minimize", not_begun)
    start = torch.zeros(1, 1, dtype=torch.float64)
    found = linear_maxima(bodies, start, torch.ones(1, 1, dtype=torch.float64))
    assert found.values[0] == 0.5
    assert 0.5 <= found.gaps[0] <= 0.5 + 1e-13


def test_rows_prove_their_share_as_well(monkeypatch):
    bodies = bodies_of([(np.array([[1.0]]), np.array([0.5]))], -10.0, 10.0)
    short = worst_of_solver(
        lambda found: found._replace(duals=np.ones(1), point=found.point / 2, value=found.value / 2)
    )
    monkeypatch.setattr(convex_questions, "LinearProgram", short)
    monkeypatch.setattr(convex_questions, "minimize", not_begun)
    start = torch.zeros(1, 1, dtype=torch.float64)
    found = linear_maxima(bodies, start, torch.ones(1, 1, dtype=torch.float64))
    assert found.values[0] == 0.25
    assert 0.25 <= found.gaps[0] <= 0.25 + 1e-13


def test_no_end_is_a_claim_that_a_way_proves(monkeypatch):
    """A solver that calls a square endless leaves a gap, not a value."""
    square = bodies_of([(np.array([[1.0, 1.0]]), np.ones(1))], -1.0, 1.0)
    start, gain = torch.zeros(1, 2, dtype=torch.float64), torch.ones(1, 2, dtype=torch.float64)
    honest = LinearProgram.maximize
    half = bodies_of([(np.array([[1.0, -1.0]]), np.ones(1))], -np.inf, np.inf)
    endless = convex_questions._finished(
        half, gain, convex_questions.Answers(np.zeros((1, 2)), np.zeros(1), np.ones(1)), np.ones(1, dtype=bool)
    )
    assert endless.values[0] == np.inf

    def lie(self, objective):
        return honest(self, objective)._replace(status=ProgramStatus.UNBOUNDED, value=np.inf)

    monkeypatch.setattr(LinearProgram, "maximize", lie)
    answers = convex_questions.Answers(start.numpy(), np.zeros(1), np.ones(1))
    found = convex_questions._finished(square, gain, answers, np.ones(1, dtype=bool))
    assert found.values[0] == 0.0
    assert found.gaps[0] == np.inf


def test_margins_from_a_start_at_which_classes_tie():
    square, weights = bodies_of([(np.zeros((0, 2)), np.zeros(0))], -1.0, 1.0), torch.zeros(1, 2, 2).double()
    weights[0, 0, 0] = 1.0
    found = widest_margins(square, zeros(1, 2), weights, torch.zeros(1, 2).double(), torch.tensor([0]))
    assert found.values[0] == pytest.approx(1.0, rel=1e-8)
    assert found.values[0] + found.gaps[0] >= 1.0 - 1e-15


@pytest.mark.parametrize("offsets", [[-1.0, -2.0], [3.0, 0.5], [0.0, -4.0]])
def test_balls_without_end_have_a_centre_well_inside(offsets):
    """As far from every row as rows are from the origin."""
    wedge = np.array([[-1.0, 0.0], [0.0, -1.0]]), np.array(offsets)
    found = largest_balls(bodies_of([wedge]), torch.full((1, 2), 5.0, dtype=torch.float64))
    assert found.values[0] == np.inf
    slack = wedge[1] - wedge[0] @ found.points[0]
    assert (slack >= np.abs(offsets).max() * (1 - 1e-9)).all()
    assert np.abs(found.points).max() <= 1e3 * np.abs(offsets).max()


@pytest.mark.parametrize("gap", [0.0, 0.5, 40.0, np.inf])
def test_gaps_of_logarithms_are_those_of_what_was_minimised(monkeypatch, gap):
    """Of log(1 + exp g), with g known from below by its gap: all of it where nothing is known."""

    def stopped(bodies, objective, start, is_done):
        values = objective(start, torch.arange(len(start))).value
        return convex_questions.Minima(start, values, torch.full_like(values, gap), torch.zeros(1, 4), 0)

    monkeypatch.setattr(convex_questions, "minimize", stopped)
    square, biases = bodies_of([(np.zeros((0, 2)), np.zeros(0))], -1.0, 1.0), torch.tensor([[1.0, 3.0]]).double()
    found = likeliest_points(square, zeros(1, 2), torch.zeros(1, 2, 2).double(), biases, torch.tensor([0]))
    assert found.values[0] == pytest.approx(-np.log1p(np.exp(2.0)))
    assert found.gaps[0] == pytest.approx(np.log1p(np.exp(2.0)) - np.log1p(np.exp(2.0 - gap)), abs=1e-15)


@pytest.mark.parametrize("start", [0.05, 0.1, 0.15, 0.25, 0.5, 0.9])
def test_steps_to_a_centre_are_damped_while_they_are_long(monkeypatch, start):
    """Of ``log(1 - x) + log(1 + x)``: with Newton's decrement d above a quarter, 1 / (1 + d) of its step."""
    monkeypatch.setattr(convex_questions, "MAX_CENTERING", 1)
    interval = bodies_of([(np.zeros((0, 1)), np.zeros(0))], -1.0, 1.0)
    found = analytic_centers(interval, torch.full((1, 1), start, dtype=torch.float64))
    slope, bend = 1 / (1 - start) - 1 / (1 + start), 1 / (1 - start) ** 2 + 1 / (1 + start) ** 2
    decrement = slope / bend**0.5
    length = 1 / (1 + decrement) if decrement > 0.25 else 1.0
    x = start - length * slope / bend
    assert found.points[0, 0] == pytest.approx(x, rel=1e-12)
    assert found.values[0] == pytest.approx(np.log1p(x) + np.log1p(-x), rel=1e-12)
    gap = -decrement - np.log1p(-decrement) if decrement < 0.5 else np.inf
    assert found.gaps[0] == pytest.approx(gap, rel=1e-12, abs=0)


def test_bodies_are_asked_as_if_each_were_alone():
    """A body with fewer rows than others is filled up with empty ones, of which nothing may depend."""
    generator, tables = np.random.default_rng(0), []
    for missing in (0, 9):  # in so many dimensions the heaviest rows alone are factorised, and the rest by their means
        normals = generator.normal(size=(300 - missing, 130))
        tables.append(unit(normals, generator.uniform(0.1, 2.0, len(normals))))
    start = torch.zeros(2, 130, dtype=torch.float64)
    together = largest_balls(bodies_of(tables, -3.0, 3.0), start)
    alone = [largest_balls(bodies_of([one], -3.0, 3.0), start[:1]) for one in tables]
    assert together.values == pytest.approx(np.concatenate([one.values for one in alone]), rel=1e-11)


def test_no_body_is_proved_because_another_one_is(monkeypatch):
    """With proofs that always hold, each body ends where its own step is promising, whatever others are beside it."""
    monkeypatch.setattr(
        interior_point, "_proof", lambda bodies, system, here, points, slacks, proof: (proof, here.value)
    )
    generator = np.random.default_rng(0)
    tables = [
        unit(generator.normal(size=(40, 6)), size * generator.uniform(0.1, 2.0, 40)) for size in (1.0, 1e3, 1e-3, 1.0)
    ]
    start = torch.zeros(4, 6, dtype=torch.float64)
    together = largest_balls(bodies_of(tables, -3.0, 3.0), start)
    alone = [largest_balls(bodies_of([one], -3.0, 3.0), start[:1]) for one in tables]
    assert together.values == pytest.approx(np.concatenate([one.values for one in alone]), rel=1e-13)


@pytest.mark.parametrize(("lower", "upper"), [(0.0, 1.0), (0.0, np.inf), (-np.inf, 1.0), (-np.inf, np.inf)])
def test_balls_without_rows_end_at_the_bounds_of_any_direction(lower, upper):
    none = [(np.zeros((0, 2)), np.zeros(0))]
    both = largest_balls(bodies_of(none, [0.0, lower], [1.0, upper]), torch.full((1, 2), 0.5, dtype=torch.float64))
    assert both.values[0] == pytest.approx(0.5)
