"""Moments against fractions: debiased products that cancel, constant representations, and both ways to keep sums."""

from fractions import Fraction

import numpy as np
import pytest

from reluscope.analyses.similarity.moments import CANCELLED, MomentSum, moments_of, num_columns
from reluscope.errors import InputError, ShapeError


def exact_debiased(one, other):
    """Return s (s - 3) times the unbiased estimate of HSIC, from kernels without diagonals, in fractions."""
    tables = []
    for part in (one, other):
        rows = [[Fraction(float(entry)) for entry in row] for row in part]
        tables.append([[sum((a * b for a, b in zip(p, q, strict=True)), Fraction(0)) for q in rows] for p in rows])
    s = len(one)
    K, L = ([[table[i][j] if i != j else Fraction(0) for j in range(s)] for i in range(s)] for table in tables)
    trace = sum(K[i][j] * L[j][i] for i in range(s) for j in range(s))
    sums = sum(map(sum, K)) * sum(map(sum, L))
    rows = sum(sum(K[i]) * sum(L[i]) for i in range(s))
    return trace + sums / ((s - 1) * (s - 2)) - 2 * rows / (s - 2)


def gram_of(*parts, blocks=1):
    found = MomentSum([part.shape[1] for part in parts], factored=False)
    for rows in np.array_split(np.arange(len(parts[0])), blocks):
        found.add([part[rows] for part in parts])
    return found.finish()


def factor_of(*parts, blocks=1):
    found = MomentSum([part.shape[1] for part in parts], factored=True)
    for rows in np.array_split(np.arange(len(parts[0])), blocks):
        found.add([part[rows] for part in parts])
    return found.finish()


def in_units_of(found, *parts):
    """Return representations as their moments are kept: divided by powers of two."""
    return [part * 2.0**-exponent for part, exponent in zip(parts, found.exponents, strict=True)]


@pytest.mark.few(3)
@pytest.mark.parametrize("make", [gram_of, factor_of])
@pytest.mark.parametrize(("samples", "blocks"), [(5, 1), (12, 3), (40, 4)])
def test_sums_and_products_by_definition(make, samples, blocks):
    generator = np.random.default_rng(samples)
    one, other = generator.normal(size=(samples, 3)) + 2.0, generator.normal(size=(samples, 4)) - 1.0
    other[:, 0] += one[:, 0]
    found = make(one, other, blocks=blocks)
    one, other = in_units_of(found, one, other)
    X, Y = one - one.mean(axis=0), other - other.mean(axis=0)
    assert (len(found), found.num_samples) == (2, samples)
    for index, part in enumerate((one, other)):
        assert found.means(index) + found.shifts[index] == pytest.approx(part.mean(axis=0))
        assert found.total(index) == pytest.approx(np.sum((part - part.mean(axis=0)) ** 2))
        if found.factor is not None:
            assert found.plain_factor(index).T @ found.plain_factor(index) == pytest.approx(part.T @ part)
        else:
            assert found.plain_factor(index) is None
    for (i, A, plain), (j, B, other_plain) in [
        ((a, X, one) if a == 0 else (a, Y, other), (b, X, one) if b == 0 else (b, Y, other))
        for a in (0, 1)
        for b in (0, 1)
    ]:
        assert found.centred(i, j) == pytest.approx(A.T @ B)
        assert found.plain(i, j) == pytest.approx(plain.T @ other_plain)
        assert found.product(i, j) == pytest.approx(np.sum((A.T @ B) ** 2))
        values = np.linalg.svd(A.T @ B, compute_uv=False)
        size = min(len(values), len(found.singular_values(i, j)))
        assert found.singular_values(i, j)[:size] == pytest.approx(values[:size], abs=1e-9)
        assert found.debiased_product(i, j) == pytest.approx(float(exact_debiased(plain, other_plain)), rel=1e-9)
        assert not found.is_constant(i)


def test_more_columns_than_samples():
    generator = np.random.default_rng(1)
    given = generator.normal(size=(4, 9)), generator.normal(size=(4, 7))
    for found in (moments_of(*given), factor_of(*given)):
        one, other = in_units_of(found, *given)
        X, Y = one - one.mean(axis=0), other - other.mean(axis=0)
        assert found.product(0, 1) == pytest.approx(np.sum((X.T @ Y) ** 2))
        assert found.total(0) == pytest.approx(np.sum(X**2))
        values = np.linalg.svd(X.T @ Y, compute_uv=False)[:3]
        assert found.singular_values(0, 1)[:3] == pytest.approx(values)
        assert found.debiased_product(0, 1) == pytest.approx(float(exact_debiased(one, other)), rel=1e-9)


def test_a_debiased_product_of_nothing_but_rounding_is_zero():
    """Four samples at the corners of a square, whose two coordinates have nothing to do with each other."""
    zeros = 0
    for seed in range(40):
        scale, shift = np.random.default_rng(seed).uniform(0.5, 2.0, 2)
        square = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        one, other = scale * square[:, :1] + shift, shift * square[:, 1:]
        found = gram_of(np.repeat(one, 3, axis=0), np.repeat(other, 3, axis=0))
        exact = exact_debiased(*in_units_of(found, np.repeat(one, 3, axis=0), np.repeat(other, 3, axis=0)))
        assert found.debiased_product(0, 1) == pytest.approx(float(exact), rel=1e-6, abs=1e-12)
        # Constant representations have kernels that are constant off the diagonal: the estimate is exactly zero.
        constant = np.full((8, 2), scale / 3)
        noisy = np.random.default_rng(seed).normal(size=(8, 3))
        assert exact_debiased(constant, constant) == 0
        for make in (gram_of, factor_of):
            both = make(constant + 0.0, noisy)
            assert both.debiased_product(0, 0) == 0.0
            assert both.debiased_product(0, 1) == 0.0
            zeros += 1
    assert zeros == 80


def test_what_is_left_counts_from_a_share_of_the_terms_on(monkeypatch):
    """The share at which it would no longer count says how large the terms are, all three of them."""
    generator, s = np.random.default_rng(0), 7
    for _ in range(5):
        one, other = generator.normal(size=(s, 2)), generator.normal(size=(s, 2))
        X, Y = one - one.mean(axis=0), other - other.mean(axis=0)  # as sums are kept: about the mean
        K, L = X @ X.T, Y @ Y.T
        np.fill_diagonal(K, 0.0)
        np.fill_diagonal(L, 0.0)
        terms = [np.sum(K * L), K.sum() * L.sum() / ((s - 1) * (s - 2)), 2 * np.sum(K.sum(0) * L.sum(0)) / (s - 2)]
        share = abs(terms[0] + terms[1] - terms[2]) / sum(map(abs, terms))
        found = factor_of(one, other)
        for factor, is_left in ((0.999, True), (1.001, False)):
            monkeypatch.setattr("reluscope.analyses.similarity.moments.CANCELLED", factor * share)
            assert (found.debiased_product(0, 1) != 0) == is_left
    assert CANCELLED == 1e-11


def test_constant_up_to_rounding():
    generator = np.random.default_rng(2)
    exact = np.full((9, 3), 1 / 3)
    shaken = exact * (1 + 1e-14 * generator.normal(size=(9, 3)))
    moved = exact * (1 + 1e-10 * generator.normal(size=(9, 3)))
    for make in (gram_of, factor_of):
        assert [make(part, exact).is_constant(0) for part in (exact, shaken, moved)] == [True, True, False]
    # In blocks: the first is taken about its own mean, the second is elsewhere.
    assert not gram_of(np.r_[exact, 1 + exact], np.r_[exact, exact], blocks=2).is_constant(0)
    assert gram_of(np.zeros((4, 2)), np.ones((4, 1))).is_constant(0)
    # One sample has a share of the length that many have together.
    far = 1e6 + 1e-7 * generator.normal(size=(50, 1))
    assert gram_of(far, far).is_constant(0)
    assert not gram_of(1e6 + 1e-4 * generator.normal(size=(50, 1)), far).is_constant(0)


def test_columns_and_bad_input():
    assert num_columns([3, 4]) == 10
    found = moments_of(np.eye(3), np.ones((3, 2)))
    assert [found.columns(index) for index in (0, 1)] == [slice(0, 3), slice(3, 5)]
    with pytest.raises(ShapeError, match="arrays"):
        moments_of(np.eye(3), np.ones((4, 2)))
    for entry in (np.nan, np.inf):
        with pytest.raises(InputError, match="finite"):
            moments_of(np.eye(2), np.array([[1.0], [entry]]))


@pytest.mark.parametrize("make", [gram_of, factor_of])
def test_large_means_do_not_drown_small_differences(make):
    generator = np.random.default_rng(3)
    one, other = generator.normal(size=(30, 2)), generator.normal(size=(30, 2))
    found, plain = make(1e7 + one, other - 1e7), make(one, other)
    more = np.subtract(found.exponents, plain.exponents)
    assert found.product(0, 1) * 4.0 ** more.sum() == pytest.approx(plain.product(0, 1), rel=1e-6)
    assert found.total(0) * 4.0 ** more[0] == pytest.approx(plain.total(0), rel=1e-6)


def test_rows_are_equal_up_to_a_millionth_of_a_millionth_of_their_length():
    sides = np.tile([1.0, -1.0], 8)[:, None]
    for share, is_constant in ((0.9e-12, True), (1.1e-12, False)):
        rows = 1.0 + share * sides
        assert gram_of(rows, rows).is_constant(0) == is_constant


@pytest.mark.parametrize("make", [gram_of, factor_of])
@pytest.mark.parametrize("samples", [8, 24])
def test_later_rows_may_be_far_larger_in_one_representation(make, samples):
    generator = np.random.default_rng(samples)
    one, other = generator.normal(size=(samples, 2)), generator.normal(size=(samples, 3))
    one[samples // 2 :] *= 2.0**40
    for parts in ((one, other), (other, one)):
        found = make(*parts, blocks=2)
        scaled = in_units_of(found, *parts)
        centred = [part - part.mean(axis=0) for part in scaled]
        for index in (0, 1):
            assert found.means(index) + found.shifts[index] == pytest.approx(scaled[index].mean(axis=0), rel=1e-9)
            assert found.total(index) == pytest.approx(np.sum(centred[index] ** 2), rel=1e-9)
            assert found.exponents[index] < 60
        assert found.product(0, 1) == pytest.approx(np.sum((centred[0].T @ centred[1]) ** 2), rel=1e-9)
        debiased = float(exact_debiased(*scaled))
        assert found.debiased_product(0, 1) == pytest.approx(debiased, rel=1e-6, abs=1e-9 * found.product(0, 1))


def test_rows_are_constant_about_their_mean_wherever_the_first_of_them_is():
    """49 of 50 rows are beside the first one, by more than the share that one row may be off."""
    for share, is_constant in ((1.5e-12, True), (2e-11, False)):
        rows = np.append(1.0, np.full(49, 1.0 + share))[:, None]
        assert gram_of(rows, rows, blocks=50).is_constant(0) == is_constant


@pytest.mark.parametrize("make", [gram_of, factor_of])
def test_large_rows_are_no_reason_to_scale_anew_if_all_are(make):
    generator = np.random.default_rng(5)
    one, other = generator.normal(size=(10, 2)), generator.normal(size=(10, 2))
    plain, found = make(one, other, blocks=2), make(2.0**50 * one, other, blocks=2)
    assert found.exponents[0] == plain.exponents[0] + 50
    for index in (0, 1):
        assert found.means(index).tolist() == plain.means(index).tolist()
        assert found.shifts[index].tolist() == plain.shifts[index].tolist()
    assert found.product(0, 1) == plain.product(0, 1)
