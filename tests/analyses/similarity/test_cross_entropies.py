"""Cross-entropies of outputs that are known up to errors: no outputs within them give a value beyond the tolerance."""

import mpmath
import numpy as np
import pytest

from reluscope.analyses.classification.cross_entropy import cross_entropy_of_outputs
from reluscope.analyses.similarity.cross_entropies import output_cross_entropy
from reluscope.networks.evaluation.rounded_forward import RoundedForward


def forward(outputs, errors=0.0):
    outputs = np.array(outputs, dtype=np.float64)
    return RoundedForward(
        outputs, np.broadcast_to(errors, outputs.shape).astype(np.float64), np.zeros((len(outputs), 0), dtype=bool)
    )


def reach(found):
    """How far the truth may be from the value."""
    return found.tolerance if found.interval is None else found.interval[1] - found.value


def is_between(found, exact):
    low, high = found.interval or (found.value - found.tolerance, found.value + found.tolerance)
    return low <= exact <= high


def exactly(own, other):
    """Return the mean over samples of - sum p log q, with many digits."""
    total = mpmath.mpf(0)
    for p, q in zip(own, other, strict=True):
        p, q = ([0, *row] if len(row) == 1 else row for row in (p.tolist(), q.tolist()))
        weights = [mpmath.exp(mpmath.mpf(z)) for z in p]
        log_sum = mpmath.log(sum(mpmath.exp(mpmath.mpf(z)) for z in q))
        total -= sum(w * (mpmath.mpf(z) - log_sum) for w, z in zip(weights, q, strict=True)) / sum(weights)
    return total / len(own)


@pytest.mark.parametrize("columns", [1, 2, 5])
@pytest.mark.parametrize(("own_error", "other_error"), [(1e-3, 0.0), (0.0, 1e-3), (1e-4, 1e-3), (0.0, 0.0)])
def test_outputs_anywhere_within_their_errors(columns, own_error, other_error):
    generator, moved = np.random.default_rng(columns), 0
    with mpmath.workdps(40):
        for _ in range(12):
            own, other = 3 * generator.normal(size=(2, 4, columns))
            # Errors of one sample only: their mean counts, not their least.
            scale = generator.integers(0, 2, size=(4, 1))
            found = output_cross_entropy([forward(own, own_error * scale), forward(other, other_error * scale)], 0, 1)
            for _ in range(6):
                signs = generator.choice([-1.0, 1.0], size=(2, 4, columns))
                near = exactly(own + own_error * scale * signs[0], other + other_error * scale * signs[1])
                assert is_between(found, near)
                moved += abs(near - found.value) > 1e-5
            assert reach(found) <= 2 * own_error * 40 + 2 * other_error + 1e-11
    assert moved > 5 or own_error == other_error == 0


@pytest.mark.few(2)
@pytest.mark.parametrize("size", [0.0, 1e3, 1e9])
def test_rounding_of_the_entropy_itself(size):
    generator = np.random.default_rng(0)
    with mpmath.workdps(60):
        for columns in (2, 3, 700):
            own, other = size * generator.normal(size=(2, 3, columns))
            for first, second in ((own, other), (own, own), (np.zeros_like(own), other), (own, np.zeros_like(own))):
                found = output_cross_entropy([forward(first), forward(second)], 0, 1)
                assert is_between(found, exactly(first, second))


def losses(outputs, labels):
    rows = [(row.tolist(), int(label)) for row, label in zip(outputs, labels, strict=True)]
    return sum(mpmath.log(sum(mpmath.exp(mpmath.mpf(z)) for z in row)) - row[label] for row, label in rows) / len(rows)


@pytest.mark.parametrize("error", [1e-3, 0.0])
def test_cross_entropy_of_labels(error):
    generator = np.random.default_rng(1)
    with mpmath.workdps(60):
        for size in (0.0, 1.0, 1e9):
            for columns in (2, 3, 700):
                outputs, labels = size * generator.normal(size=(4, columns)), generator.integers(0, columns, 4)
                scale = generator.integers(0, 2, size=(4, 1))
                found = cross_entropy_of_outputs(forward(outputs, error * scale), labels)
                assert error or found.claim == "EXACT"
                signs = -np.ones((4, columns))
                signs[np.arange(4), labels] = 1.0
                for side in (-signs, signs):
                    assert is_between(found, losses(outputs + error * scale * side, labels))
                assert reach(found) <= 2 * error + 64 * 2.0**-52 * (5 * size + columns)


def test_tolerances_are_those_of_their_derivation():
    own, other = np.array([[1e9, 1e9 + 1.0], [0.0, 5.0]]), np.array([[3.0, 1.0], [-1e6, 1e6]])
    found = output_cross_entropy([forward(own, [[1e-3], [0.0]]), forward(other, [[0.0], [1e-2]])], 0, 1)
    eps, spread = 2.0**-52, np.array([2.0, 2e6])
    moved = 2 * np.array([1e-3, 0.0]) * spread + 2 * np.array([0.0, 1e-2])
    moved += 16 * eps * (np.array([1e9 + 1.0, 5.0]) + np.array([3.0, 1e6]) + 2) * (1 + spread)
    assert reach(found) == pytest.approx(moved.mean(), rel=1e-9)
    found = cross_entropy_of_outputs(forward(own, [[1e-3], [0.0]]), np.array([0, 1]))
    assert reach(found) == pytest.approx((2e-3 + 16 * eps * (1e9 + 1 + 2) + 16 * eps * 7) / 2, rel=1e-12, abs=0)


def test_a_cross_entropy_is_never_below_zero():
    sure = forward([[50.0, 0.0]])
    found = output_cross_entropy([sure, forward([[50.0, 0.0]], 1e-3)], 0, 1)
    assert found.value < 1e-20
    assert found.interval == (0.0, pytest.approx(2e-3))


def test_no_cross_entropy_is_below_zero():
    sure = [forward([[40.0, 0.0]], 0.25), forward([[40.0, 0.0]], 0.25)]
    found = output_cross_entropy(sure, 0, 1)
    assert 0.0 <= found.value < 1e-15
    assert found.interval[0] == 0.0 < found.interval[1]


def test_small_cross_entropies_are_exact_to_a_millionth():
    for error, claim in ((2e-11, "EXACT"), (9e-7, "ESTIMATE")):
        found = output_cross_entropy([forward([[5.0, 0.0]], error)] * 2, 0, 1)
        assert 0.01 < found.value < 0.1
        assert found.claim == claim
