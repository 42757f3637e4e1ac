"""Bounds of singular values hold exact ones; seeds, shares and memory decide where they say so."""

import mpmath
import numpy as np
import pytest

import reluscope as rs
from networks.models import layers
from oracles.rational_steps import affine, network_of, rational_map
from reluscope.analyses.stability.spectra import jacobian_bytes


def test_the_seed_decides_where_lanczos_starts():
    net = rs.load(layers([12, 10, 8, 3], seed=1))
    point = np.random.default_rng(0).normal(size=12)
    one, same, other = (rs.stability.extremes(net, point, steps=2, seed=seed) for seed in (1, 1, 2))
    for first, second, third in zip(one.values, same.values, other.values, strict=True):
        assert first.tolist() == second.tolist()
        assert first.tolist() != third.tolist()


def test_a_value_counts_as_nonzero_from_a_share_of_rounding_on():
    net = rs.load(layers([5, 7, 3], seed=1))
    sizes = [7, 7, 3]
    expected = tuple(2 * 16.0 * max(size, 5) * 2.0**-52 for size in sizes)
    assert rs.stability.spectra(net, np.zeros(5)).nonzero == expected
    coarse = rs.stability.spectra(net, np.zeros(5), tolerance=rs.Tolerance(rounding=64.0))
    assert coarse.nonzero == tuple(4 * share for share in expected)
    assert rs.stability.spectra(net, np.zeros(5), nonzero=0.25).nonzero == (0.25,) * 3
    assert rs.stability.spectra(net, np.zeros(5), nonzero=0.0).nonzero == (0.0,) * 3
    for share in (1.0, -0.1, np.nan):
        with pytest.raises(rs.errors.InputError, match=r"from 0 to below 1|at least 0"):
            rs.stability.spectra(net, np.zeros(5), nonzero=share)
    assert rs.stability.extremes(net, np.ones(5), steps=2).complete == (False,) * 3
    with pytest.raises(rs.errors.InputError, match="at least 2 steps"):
        rs.stability.extremes(net, np.ones(5), steps=1)


def test_memory_that_is_just_enough_is_enough():
    net = rs.load(layers([5, 7, 3], seed=1))
    # Carried side by side: what a gate sees and gives; besides six square tables of the inputs.
    assert jacobian_bytes(net) == 8 * 5 * (5 + 7 + 7) + 6 * 8 * 25
    assert jacobian_bytes(rs.load(layers([5, 9, 3, 2], seed=1))) == 8 * 5 * (5 + 9 + 9) + 6 * 8 * 25
    assert jacobian_bytes(rs.load(layers([5, 3, 9, 2], seed=1))) == 8 * 5 * (3 + 9 + 9) + 6 * 8 * 25
    assert jacobian_bytes(rs.load(layers([2, 1, 30], seed=1))) == 8 * 2 * (1 + 30) + 6 * 8 * 4
    assert all(rs.stability.spectra(net, np.zeros(5), memory=jacobian_bytes(net)).complete)
    less = rs.stability.spectra(net, np.zeros(5), memory=jacobian_bytes(net) - 1)
    assert not any(less.complete)
    assert len(less.notes) == 1


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
            for layer in range(len(found.layers)):
                exact = rational_map(steps[: layer + 1], point)
                table = mpmath.matrix([[mpmath.mpf(e.numerator) / e.denominator for e in row[:-1]] for row in exact])
                values = sorted((mpmath.svd_r(table, compute_uv=False)), reverse=True)
                for value, low, high in zip(values, found.lower[layer][0], found.upper[layer][0], strict=True):
                    assert low <= value <= high


@pytest.mark.parametrize("short", [0, 768])
@pytest.mark.parametrize(("rows", "inputs"), [(5, 3), (3, 5), (4, 4)])
def test_what_the_decomposition_rounds_is_bounded_by_itself(monkeypatch, short, rows, inputs):
    """A matrix without errors of its own: by the triangular factor, or by products of rows if they are good enough."""
    import torch

    from reluscope.analyses.stability import singular_values as module

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
