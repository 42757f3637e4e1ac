"""Nearest points against linear programs and least squares of scipy, closed forms, and certificates by hand."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog, nnls

from reluscope.errors import SolverError
from reluscope.geometry.numbers.norms import Norm
from reluscope.geometry.polyhedra import nearest_point as module
from reluscope.geometry.polyhedra.nearest_point import nearest_point
from reluscope.geometry.programs.active_set import STALLED

NORMS = ("l1", "l2", "linf")
entries = st.integers(-4, 4).map(float)


def by_scipy(A, b, x, norm):
    """Return the distance by scipy; None if the polyhedron is empty."""
    number, dim = A.shape
    slack = b - A @ x
    if norm == "l2":
        weights, residual = nnls(np.vstack([-A.T, -slack]), np.append(np.zeros(dim), 1.0))
        last = 1 - (-slack @ weights)
        return None if residual < 1e-8 else float(np.linalg.norm(A.T @ weights) / last)
    identity = np.eye(dim)
    if norm == "l1":
        rows = np.block([[A, np.zeros((number, dim))], [identity, -identity], [-identity, -identity]])
        cost = np.append(np.zeros(dim), np.ones(dim))
    else:
        ones = np.ones((dim, 1))
        rows = np.block([[A, np.zeros((number, 1))], [identity, -ones], [-identity, -ones]])
        cost = np.append(np.zeros(dim), 1.0)
    found = linprog(cost, rows, np.append(slack, np.zeros(2 * dim)), bounds=(None, None))
    return None if found.status == 2 else found.fun


@st.composite
def polyhedra(draw):
    """Few small integers: rows that repeat, vanish, oppose and contradict each other are common."""
    dim = draw(st.integers(1, 4))
    number = draw(st.integers(0, 9))
    table = np.array(draw(st.lists(entries, min_size=number * (dim + 1), max_size=number * (dim + 1))))
    table = table.reshape(number, dim + 1)
    return table[:, :dim].copy(), table[:, dim].copy(), np.array(draw(st.lists(entries, min_size=dim, max_size=dim)))


@given(polyhedra(), st.sampled_from(NORMS))
def test_distances_are_those_of_scipy_and_carry_their_proof(polyhedron, norm):
    A, b, x = polyhedron
    truth = by_scipy(A, b, x, norm) if len(A) else 0.0
    found = nearest_point(A, b, x, norm=Norm(norm))
    assert (found.multipliers >= 0).all()
    if truth is None:
        assert found.is_empty
        assert np.isnan(found.point).all()
        assert np.allclose(A.T @ found.multipliers, 0, atol=1e-9)
        assert found.multipliers @ b < 0
        return
    assert found.distance == pytest.approx(truth, abs=1e-7)
    assert (A @ found.point <= b + 1e-8).all()
    assert Norm(norm).size(found.point - x) == pytest.approx(found.distance)
    assert found.gap <= 1e-8
    if found.distance > 1e-6:  # the bound again, from the multipliers alone
        form = A.T @ found.multipliers
        assert found.multipliers @ (A @ x - b) / Norm(norm).dual.size(form) == pytest.approx(truth, abs=1e-6)


@given(polyhedra(), st.sampled_from(NORMS))
def test_bounds_and_equations_are_rows(polyhedron, norm):
    A, b, x = polyhedron
    dim = len(x)
    low, high = x - np.arange(dim), x + 2.0
    high[0] = np.inf
    identity = np.eye(dim)
    rows = np.concatenate([A[1:], identity[1:], -identity, A[:1], -A[:1]])
    offsets = np.concatenate([b[1:], high[1:], -low, b[:1], -b[:1]])
    as_rows = nearest_point(rows, offsets, x, norm=Norm(norm))
    found = nearest_point(A[1:], b[1:], x, A[:1], b[:1], norm=Norm(norm), lower=low, upper=high)
    assert found.is_empty == as_rows.is_empty
    if not found.is_empty:
        assert found.distance == pytest.approx(as_rows.distance, abs=1e-8)
        assert found.gap <= 1e-8
    elif norm == "l2":
        form = A[1:].T @ found.multipliers + A[:1].T @ found.equation_multipliers + found.bound_multipliers
        value = found.multipliers @ b[1:] + found.equation_multipliers @ b[:1]
        up = found.bound_multipliers > 0
        value += found.bound_multipliers[up] @ high[up] + found.bound_multipliers[~up] @ low[~up]
        assert np.allclose(form, 0, atol=1e-9)
        assert value < 0


@pytest.mark.parametrize("norm", NORMS)
def test_a_half_space_in_many_dimensions_has_its_closed_form(norm):
    rng = np.random.default_rng(0)
    a, x = rng.normal(size=300), rng.normal(size=300)
    others = rng.normal(size=(200, 300))
    step = 3.0 * Norm(norm).steepest(a[None])[0]
    A = np.concatenate([-a[None], others])
    b = np.append(-a @ (x + step), others @ (x + step) + 0.1)
    found = nearest_point(A, b, x, norm=Norm(norm))
    assert found.distance == pytest.approx(3.0, rel=1e-9)
    assert found.gap <= 1e-9


@pytest.mark.parametrize("norm", NORMS)
def test_stops_at_the_bound(norm):
    A, b = np.array([[-1.0, 0.0], [0.0, -1.0], [-1.0, -1.0]]), np.array([-1.0, -1.0, -5.0])
    whole = nearest_point(A, b, np.zeros(2), norm=Norm(norm))
    beyond = nearest_point(A, b, np.zeros(2), norm=Norm(norm), bound=0.9 * whole.distance)
    assert beyond.distance == np.inf
    assert not beyond.is_empty
    assert 0.9 * whole.distance <= beyond.lower <= whole.distance * (1 + 1e-12)
    assert nearest_point(A, b, np.zeros(2), norm=Norm(norm), bound=1.1 * whole.distance).distance == whole.distance


@pytest.fixture
def stalled(monkeypatch):
    shortest = module.shortest_vector
    monkeypatch.setattr(module, "shortest_vector", lambda *a, **k: shortest(*a, **k)._replace(status=STALLED))


@pytest.mark.usefixtures("stalled")
def test_least_squares_take_over_from_a_method_that_stalls(monkeypatch):
    rng = np.random.default_rng(1)
    A, p = rng.normal(size=(20, 4)), rng.normal(size=4)
    b = A @ p + 0.1 * rng.exponential(size=20)
    found = nearest_point(A[1:], b[1:], np.zeros(4), A[:1], A[:1] @ p, lower=p - 0.1, upper=p + 0.1)
    monkeypatch.undo()
    truth = nearest_point(A[1:], b[1:], np.zeros(4), A[:1], A[:1] @ p, lower=p - 0.1, upper=p + 0.1)
    assert found.distance == pytest.approx(truth.distance, rel=1e-9)
    assert found.gap <= 1e-9


@pytest.mark.usefixtures("stalled")
def test_least_squares_see_contradictions_and_say_when_they_fail(monkeypatch):
    A, b = np.array([[1.0], [-1.0]]), np.array([-1.0, 0.0])
    assert nearest_point(A, b, np.zeros(1)).is_empty

    def fail(*_):
        raise RuntimeError("too many iterations")

    monkeypatch.setattr(module, "nnls", fail)
    with pytest.raises(SolverError, match="two methods"):
        nearest_point(A, b, np.zeros(1))


@pytest.mark.parametrize("norm", NORMS)
def test_many_bounds_in_many_dimensions(norm):
    rng = np.random.default_rng(4)
    dim = 80
    A, p = rng.normal(size=(6, dim)), rng.uniform(0, 1, dim)
    x = np.where(rng.uniform(size=dim) < 0.5, 0.0, rng.uniform(0, 1, dim))
    b = A @ p
    found = nearest_point(A, b, x, norm=Norm(norm), lower=np.zeros(dim), upper=np.ones(dim), bound=50.0)
    assert found.gap <= 1e-8
    assert ((found.point >= -1e-9) & (found.point <= 1 + 1e-9)).all()
    identity = np.eye(dim)
    rows, offsets = np.concatenate([A, identity, -identity]), np.concatenate([b, np.ones(dim), np.zeros(dim)])
    assert found.distance == pytest.approx(by_scipy(rows, offsets, x, norm), rel=1e-7)
    bounds = {"lower": np.zeros(dim), "upper": np.ones(dim)}
    beyond = nearest_point(A, b, x, norm=Norm(norm), bound=0.9 * found.distance, **bounds)
    assert beyond.distance == np.inf
    assert not beyond.is_empty
    contrary = nearest_point(
        np.concatenate([A, -A[:1]]), np.append(b, -b[0] - 1), x, norm=Norm(norm), bound=50.0, **bounds
    )
    assert contrary.distance == np.inf


def exact_square(A, b, x, multipliers):
    """Return the square of ``m (A x - b) / |A' m|`` in fractions, and whether the value is positive."""
    weights = [Fraction(entry) for entry in multipliers.tolist()]
    rows = [[Fraction(entry) for entry in row] for row in A.tolist()]
    point = [Fraction(entry) for entry in x.tolist()]
    value = sum(
        w * (sum(a * c for a, c in zip(row, point, strict=True)) - Fraction(end))
        for w, row, end in zip(weights, rows, b.tolist(), strict=True)
    )
    form = [sum(w * row[axis] for w, row in zip(weights, rows, strict=True)) for axis in range(len(x))]
    return value, sum(entry * entry for entry in form)


@pytest.mark.few(2)
@pytest.mark.parametrize("offset", [1.0, 1e8, 1e12])
def test_rounding_is_taken_off_bounds(offset):
    """A half-space at the distance of its closed form, far from the origin: sums lose digits, and bounds must not."""
    random, num_over = np.random.default_rng(3), 0
    for _ in range(60):
        dim = int(random.integers(2, 6))
        a, x = random.normal(size=dim), offset * random.normal(size=dim)
        b = np.array([a @ x - random.random()])
        value, square = exact_square(a[None], b, x, np.ones(1))
        for norm in NORMS:
            found = nearest_point(a[None], b, x, norm=Norm(norm))
            below = Fraction(found.lower)
            length = {"l2": None, "l1": max(map(abs, a.tolist())), "linf": sum(map(Fraction, np.abs(a).tolist()))}[norm]
            truth = max(value, Fraction(0)) ** 2 / (square if length is None else Fraction(length) ** 2)
            assert below**2 <= truth
            num_over += Fraction(found.distance) ** 2 > truth
    assert num_over > 5


def test_contradictions_by_less_than_floats_show_are_not_called_empty():
    """x + y <= 0 and x + y >= tiny turned by a last bit: points that fulfil both are far away."""
    A = np.array([[1.0, 1.0], [-1.0, -1.0 - 2**-52]])
    found = nearest_point(A, np.array([0.0, -1.0]), np.zeros(2))
    assert not found.is_empty
    assert found.lower > 1e13
    within = nearest_point(A, np.array([0.0, -1.0]), np.zeros(2), lower=-np.ones(2), upper=np.ones(2))
    assert within.is_empty
    # With opposite rows it is true.
    assert nearest_point(np.array([[0.1, 0.7], [-0.1, -0.7]]), np.array([0.0, -1.0]), np.zeros(2)).is_empty
