"""Functions of one variable as networks: the corrected lemma, the sine of figure 5.4, errors that are proved."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from reluscope.errors import InputError, ShapeError
from reluscope.testing import dyadics
from reluscope_studies.interpolation import error_upper, errors_at, interpolate, least_squares


def lemma_matrix(size, leak):
    """Slopes of the pieces by the weights of the units, as A.14 should be."""
    return np.where(np.tri(size, dtype=bool), 1.0, leak)


def weights(found):
    return found.module[2].weight.detach().numpy()[0]


@pytest.mark.parametrize("leak", [0.0, 0.1, 0.5])
def test_the_matrix_of_the_lemma(leak):
    generator = np.random.default_rng(0)
    knots, values = np.sort(generator.normal(size=6)), generator.normal(size=6)
    found = interpolate(knots, values, leak=leak)
    assert np.allclose(lemma_matrix(5, leak) @ weights(found), found.slopes)
    transposed = lemma_matrix(5, leak).T @ weights(found)
    assert not np.allclose(transposed, found.slopes)  # as it is printed
    inverse = np.linalg.inv(lemma_matrix(4, 0.1))
    assert np.allclose([inverse[0, 0], inverse[1, 0], inverse[0, 3]], [1 / 0.9, -1 / 0.9, -0.1 / 0.9])


@settings(max_examples=8, deadline=None)
@given(
    st.lists(dyadics(4.0), min_size=2, max_size=5, unique=True).map(sorted),
    st.lists(dyadics(), min_size=5, max_size=5),
    st.sampled_from([0.0, 0.5]),
)
def test_values_at_the_knots(knots, values, leak):
    found = interpolate(knots, values[: len(knots)], leak=leak)
    assert found.error_at_knots.value < 1e-12
    network = rs.load(found.module)
    part = rs.partition(network, rs.Box(knots[0] - 1, knots[-1] + 1, 1))
    ends = np.unique(part.vertices)[1:-1]
    assert all(np.isclose(end, knots[:-1], atol=1e-9).any() for end in ends)  # it bends nowhere else
    x = np.linspace(knots[0], knots[-1], 50)
    expected = np.interp(x, knots, values[: len(knots)])
    assert np.allclose(network(x[:, None]).numpy().ravel(), expected, atol=1e-10)


def test_dyadic_values_are_met_exactly():
    found = interpolate([-1.0, 0.0, 2.0, 4.0], [1.0, -0.5, 3.0, 3.0])
    assert found.error_at_knots.value == 0.0
    assert found.error_at_knots.claim is rs.Claim.EXACT
    assert found.slopes.tolist() == [-1.5, 1.75, 0.0]
    assert found.intercepts.tolist() == [-0.5, -0.5, 3.0]


@pytest.mark.few(1)
@pytest.mark.parametrize(("pieces", "expected"), [(1, 0.5), (3, 0.066), (9, 0.00097)])
def test_sine(pieces, expected):
    knots = np.linspace(-np.pi, np.pi, pieces + 1)
    found = interpolate(knots, np.sin(knots))
    assert found.error_at_knots.value < 1e-15
    x = np.linspace(-np.pi, np.pi, 2001)
    mean, worst = errors_at(found, x, np.sin(x))
    assert mean.value == pytest.approx(expected, rel=0.02)
    assert mean.value == pytest.approx(np.mean((np.interp(x, knots, np.sin(knots)) - np.sin(x)) ** 2), rel=1e-9)
    upper = error_upper(found, 1.0)
    assert worst.value <= upper.value
    assert upper.claim is rs.Claim.UPPER
    if pieces == 9:
        assert worst.value > 0.9 * upper.value
    # Least squares are no worse, and a network as well.
    fitted = least_squares(x, np.sin(x), knots)
    assert errors_at(fitted, x, np.sin(x))[0].value < mean.value


def test_least_squares_against_the_normal_equations():
    generator = np.random.default_rng(1)
    x, knots = np.sort(generator.uniform(0, 3, 40)), np.array([0.0, 1.0, 1.5, 3.0])
    y = generator.normal(size=40)
    found = least_squares(x, y, knots, leak=0.25)
    residual = found.module(torch.tensor(x)[:, None]).detach().numpy().ravel() - y
    for hat in np.eye(4):
        assert abs(residual @ np.interp(x, knots, hat)) < 1e-12


def test_errors_are_exact():
    found = interpolate([0.0, 1.0], [0.0, 1.0])
    mean, worst = errors_at(found, [0.25, 0.5], [0.0, 1.0])
    assert (mean.value, worst.value) == (float(Fraction(5, 32)), 0.5)


def test_bad_input():
    with pytest.raises(InputError, match="each greater"):
        interpolate([0.0, 0.0], [1.0, 2.0])
    with pytest.raises(InputError, match="at least two knots"):
        interpolate([0.0], [1.0])
    with pytest.raises(ShapeError, match="as many values as knots"):
        interpolate([0.0, 1.0], [1.0])
    with pytest.raises(InputError, match=r"leak in \[0, 1\)"):
        interpolate([0.0, 1.0], [1.0, 2.0], leak=1.0)
    with pytest.raises(InputError, match="finite"):
        interpolate([0.0, np.inf], [1.0, 2.0])
    with pytest.raises(InputError, match="outer knots"):
        least_squares([0.0, 5.0], [0.0, 1.0], [0.0, 1.0])
    with pytest.raises(InputError, match="1 of 3 knots open"):
        least_squares([0.0, 0.25, 0.5], [0.0, 1.0, 0.0], [0.0, 1.0, 2.0])
    with pytest.raises(InputError, match="curvature must be"):
        error_upper(interpolate([0.0, 1.0], [0.0, 0.0]), -1.0)
