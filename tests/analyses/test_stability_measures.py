"""Measures of singular values: what bounds them holds for all values within the bounds, and claims follow."""

import numpy as np
import pytest

from reluscope.analyses.stability.layer_jacobians import NetworkLayer
from reluscope.analyses.stability.stability_measures import MEASURES, Spectrum, measured
from reluscope.findings import Findings

LARGEST, SMALLEST, CONDITION, NUMBER, STABLE_RANK, EFFECTIVE_RANK = (measure.name for measure in MEASURES)


def spectra(values, errors, *, complete=True, share=1e-3, population=None, upper=None):
    values, errors = np.array(values, dtype=np.float64), np.array(errors, dtype=np.float64)
    ends = values + errors if upper is None else np.array(upper, dtype=np.float64)
    samples = [
        [Spectrum(value, np.maximum(value - error, 0.0), end, "SVD", complete)]
        for value, error, end in zip(values, errors, ends, strict=True)
    ]
    found = measured(samples, [NetworkLayer("a", "affine", 0, 4)], [share])
    keys = {"sample": np.arange(len(values)), "layer": ["a"] * len(values)}
    return Findings.of(*found.columns, keys=keys, details=found.details, population=population)


def measures(values, share):
    """Return every measure of singular values, in descending order, by its definition."""
    kept = [value for value in values if value > share * values[0]]
    weights = [value / sum(values) for value in values if value > 0]
    found = {LARGEST: values[0], NUMBER: len(kept)}
    if kept:
        found |= {SMALLEST: kept[-1], CONDITION: values[0] / kept[-1]}
        found[STABLE_RANK] = sum(value**2 for value in values) / values[0] ** 2
        found[EFFECTIVE_RANK] = np.exp(-sum(w * np.log(w) for w in weights))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_all_spectra_within_the_bounds_have_measures_within_theirs(seed):
    generator = np.random.default_rng(seed)
    values = np.sort(10.0 ** generator.uniform(-4, 1, (1, 5)))[:, ::-1]
    values[:, 4] *= seed % 3 > 0
    errors = values * generator.choice([0.0, 1e-3, 0.1, 0.5], size=(1, 5))
    found = spectra(values, errors)
    seen = 0
    for which, exact in measures(values[0], 1e-3).items():
        assert found[which].value[0] == pytest.approx(exact)
    for _ in range(400):
        moved = values[0] + errors[0] * generator.choice([-1.0, 0.0, 1.0], 5)
        if (np.diff(moved) > 0).any():
            continue
        seen += 1
        for which, exact in measures(moved, 1e-3).items():
            assert found[which].lower[0] <= exact * (1 + 1e-9)
            assert exact <= found[which].upper[0] * (1 + 1e-9)
    assert seen > 0


def test_bounds_are_the_ends_where_that_is_all_there_is():
    found = spectra([[4.0, 2.0]], [[1.0, 0.5]])
    ends = {which: (found[which].lower[0], found[which].upper[0]) for which in found}
    assert ends[LARGEST] == (3.0, 5.0)
    assert ends[SMALLEST] == (1.5, 2.5)
    assert ends[CONDITION] == (3.0 / 2.5, 5.0 / 1.5)
    assert ends[NUMBER] == (2, 2)
    assert ends[STABLE_RANK] == pytest.approx(((9 + 2.25) / 25, (25 + 6.25) / 9))
    apart = 1.5 / 4.5
    change = apart * np.log(2) - apart * np.log(apart) - (1 - apart) * np.log1p(-apart)
    entropy = -(2 / 3 * np.log(2 / 3) + 1 / 3 * np.log(1 / 3))
    assert ends[EFFECTIVE_RANK] == pytest.approx((np.exp(entropy - change), np.exp(entropy + change)))


def test_errors_in_the_details_are_the_farther_of_both_ends():
    found = spectra([[4.0, 2.0, 1.0]], [[1.0, 0.5, 0.25]], upper=[[4.5, 3.0, 1.25]])
    assert found.details["errors"][0].tolist() == [1.0, 1.0, 0.25]


def test_no_values_above_zero():
    found = spectra([[0.0, 0.0]], [[0.0, 0.0]])
    assert [found[which].value[0] for which in (LARGEST, NUMBER, STABLE_RANK, EFFECTIVE_RANK)] == [0] * 4
    assert np.isnan(found[SMALLEST].value[0])
    assert np.isnan(found[CONDITION].value[0])
    perhaps = spectra([[0.0, 0.0]], [[1e-3, 0.0]])[CONDITION]
    assert np.isnan([perhaps.value[0], perhaps.lower[0], perhaps.upper[0]]).all()


def test_values_that_may_or_may_not_count_as_nonzero():
    found = spectra([[1.0, 2e-3, 5e-4]], [[0.0, 1.5e-3, 0.0]])
    number = found.finding(NUMBER)
    assert (number.value, number.claim, number.interval) == (2, "UPPER", (1, 2))
    smallest = found[SMALLEST]
    assert (smallest.value[0], smallest.lower[0], smallest.upper[0]) == (2e-3, pytest.approx(5e-4), 1.0)
    condition = found.finding(CONDITION)
    assert (condition.claim, condition.interval) == ("ESTIMATE", (1.0, pytest.approx(2000.0)))
    # All of them may be zero.
    nothing = spectra([[1e-3, 1e-4]], [[1e-3, 1e-4]])
    assert nothing[NUMBER].lower[0] == 0
    assert nothing[SMALLEST].upper[0] == np.inf
    assert nothing[CONDITION].upper[0] == np.inf


def test_medians():
    found = spectra([[4.0, 2.0], [6.0, 1.0], [5.0, 3.0]], [[0.5, 0.0], [0.25, 0.0], [0.0, 0.75]])
    largest = found.median(LARGEST)
    assert (largest.value, largest.claim) == (5.0, "EXACT")
    smallest = found.median(SMALLEST)
    assert (smallest.value, smallest.claim) == (2.0, "EXACT")
    wide = spectra([[4.0, 2.0], [6.0, 1.0]], [[0.5, 0.0], [0.25, 0.0]]).median(LARGEST)
    assert (wide.value, wide.claim, wide.interval) == (5.0, "ESTIMATE", (4.625, 5.375))
    number = spectra([[1.0, 2e-3], [1.0, 0.5], [1.0, 2e-3]], [[0.0, 1.5e-3], [0.0, 0.0], [0.0, 1.5e-3]]).median(NUMBER)
    assert (number.claim, number.interval, number.value) == ("UPPER", (1, 2), 2)
    known = spectra([[1.0, 0.5]] * 3, np.zeros((3, 2))).median(NUMBER)
    assert (known.claim, known.value, known.interval) == ("EXACT", 2, None)
    drawn = spectra([[1.0, 0.5]] * 3, np.zeros((3, 2)), population=50).median(NUMBER)
    assert (drawn.claim, "of 50" in drawn.domain) == ("ESTIMATE", True)


def test_extremes_alone():
    values, errors = [[4.0, 2.0], [6.0, 1.0], [5.0, 3.0]], [[0.5, 0.25]] * 3
    upper = [[np.inf, 2.25], [np.inf, 1.25], [np.inf, 3.25]]
    found = spectra(values, errors, complete=False, upper=upper)
    assert np.isnan(found[STABLE_RANK].value).all()
    assert np.isnan(found[NUMBER].value).all()
    condition = found[CONDITION]
    assert condition.lower.tolist() == pytest.approx([3.5 / 2.25, 5.5 / 1.25, 4.5 / 3.25])
    assert condition.value.tolist() == condition.lower.tolist()
    assert np.isinf(condition.upper).all()
    largest, smallest, ratio = (found.median(which) for which in (LARGEST, SMALLEST, CONDITION))
    assert (largest.claim, largest.value, largest.interval) == ("LOWER", 4.5, (4.5, np.inf))
    assert (smallest.claim, smallest.value, smallest.interval) == ("UPPER", 2.25, (1.75, 2.25))
    assert (ratio.claim, ratio.value) == ("LOWER", pytest.approx(3.5 / 2.25))
    drawn = spectra(values, errors, complete=False, upper=upper, population=40).median(LARGEST)
    assert (drawn.claim, drawn.value) == ("ESTIMATE", 4.5)
    # Where the row space was exhausted, both ends are known.
    both = spectra(values, errors, complete=False)
    assert both.finding(LARGEST, 0).interval == (3.5, 4.5)
    assert both[CONDITION].upper.tolist() == pytest.approx([4.5 / 1.75, 6.5 / 0.75, 5.5 / 2.75])
    assert both[CONDITION].value.tolist() == [2.0, 6.0, pytest.approx(5 / 3)]
    # Ends that overlap say nothing but that a condition is at least 1.
    near = spectra([[1.0, 1.0]], [[0.5, 0.5]], complete=False, upper=[[np.inf, 1.5]])[CONDITION]
    assert (near.value[0], near.lower[0], near.upper[0]) == (1.0, 1.0, np.inf)


def test_errors_are_those_of_the_farther_end():
    found = spectra([[4.0, 2.0, 1.0]], [[0.5, 0.125, 0.25]], upper=[[4.25, 2.5, 1.25]])
    assert [row.tolist() for row in found.details["errors"]] == [[0.5, 0.5, 0.25]]
