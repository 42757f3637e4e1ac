"""The dual active-set method by what proves its answers: tight rows, multipliers, and how exactly both hold."""

import time

import numpy as np
import pytest

from reluscope import _kernels
from reluscope.geometry.programs.active_set import BEYOND, EMPTY, FOUND, STALLED, shortest_vector


def problem(seed, dim, height, *, num_equations=0, bounded=False):
    """Rows of length 1 around a point far from 0, the first ones through it, and bounds on either side of it."""
    draw = np.random.default_rng(seed)
    rows = draw.normal(size=(height, dim))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    point = 3.0 * draw.normal(size=dim)
    slack = rows @ point + 0.3 * draw.exponential(size=height)
    slack[:num_equations] = rows[:num_equations] @ point
    width = draw.exponential(size=(2, dim)) if bounded else np.full((2, dim), np.inf)
    return rows, slack, point - width[0], point + width[1]


def check(rows, slack, lower, upper, num_equations=0, tolerance=1e-12):
    """Check the conditions of Karush, Kuhn and Tucker; return what was found."""
    found = shortest_vector(
        rows, slack, num_equations=num_equations, lower=lower, upper=upper, bound=np.inf, tolerance=tolerance
    )
    assert found.status == FOUND
    u, off = found.vector, rows @ found.vector - slack
    np.testing.assert_allclose(u, -found.rows @ rows - found.upper + found.lower, atol=1e-11)
    assert off.max() <= 2 * tolerance
    assert (np.abs(off[:num_equations]) <= 2 * tolerance).all()
    assert (found.rows[num_equations:] >= -1e-12).all()
    assert (np.abs(off[found.rows != 0]) <= 1e-13 * (1 + np.abs(slack).max())).all()
    for multipliers, gap in ((found.upper, upper - u), (found.lower, u - lower)):
        assert (multipliers >= -1e-12).all()
        assert (np.abs(gap[multipliers != 0]) <= 1e-13 * (1 + np.abs(u).max())).all()
    return found


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("dim", [1, 2, 5, 15, 16, 17, 23, 32, 41])  # sums are taken in blocks of 16
def test_conditions_of_the_shortest_vector(dim, bounded):
    for seed in range(8):
        for number in (0, dim // 3):
            check(*problem(seed, dim, 3 * dim, num_equations=number, bounded=bounded), num_equations=number)


@pytest.mark.parametrize("angle", [1e-3, 1e-5, 1e-7])
def test_rows_at_small_angles_stay_tight(angle):
    """One pass of orthogonalisation leaves rounding over the angle."""
    draw = np.random.default_rng(0)
    none = np.full(20, np.inf)
    for _ in range(20):
        first, second = np.linalg.qr(draw.normal(size=(20, 2)))[0].T
        rows = np.array([first, first + angle * second])
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        point = -(rows[0] + second)
        found = check(rows, rows @ point, -none, none, num_equations=2)
        assert np.abs(rows @ found.vector - rows @ point).max() <= 5e-16


def test_contradictions_and_bounds():
    none = np.full(2, np.inf)
    rows = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    options = {"num_equations": 0, "lower": -none, "upper": none, "tolerance": 1e-12}
    found = shortest_vector(rows, np.array([-2.0, 1.0, 0.0]), bound=np.inf, **options)
    assert found.status == EMPTY
    np.testing.assert_array_equal(found.rows, [1.0, 1.0, 0.0])  # they add up to 0 <= -1
    assert shortest_vector(rows, np.array([-2.0, 3.0, 0.0]), bound=1.5, **options).status == BEYOND
    assert shortest_vector(rows, np.array([-2.0, 3.0, 0.0]), bound=2.5, **options).status == FOUND
    twice = shortest_vector(
        np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([-2.0, -2.0]), bound=np.inf, **{**options, "num_equations": 2}
    )
    np.testing.assert_array_equal(twice.vector, [-2.0, 0.0])


def test_a_search_in_which_rounding_alone_is_left_ends():
    """Where nothing counts as rounding, the search goes round in circles wherever it is, and makes all steps."""
    draw, num_rows, dim = np.random.default_rng(0), 200, 120
    rows = draw.normal(size=(num_rows, dim))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    slack = rows @ draw.uniform(-3, 3, dim) + 0.1 * np.abs(draw.normal(size=num_rows))
    free = np.full(dim, np.inf)

    def search(tolerance):
        began = time.process_time()
        found = shortest_vector(
            rows, slack, num_equations=0, lower=-free, upper=free, bound=np.inf, tolerance=tolerance
        )
        return found, time.process_time() - began

    (found, seconds), (stalled, longer) = min((search(1e-12) for _ in range(3)), key=lambda one: one[1]), search(0.0)
    assert (found.status, stalled.status) == (FOUND, STALLED)
    # The length only grows; where the circles begin depends on the last bits of the rows.
    assert 0 < np.linalg.norm(stalled.vector) <= np.linalg.norm(found.vector) * (1 + 1e-9)
    assert longer < 20 * seconds


def test_shapes_that_do_not_belong_together():
    rows, two, three = np.eye(3, 2), np.zeros(2), np.zeros(3)
    for slack, number, lower, upper in (
        (two, 0, two, two),
        (three, 4, two, two),
        (three, 0, three, two),
        (three, 0, two, three),
    ):
        with pytest.raises(ValueError, match="expected a slack of every row"):
            _kernels.shortest_vector(rows, slack, number, lower, upper, np.inf, 0.0)
