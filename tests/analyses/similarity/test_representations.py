"""CKA, Procrustes distance, scaled distances and partitions against their definitions, written out."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from reluscope.analyses.similarity import (
    agreement_of_predictions,
    debiased_cka,
    linear_cka,
    output_cross_entropy,
    procrustes_distance,
    scaled_distance,
)
from reluscope.analyses.similarity.code_partitions import CodePartitions, variation_of_information
from reluscope.analyses.similarity.moments import moments_of
from reluscope.analyses.similarity.streamed_samples import entries_of
from reluscope.errors import InputError, ShapeError
from reluscope.networks.evaluation.rounded_forward import RoundedForward

RNG = np.random.default_rng(11)
X, Y, Z = RNG.normal(size=(40, 5)) + 3, RNG.normal(size=(40, 7)), RNG.normal(size=(40, 6))
WIDE = RNG.normal(size=(40, 90))


def kernels(*representations):
    return [one @ one.T for one in representations]


def by_kernels(first, second):
    """Return CKA from centred kernels of samples."""
    centre = np.eye(len(first)) - 1 / len(first)
    K, L = (centre @ one @ centre for one in kernels(first, second))
    return (K * L).sum() / np.sqrt((K * K).sum() * (L * L).sum())


def unbiased(first, second):
    """Return equation 5 of Song et al. times s (s - 3), from kernels."""
    K, L = kernels(first, second)
    np.fill_diagonal(K, 0)
    np.fill_diagonal(L, 0)
    s = len(K)
    return (K * L).sum() + K.sum() * L.sum() / ((s - 1) * (s - 2)) - 2 / (s - 2) * (K @ L).sum()


@pytest.mark.parametrize(("first", "second"), [(X, Y), (X, WIDE), (WIDE, Z), (X + 1e5, Y), (1e-9 * X, 1e9 * Y)])
def test_cka_from_kernels(first, second):
    centred, other = first - first.mean(0), second - second.mean(0)
    assert float(linear_cka(first, second)) == pytest.approx(by_kernels(centred, other), rel=1e-9)
    expected = unbiased(centred, other) / np.sqrt(unbiased(centred, centred) * unbiased(other, other))
    assert float(debiased_cka(first, second)) == pytest.approx(expected, rel=1e-7, abs=1e-10)


def test_debiased_cka_of_independent_representations_is_near_zero():
    pairs = [(RNG.normal(size=(20, 200)), RNG.normal(size=(20, 200))) for _ in range(20)]
    assert np.mean([float(linear_cka(*pair)) for pair in pairs]) > 0.8
    assert abs(np.mean([float(debiased_cka(*pair)) for pair in pairs])) < 0.05


def test_axioms_of_cka():
    Q = np.linalg.qr(RNG.normal(size=(5, 5)))[0]
    assert float(linear_cka(X, X)) == pytest.approx(1.0, abs=1e-12)
    assert float(linear_cka(X, Y)) == pytest.approx(float(linear_cka(Y, X)), abs=1e-12)
    assert 0 <= float(linear_cka(X, Y)) <= 1
    assert float(linear_cka(-3 * X @ Q + 5, Y)) == pytest.approx(float(linear_cka(X, Y)), rel=1e-10)
    skewed = X @ np.diag([1.0, 2.0, 5.0, 0.1, 9.0])
    assert abs(float(linear_cka(skewed, Y)) - float(linear_cka(X, Y))) > 1e-3


def test_axioms_of_the_procrustes_distance():
    Q = np.linalg.qr(RNG.normal(size=(5, 5)))[0]
    assert float(procrustes_distance(X, 2 * X @ Q - 1)) < 1e-6
    assert float(procrustes_distance(X, Y)) == pytest.approx(float(procrustes_distance(Y, X)), abs=1e-10)
    for first, second, third in ((X, Y, Z), (Y, Z, X), (Z, X, WIDE)):
        through = float(procrustes_distance(first, second)) + float(procrustes_distance(second, third))
        assert float(procrustes_distance(first, third)) <= through + 1e-10


def test_procrustes_by_the_best_rotation():
    A, B = (one - one.mean(0) for one in (Y[:, :5], X))
    A, B = A / np.linalg.norm(A), B / np.linalg.norm(B)
    rotation, _ = scipy.linalg.orthogonal_procrustes(B, A)
    expected = np.linalg.norm(A - B @ rotation)
    assert float(procrustes_distance(Y[:, :5], X)) == pytest.approx(expected, rel=1e-10)


def test_equal_rows_have_no_angle():
    equal = np.tile(RNG.normal(size=4) * 1e6, (40, 1))
    for measure in (linear_cka, debiased_cka, procrustes_distance):
        assert measure(equal, Y) is None
        assert measure(X, equal) is None
    assert debiased_cka(X[:3], Y[:3]) is None


def test_scaled_distances_by_their_formula():
    C, D = RNG.normal(size=(3, 10, 4)), RNG.normal(size=(3, 10, 4)) - 1
    for absolute, scale in ((False, np.max), (True, lambda one: np.abs(one).max())):
        expected = ((C / scale(C) - D / scale(D)) ** 2).mean()
        assert float(scaled_distance(C, D, absolute=absolute)) == pytest.approx(expected, rel=1e-12)
    assert scaled_distance(-np.abs(C), D) is None  # the largest entry is negative
    assert scaled_distance(-np.abs(C), D, absolute=True) is not None
    assert scaled_distance(0 * C, D, absolute=True) is None


def test_variation_of_information_by_mutual_information():
    labels = np.stack([RNG.integers(0, 4, 60), RNG.integers(0, 6, 60), RNG.permutation(60)])
    none = np.zeros(labels.shape, dtype=bool)
    partitions = CodePartitions(labels, none)
    for first in range(3):
        for second in range(3):
            own, other, joint = (
                mutual_info_score(one, one) if two is None else mutual_info_score(one, two)
                for one, two in ((labels[first], None), (labels[second], None), (labels[first], labels[second]))
            )
            found = variation_of_information(partitions, first, second)
            assert float(found) == pytest.approx((own + other - 2 * joint) / np.log(2), abs=1e-12)
            assert found.claim == "EXACT"
    doubtful = none.copy()
    doubtful[1, 0] = True
    found = variation_of_information(CodePartitions(labels, doubtful), 0, 1)
    assert found.claim == "ESTIMATE"
    assert found.num_undecided == 1
    assert found.interval == pytest.approx((0, np.log2(60)))


def forward(outputs, error=0.0):
    return RoundedForward(outputs, np.full(outputs.shape, error), np.zeros((len(outputs), 0), dtype=bool))


def test_cross_entropy_by_its_formula():
    outputs, others = 5 * RNG.normal(size=(30, 3)), 5 * RNG.normal(size=(30, 3))
    p, q = (np.exp(one) / np.exp(one).sum(1, keepdims=True) for one in (outputs, others))
    found = output_cross_entropy([forward(outputs), forward(others)], 0, 1)
    assert abs(float(found) + (p * np.log(q)).sum(1).mean()) <= (found.tolerance or 0) + 1e-12
    itself = output_cross_entropy([forward(outputs)], 0, 0)
    assert float(itself) == pytest.approx(-(p * np.log(p)).sum(1).mean(), rel=1e-12)
    single = output_cross_entropy([forward(outputs[:, :1]), forward(others[:, :1])], 0, 1)
    share, other = (1 / (1 + np.exp(-one[:, 0])) for one in (outputs, others))
    assert float(single) == pytest.approx(-(share * np.log(other) + (1 - share) * np.log1p(-other)).mean(), rel=1e-10)


def test_cross_entropy_moves_by_less_than_its_tolerance():
    outputs, others = 5 * RNG.normal(size=(30, 3)), 5 * RNG.normal(size=(30, 3))
    found = output_cross_entropy([forward(outputs, 1e-3), forward(others, 1e-3)], 0, 1)
    for _ in range(50):
        moved = [forward(one + 1e-3 * RNG.choice([-1, 1], size=one.shape)) for one in (outputs, others)]
        assert abs(float(output_cross_entropy(moved, 0, 1)) - float(found)) <= found.interval[1] - float(found)
    assert float(output_cross_entropy([forward(np.array([[1e4, 0.0]])), forward(np.array([[0.0, 1e4]]))], 0, 1)) == 1e4


def test_agreement_says_where_rounding_decides():
    outputs, others = np.array([[1.0, 2.0], [3.0, 0.0], [1.0, 1.0 + 1e-9]]), np.array([[0.0, 1.0]] * 3)
    assert str(agreement_of_predictions([forward(outputs), forward(others)], 0, 1)) == "0.666667 (EXACT)"
    found = agreement_of_predictions([forward(outputs, 1e-8), forward(others)], 0, 1)
    assert found.claim == "UPPER"
    assert found.interval == (1 / 3, 2 / 3)


def test_what_is_refused():
    with pytest.raises(ShapeError, match="of the same samples"):
        moments_of(X, Y[:-1])
    with pytest.raises(InputError, match="finite"):
        procrustes_distance(X, np.where(Y > 2, np.nan, Y))


def test_debiased_alignment_of_nothing_is_not_defined():
    # All rows but one are equal: without its diagonal the kernel says nothing, and rounding is no answer.
    generator = np.random.default_rng(0)
    for size in range(5, 40):
        X, Y = (np.tile(generator.normal(size=3), (size, 1)) for _ in range(2))
        X[2], Y[3] = generator.normal(size=(2, 3))
        found = debiased_cka(X, Y)
        assert found is None or abs(float(found)) <= 1 + 1e-6


@given(st.integers(-300, 300), st.integers(-300, 300), st.booleans())
@example(-300, 300, False)
@example(664, 664, False)
@example(-332, -332, True)
@example(1000, -1000, True)
def test_no_measure_depends_on_scale(own, other, is_wide):
    """Features times 1e100 had an alignment of 0, times 1e-100 a division by zero, times 1e200 NaN or sqrt(2)."""
    first, second = (WIDE, Z) if is_wide else (X, Y)
    for measure in (linear_cka, debiased_cka, procrustes_distance):
        # A power of two changes no digit, neither of the features nor of what follows from them.
        found = measure(first * 2.0**own, second * 2.0**other)
        assert float(found) == float(measure(first, second)), measure.__name__
    C, D = np.random.default_rng(0).normal(size=(2, 3, 10, 4))
    for absolute in (False, True):
        found = scaled_distance(C * 2.0**own, D * 2.0**other, absolute=absolute)
        assert float(found) == float(scaled_distance(C, D, absolute=absolute))


@pytest.mark.parametrize("measure", [linear_cka, debiased_cka, procrustes_distance])
def test_columns_of_any_scales(measure):
    """Columns that weigh nothing beside others leave no trace, whichever their scale."""
    expected = float(measure(X[:, :2], Y))
    for size in (-200, -600, -1000):
        scaled = X * 2.0 ** np.array([0, 0, size, size, size])
        assert float(measure(scaled, Y)) == pytest.approx(expected, rel=1e-12)
        assert float(measure(scaled * 2.0**300, Y * 2.0**-300)) == pytest.approx(expected, rel=1e-12)
    # A constant column far above the others leaves of them what float64 does.
    assert measure(np.column_stack([np.full(40, 1e200), X]), Y) is None


def test_entries_of_very_different_scales():
    C, D = np.random.default_rng(0).normal(size=(2, 3, 10, 4))
    C, D = C * 2.0**300, D * 2.0**-700
    C[:, 4:] *= 2.0**40
    whole, added = entries_of(C, D), entries_of(C[:, :4], D[:, :4]) + entries_of(C[:, 4:], D[:, 4:])
    np.testing.assert_allclose(added.products, whole.products, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(added.exponents, whole.exponents)
    with_zeros = entries_of(0 * C, 0 * D) + whole
    np.testing.assert_array_equal(with_zeros.products, whole.products)
    np.testing.assert_array_equal(with_zeros.exponents, whole.exponents)


def test_alignment_does_not_depend_on_the_order_of_samples():
    X, Y = np.random.default_rng(0).normal(size=(2, 30, 4))
    X[0] *= 1e4
    there, back = debiased_cka(X, Y), debiased_cka(X[::-1], Y[::-1])
    assert float(there) == pytest.approx(float(back), rel=1e-6)


def test_scaled_distance_of_what_float64_does_not_hold():
    with pytest.raises(InputError, match="finite"):
        scaled_distance(np.full((1, 1, 2), np.nan), np.ones((1, 1, 2)))
    # The largest entry is tiny beside a negative one: the distance would be about 1e400.
    assert scaled_distance(np.array([[[1e-100, -1e100]]]), np.ones((1, 1, 2))) is None
    assert float(scaled_distance(np.full((1, 1, 2), 1e-170), np.full((1, 1, 2), -1e-170), absolute=True)) == 4
