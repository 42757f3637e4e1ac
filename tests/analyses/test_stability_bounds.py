"""Bounds of singular values hold exact ones; seeds, shares and memory decide where they say so."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
import torch

import reluscope as rs
from networks.models import layers
from oracles.rational_steps import affine, network_of, rational_map
from reluscope.analyses.stability import singular_values
from reluscope.analyses.stability.layer_spectra import _spectrum, jacobian_bytes
from reluscope.analyses.stability.prefix import prefix_map
from reluscope.analyses.stability.singular_values import SingularValues
from reluscope.networks.building.builder import GraphBuilder


def test_the_seed_decides_where_lanczos_starts():
    net = rs.load(layers([12, 10, 8, 3], seed=1))
    point = np.random.default_rng(0).normal(size=12)
    one, same, other = (rs.stability.extremes(net, point, steps=2, seed=seed) for seed in (1, 1, 2))
    first, second, third = (found["largest_singular_value"].value for found in (one, same, other))
    assert first.tolist() == second.tolist()
    assert (first != third).all()


def shares_of(found):
    return tuple(found.details["nonzero"].tolist())


def test_a_value_counts_as_nonzero_from_a_share_of_rounding_on():
    net = rs.load(layers([5, 7, 3], seed=1))
    sizes = [7, 7, 3]
    expected = tuple(2 * 16.0 * max(size, 5) * 2.0**-52 for size in sizes)
    assert shares_of(rs.stability.spectra(net, np.zeros(5))) == expected
    coarse = rs.stability.spectra(net, np.zeros(5), tolerance=rs.Tolerance(rounding=64.0))
    assert shares_of(coarse) == tuple(4 * share for share in expected)
    assert shares_of(rs.stability.spectra(net, np.zeros(5), nonzero=0.25)) == (0.25,) * 3
    assert shares_of(rs.stability.spectra(net, np.zeros(5), nonzero=0.0)) == (0.0,) * 3
    for share in (1.0, -0.1, np.nan):
        with pytest.raises(rs.errors.InputError, match=r"from 0 to below 1|at least 0"):
            rs.stability.spectra(net, np.zeros(5), nonzero=share)
    assert np.isnan(rs.stability.extremes(net, np.ones(5), steps=2)["stable_rank"].value).all()
    with pytest.raises(rs.errors.InputError, match="at least 2 steps"):
        rs.stability.extremes(net, np.ones(5), steps=1)


def test_memory_that_is_just_enough_is_enough():
    net = rs.load(layers([5, 7, 3], seed=1))
    # Carried side by side: what a gate sees and gives; besides six square tables of the inputs.
    assert jacobian_bytes(net) == 8 * 5 * (5 + 7 + 7) + 6 * 8 * 25
    assert jacobian_bytes(rs.load(layers([5, 9, 3, 2], seed=1))) == 8 * 5 * (5 + 9 + 9) + 6 * 8 * 25
    assert jacobian_bytes(rs.load(layers([5, 3, 9, 2], seed=1))) == 8 * 5 * (3 + 9 + 9) + 6 * 8 * 25
    assert jacobian_bytes(rs.load(layers([2, 1, 30], seed=1))) == 8 * 2 * (1 + 30) + 6 * 8 * 4
    enough = rs.stability.spectra(net, np.zeros(5), budget=rs.Budget(memory=jacobian_bytes(net)))
    assert enough.share_exact("num_nonzero_singular_values").value == 1.0
    less = rs.stability.spectra(net, np.zeros(5), budget=rs.Budget(memory=jacobian_bytes(net) - 1))
    assert np.isnan(less["num_nonzero_singular_values"].value).all()
    assert "GB allowed" in less["condition_number"].method


def test_bounds_of_spectra_hold_exact_singular_values():
    """Products of layers that cancel: all that is left is rounding, and the bounds say so; truth by mpmath."""
    with mpmath.workdps(50):
        for seed in range(6):
            generator = np.random.default_rng(seed)
            column = generator.normal(size=(2, 4))
            steps = [
                affine(1e5 * generator.normal(size=(4, 3)), 1e6 * np.ones(4)),
                ("pointwise", [0.0], [0.1, 1.0], [0.0, 0.0]),
            ]
            steps += [
                affine(np.concatenate([np.eye(4), column]), np.zeros(6)),
                ("pointwise", [0.0], [0.1, 1.0], [0.0, 0.0]),
            ]
            steps.append(
                affine(np.concatenate([-column + 1e-9 * generator.normal(size=(2, 4)), np.eye(2)], axis=1), np.zeros(2))
            )
            point = generator.normal(size=3)
            found = rs.stability.spectra(network_of(steps, 3), point)
            for layer in range(len(found)):
                exact = rational_map(steps[: layer + 1], point)
                table = mpmath.matrix([[mpmath.mpf(e.numerator) / e.denominator for e in row[:-1]] for row in exact])
                values = sorted((mpmath.svd_r(table, compute_uv=False)), reverse=True)
                computed, errors = found.details["singular_values"][layer], found.details["errors"][layer]
                for value, low, high in zip(values, computed - errors, computed + errors, strict=True):
                    assert low <= value <= high
                largest = found["largest_singular_value"]
                assert largest.lower[layer] <= values[0] <= largest.upper[layer]


@pytest.mark.parametrize("short", [0, 768])
@pytest.mark.parametrize(("rows", "inputs"), [(5, 3), (3, 5), (4, 4)])
def test_what_the_decomposition_rounds_is_bounded_by_itself(monkeypatch, short, rows, inputs):
    """A matrix without errors of its own: by the triangular factor, or by products of rows if they are good enough."""
    module = singular_values
    monkeypatch.setattr(module, "SHORT", short)
    apart = 0
    with mpmath.workdps(50):
        for seed in range(8):
            columns = np.random.default_rng(seed).normal(size=(inputs, rows))
            found = module.singular_values(torch.tensor(columns), gamma=16 * 2.0**-52, error=0.0)
            exact = sorted(mpmath.svd_r(mpmath.matrix(columns.T.tolist()), compute_uv=False), reverse=True)
            for value, computed, error in zip(exact, found.values, found.errors, strict=True):
                assert abs(value - computed) <= error
                apart += value != computed
            wider = module.singular_values(torch.tensor(columns), gamma=16 * 2.0**-52, error=0.25)
            assert wider.errors == pytest.approx(found.errors + 0.25)
    assert apart > 5


@pytest.mark.parametrize("shape", [(), (7,), (700,), (3, 9), (2, 5, 8), (400, 3, 3), (1, 2, 3, 40), (5000, 2, 2)])
def test_windows_have_every_entry_once(shape):
    counts = np.zeros(shape, dtype=np.int64)
    for window in singular_values._tiles(shape):
        counts[window] += 1
    assert (counts == 1).all()


@pytest.mark.parametrize(("rows", "inputs"), [(9, 2), (2, 9), (1, 40), (4, 4)])
def test_the_decomposition_rounds_a_matrix_like_its_transpose(rows, inputs):
    """By the longer side; errors of the matrix come on top."""
    triangle = torch.diag(torch.tensor([3.0, 2.0], dtype=torch.float64))[: min(rows, inputs), : min(rows, inputs)]
    found = singular_values._of_triangle(triangle, rows, inputs, 2.0**-10, 0.125)
    expected = [0.125 + 2.0**-10 * max(rows, inputs) ** 0.5 * 3.0] * len(triangle)
    assert found.errors[: len(triangle)] == pytest.approx(expected, rel=1e-15)


def test_products_with_slopes_are_rounded():
    """Two leaky gates in a row: nothing is added up, and 0.1 times 0.1 is no float64."""
    builder = GraphBuilder()
    net = builder.build(builder.leaky_relu(builder.leaky_relu(builder.input((2,)), 0.1), 0.1))
    found = prefix_map(net, [-1.0, -2.0], 1)
    wrong = [Fraction(found.matrix[row, row]) - Fraction(0.1) ** 2 for row in range(2)]
    assert all(wrong)
    assert sum(one**2 for one in wrong) <= Fraction(found.error) ** 2
    assert found.error < 1e-15


def test_eigenvalues_of_a_gram_matrix_are_off_by_its_own_rounding_and_by_that_of_their_computation():
    _of_gram = singular_values._of_gram
    gram, gamma = torch.diag(torch.tensor([9.0, 4.0, 1.0], dtype=torch.float64)), 1e-5
    found = _of_gram(gram, gamma, 3, 3, 0.125)
    assert found is not None
    delta = gamma * (14.0 + np.sqrt(3.0) * 9.0)
    assert found.values == pytest.approx([3.0, 2.0, 1.0])
    assert found.errors == pytest.approx(0.125 + delta / np.array([3.0, 2.0, 1.0]), rel=1e-12)
    assert _of_gram(gram, 1.99e-3 / (14.0 + np.sqrt(3.0) * 9.0), 3, 3, 0.0) is not None
    assert _of_gram(gram, 2.01e-3 / (14.0 + np.sqrt(3.0) * 9.0), 3, 3, 0.0) is None


@pytest.mark.parametrize("short", [0, 768])
def test_before_and_behind_a_gate_whose_units_keep_lessen_or_lose_what_arrives(monkeypatch, short):
    module = singular_values
    monkeypatch.setattr(module, "SHORT", short)
    columns, scale = np.random.default_rng(0).normal(size=(3, 7)), np.array([1.0, 0.5, 0.0, 1.0, -2.0, 0.5, 1.0])
    gate = torch.tensor(np.abs(scale))
    for asked in (True, False):
        before, after = module.before_and_after(
            torch.tensor(columns), gate, gamma=16 * 2.0**-52, errors=(0.25, 0.5), before=asked
        )
        assert (before is not None) == asked
        for found, factors, error in ((before, np.ones(7), 0.25), (after, scale, 0.5)):
            if found is not None:
                assert found.values == pytest.approx(np.linalg.svd(factors[:, None] * columns.T, compute_uv=False))
                assert found.errors == pytest.approx(error, abs=1e-12)


def test_no_singular_value_is_below_zero():
    found = _spectrum(SingularValues(np.array([3.0, 1e-20]), np.array([0.5, 1.0]), "by hand"))
    assert (found.lower.tolist(), found.upper.tolist()) == ([2.5, 0.0], [3.5, 1.0])


def test_what_the_products_of_one_of_both_cannot_tell_is_asked_of_the_triangle(monkeypatch):
    """Behind the gate one direction is left with a millionth of its length."""
    module = singular_values
    monkeypatch.setattr(module, "SHORT", 0)
    columns, scale = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 2.0]]), np.array([1.0, 1e-6, 1e-6])
    before, after = module.before_and_after(
        torch.tensor(columns), torch.tensor(scale), gamma=16 * 2.0**-52, errors=(0.0, 0.0), before=True
    )
    assert before.values == pytest.approx([5**0.5, 1.0])
    assert after.values == pytest.approx([1.0, 5**0.5 * 1e-6], rel=1e-6, abs=0)
