"""Nearest points of images of polyhedra against SLSQP, nearest points of polyhedra, and unbounded cases by hand."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from reluscope.errors import SolverError
from reluscope.geometry.polyhedra.nearest_image import nearest_image
from reluscope.geometry.polyhedra.nearest_point import nearest_point
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.polyhedra.relative_interior import relative_interior
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramStatus


@settings(max_examples=60)
@given(st.integers(0, 2**20), st.integers(1, 4), st.integers(1, 4))
def test_no_point_of_the_image_is_nearer(seed, size, height):
    rng = np.random.default_rng(seed)
    rows = np.concatenate([rng.normal(size=(4, size)), np.eye(size), -np.eye(size)])
    body = Polyhedron(rows, np.concatenate([rng.uniform(0.1, 1, 4), np.ones(2 * size)]))
    weight, bias, y = rng.normal(size=(height, size)), rng.normal(size=height), 3 * rng.normal(size=height)
    if seed % 3 == 0 and height > 1:
        weight[0] = weight[-1]  # a flat image
    found = nearest_image(body, weight, bias, y)
    assert body.contains(found.point, 1e-8)
    assert found.distance == pytest.approx(np.linalg.norm(weight @ found.point + bias - y))
    assert found.lower == pytest.approx(found.distance, abs=1e-7)
    solved = minimize(
        lambda z: ((weight @ z + bias - y) ** 2).sum(),
        np.zeros(size),
        jac=lambda z: 2 * weight.T @ (weight @ z + bias - y),
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda z: body.b - body.A @ z, "jac": lambda z: -body.A},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    if body.contains(solved.x, 1e-8):
        assert found.distance <= np.sqrt(solved.fun) + 1e-6
        assert np.sqrt(solved.fun) >= found.lower - 1e-6
    identity = nearest_image(body, np.eye(size), np.zeros(size), 3 * rows[0])
    assert identity.distance == pytest.approx(nearest_point(body.A, body.b, 3 * rows[0]).distance, abs=1e-7)


def test_unbounded_empty_and_far_polyhedra():
    # The quadrant x_0, x_1 >= 1 seen from the origin, and its difference x_0 - x_1, which takes all values.
    quadrant = Polyhedron(-np.eye(2), [-1.0, -1.0])
    assert nearest_image(quadrant, np.eye(2), np.zeros(2), np.zeros(2)).distance == pytest.approx(np.sqrt(2))
    far = nearest_image(quadrant, np.eye(2), np.zeros(2), np.array([100.0, -3.0]))
    assert far.distance == pytest.approx(4.0)
    assert far.lower == pytest.approx(4.0)
    assert nearest_image(quadrant, np.array([[1.0, -1.0]]), np.zeros(1), np.array([-70.0])).distance < 1e-7
    assert nearest_image(quadrant, np.eye(2), np.zeros(2), np.zeros(2), bound=1.0).lower >= 1.0
    nothing = nearest_image(Polyhedron([[1.0], [-1.0]], [-1.0, 0.0]), np.eye(1), np.zeros(1), np.zeros(1))
    assert nothing.is_empty
    line = Polyhedron(np.zeros((0, 2)), np.zeros(0), [[1.0, 1.0]], [2.0])
    assert nearest_image(line, np.eye(2), np.zeros(2), np.zeros(2)).distance == pytest.approx(np.sqrt(2))


@given(st.integers(0, 2**20), st.integers(1, 4), st.integers(0, 3))
def test_hidden_equations_lower_the_dimension(seed, size, hidden):
    rng = np.random.default_rng(seed)
    hidden = min(hidden, size)
    inner = rng.normal(size=size)
    flats = np.linalg.qr(rng.normal(size=(size, size)))[0][:hidden]
    others = rng.normal(size=(5, size))
    rows = np.concatenate([flats, -2 * flats, others, np.eye(size), -np.eye(size)])
    values = np.concatenate([flats @ inner, -2 * flats @ inner, others @ inner + 0.3, inner + 1, 1 - inner])
    found = relative_interior(Polyhedron(rows, values))
    assert found is not None
    assert found.dim == size - hidden
    assert Polyhedron(rows, values).contains(found.point, 1e-8)
    slack = values - rows @ found.point
    assert (slack[2 * hidden :] > 1e-6).all() or found.dim == 0
    # A simplex pinched to its corner: all rows are equations together, none with a partner.
    pinched = Polyhedron(np.concatenate([-np.eye(size), np.ones((1, size))]), np.zeros(size + 1))
    found = relative_interior(pinched)
    assert found is not None
    assert found.dim == 0
    assert relative_interior(Polyhedron(pinched.A, np.append(np.zeros(size), -1.0))) is None


def lying(monkeypatch):
    """Let the solver call the first corner that it finds the best one of all, with its multipliers halved."""
    honest = LinearProgram.maximize

    def lie(self, objective):
        told = honest(self, 0 * objective)
        return told._replace(value=float(objective @ told.point))


def test_a_lying_solver_proves_nothing(monkeypatch):
    """The origin's image is at 3; the solver says that nothing is nearer, and half of that is true."""
    square = Polyhedron(np.concatenate([np.eye(2), -np.eye(2)]), np.ones(4))
    lying(monkeypatch)
    found = nearest_image(square, np.array([[1.0, 1.0]]), np.zeros(1), np.array([5.0]))
    assert found.lower <= 3.0 <= found.distance


def test_rounding_of_a_distance_is_taken_off():
    """Far from the origin sums lose digits: squares of bounds are below the truth in fractions."""
    random = np.random.default_rng(0)
    for _ in range(40):
        way = random.normal(size=2)
        bias, y = 1e9 * random.normal(size=2), random.normal(size=2)
        bias -= (bias @ way) / (way @ way) * way
        point = nearest_image(Polyhedron([[1.0], [-1.0]], [1.0, 1.0]), way[:, None], bias, y)
        exact = [Fraction(a) for a in way.tolist()]
        shift = [Fraction(a) - Fraction(b) for a, b in zip(bias.tolist(), y.tolist(), strict=True)]
        best = -sum(a * b for a, b in zip(exact, shift, strict=True)) / sum(a * a for a in exact)
        best = max(Fraction(-1), min(Fraction(1), best))
        square = sum((a * best + b) ** 2 for a, b in zip(exact, shift, strict=True))
        assert Fraction(point.lower) ** 2 <= square
        assert point.lower == pytest.approx(float(square) ** 0.5, rel=1e-9)


def test_emptiness_is_proved_or_not_claimed():
    by_much = Polyhedron([[1.0, 0.0], [-1.0, 0.0]], [-1.0, 0.0])
    assert nearest_image(by_much, np.eye(2), np.zeros(2), np.zeros(2)).is_empty
    equations = Polyhedron([[1.0, 0.0]], [-1.0], [[1.0, 1.0], [0.0, 1.0]], [0.0, 0.0])
    assert nearest_image(equations, np.eye(2), np.zeros(2), np.zeros(2)).is_empty


@pytest.mark.parametrize("factor", [0.0, 0.5])
def test_no_set_is_called_flat_on_a_solvers_word(factor, monkeypatch):
    """A square that a solver calls a point or empty is thick, by fractions, or an error where these take too long."""
    square = Polyhedron(np.concatenate([np.eye(2), -np.eye(2)]), np.ones(4))
    honest = LinearProgram.maximize

    def lie(self, objective):
        told = honest(self, objective)
        far = np.append(0 * told.point[:-1] + 1.0, 0.0)  # a corner, and no room
        return told._replace(value=0.0, point=far, duals=factor * told.duals)

    calls_it_empty = lambda self, c: honest(self, c)._replace(status=ProgramStatus.INFEASIBLE)  # noqa: E731
    for told in (lie, calls_it_empty):
        monkeypatch.setattr(LinearProgram, "maximize", told)
        found = relative_interior(square)
        assert (found.dim, found.radius > 0) == (2, True)
        with monkeypatch.context() as large:
            large.setattr("reluscope.geometry.polyhedra.relative_interior.MAX_DIMENSIONS", 1)
            with pytest.raises(SolverError, match="tell from a flat one"):
                relative_interior(square)
