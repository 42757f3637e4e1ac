"""Measures of singular values: what bounds them holds for all values within the bounds, and claims follow."""

from dataclasses import replace

import numpy as np
import pytest

from reluscope.analyses.stability.layers import Layer
from reluscope.analyses.stability.table import NAMES, Spectra
from reluscope.errors import InputError


def layer(name="a", kind="affine", size=4):
    fields = {"name": name, "kind": kind, "size": size}
    return Layer(**{key: fields.get(key, 0) for key in Layer.__dataclass_fields__})


def spectra(values, errors, complete=True, share=1e-3, population=0):
    values, errors = np.array(values, dtype=np.float64), np.array(errors, dtype=np.float64)
    return Spectra(
        (layer(),),
        (values,),
        (np.maximum(values - errors, 0.0),),
        (values + errors,),
        (complete,),
        ("SVD",),
        4,
        (share,),
        population or len(values),
    )


def measures(values, share):
    """Return every measure of singular values, in descending order, by its definition."""
    kept = [value for value in values if value > share * values[0]]
    weights = [value / sum(values) for value in values if value > 0]
    found = {"largest": values[0], "num_nonzero": len(kept)}
    if kept:
        found |= {"smallest": kept[-1], "condition": values[0] / kept[-1]}
        found["stable_rank"] = sum(value**2 for value in values) / values[0] ** 2
        found["entropy_rank"] = np.exp(-sum(w * np.log(w) for w in weights))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_all_spectra_within_the_bounds_have_measures_within_theirs(seed):
    generator = np.random.default_rng(seed)
    values = np.sort(10.0 ** generator.uniform(-4, 1, (1, 5)))[:, ::-1]
    errors = values * generator.choice([0.0, 1e-3, 0.1, 0.5], size=(1, 5))
    found = spectra(values, errors)
    seen = 0
    for which, exact in measures(values[0], 1e-3).items():
        assert found.measure(0, which).values[0] == pytest.approx(exact)
    for _ in range(400):
        moved = values[0] + errors[0] * generator.choice([-1.0, 0.0, 1.0], 5)
        if (np.diff(moved) > 0).any():
            continue
        seen += 1
        for which, exact in measures(moved, 1e-3).items():
            bounds = found.measure(0, which)
            assert bounds.lower[0] <= exact * (1 + 1e-9)
            assert exact <= bounds.upper[0] * (1 + 1e-9)
    assert seen > 0


def test_bounds_are_the_ends_where_that_is_all_there_is():
    found = spectra([[4.0, 2.0]], [[1.0, 0.5]])
    ends = {which: (found.measure(0, which).lower[0], found.measure(0, which).upper[0]) for which in NAMES}
    assert ends["largest"] == (3.0, 5.0)
    assert ends["smallest"] == (1.5, 2.5)
    assert ends["condition"] == (3.0 / 2.5, 5.0 / 1.5)
    assert ends["num_nonzero"] == (2, 2)
    assert ends["stable_rank"] == ((9 + 2.25) / 25, (25 + 6.25) / 9)
    apart = 1.5 / 4.5
    change = apart * np.log(2) - apart * np.log(apart) - (1 - apart) * np.log1p(-apart)
    entropy = -(2 / 3 * np.log(2 / 3) + 1 / 3 * np.log(1 / 3))
    assert ends["entropy_rank"] == pytest.approx((np.exp(entropy - change), np.exp(entropy + change)))


def test_no_values_above_zero():
    found = spectra([[0.0, 0.0]], [[0.0, 0.0]])
    assert [
        found.measure(0, which).values[0] for which in ("largest", "num_nonzero", "stable_rank", "entropy_rank")
    ] == [0] * 4
    assert np.isnan(found.measure(0, "smallest").values[0])
    assert np.isnan(found.measure(0, "condition").values[0])
    nothing = found.median(0, "condition")
    assert np.isnan(nothing.value)
    assert nothing.claim == "ESTIMATE"
    assert {finding.name.split(" after")[0] for finding in found.of(0, 0)} == {
        "largest singular value",
        "number of nonzero singular values",
        "stable rank",
        "effective rank",
    }


def test_values_that_may_or_may_not_count_as_nonzero():
    found = spectra([[1.0, 2e-3, 5e-4]], [[0.0, 1.5e-3, 0.0]])
    number = found.measure(0, "num_nonzero")
    assert (number.values[0], number.lower[0], number.upper[0]) == (2, 1, 2)
    smallest = found.measure(0, "smallest")
    assert (smallest.values[0], smallest.lower[0], smallest.upper[0]) == (2e-3, pytest.approx(5e-4), 1.0)
    by_name = {finding.name.split(" after")[0]: finding for finding in found.of(0, 0)}
    rank = by_name["number of nonzero singular values"]
    assert (rank.claim, rank.interval, rank.value) == ("ESTIMATE", (1.0, 2.0), 2)
    sure = {finding.name.split(" after")[0]: finding for finding in spectra([[1.0, 0.5]], [[0.0, 0.0]]).of(0, 0)}
    assert (sure["number of nonzero singular values"].claim, sure["number of nonzero singular values"].interval) == (
        "EXACT",
        None,
    )


def test_medians_of_complete_layers():
    found = spectra([[4.0, 2.0], [6.0, 1.0], [5.0, 3.0]], [[0.5, 0.0], [0.25, 0.0], [0.0, 0.75]])
    largest, smallest = found.median(0, "largest"), found.median(0, "smallest")
    assert (largest.value, largest.claim, largest.tolerance) == (5.0, "EXACT", 0.5)
    assert (smallest.value, smallest.claim, smallest.tolerance) == (2.0, "EXACT", 0.75)
    lopsided = replace(found, lower=(found.values[0] - [[2.0, 0.0]],))
    assert lopsided.median(0, "largest").tolerance == 2.0
    drawn = replace(found, population=100)
    assert drawn.median(0, "largest").claim == "ESTIMATE"
    assert "of 100" in drawn.median(0, "largest").domain


def test_medians_of_numbers_that_are_not_known():
    found = spectra([[1.0, 2e-3], [1.0, 0.5], [1.0, 2e-3]], [[0.0, 1.5e-3], [0.0, 0.0], [0.0, 1.5e-3]])
    median = found.median(0, "num_nonzero")
    assert (median.claim, median.interval, median.num_undecided, median.value) == ("ESTIMATE", (1.0, 2.0), 2, 2.0)
    known = spectra([[1.0, 0.5]] * 3, np.zeros((3, 2))).median(0, "num_nonzero")
    assert (known.claim, known.value, known.num_undecided, known.interval) == ("EXACT", 2.0, 0, None)
    # Of drawn samples an estimate, whether known or not.
    assert replace(found, population=50).median(0, "num_nonzero").claim == "ESTIMATE"


def test_extremes_alone():
    found = spectra([[4.0, 2.0], [6.0, 1.0], [5.0, 3.0]], [[0.5, 0.25]] * 3, complete=False)
    assert np.isnan(found.measure(0, "stable_rank").values).all()
    condition = found.measure(0, "condition")
    assert condition.values.tolist() == [2.0, 6.0, pytest.approx(5 / 3)]
    assert condition.lower.tolist() == pytest.approx([3.5 / 2.25, 5.5 / 1.25, 4.5 / 3.25])
    assert condition.upper.tolist() == pytest.approx([4.5 / 1.75, 6.5 / 0.75, 5.5 / 2.75])
    largest, smallest, ratio = (found.median(0, which) for which in ("largest", "smallest", "condition"))
    assert (largest.claim, largest.value, largest.interval) == ("LOWER", 4.5, (4.5, 5.5))
    assert (smallest.claim, smallest.value, smallest.interval) == ("UPPER", 2.25, (1.75, 2.25))
    assert (ratio.claim, ratio.value) == ("LOWER", pytest.approx(3.5 / 2.25))
    drawn = replace(found, population=40).median(0, "largest")
    assert (drawn.claim, drawn.value, drawn.interval) == ("ESTIMATE", 5.0, (4.5, 5.5))
    by_name = {finding.name.split(" after")[0]: finding for finding in found.of(0, 0)}
    assert (by_name["largest singular value"].claim, by_name["largest singular value"].value) == ("LOWER", 3.5)
    assert by_name["smallest nonzero singular value"].claim == "UPPER"
    assert (by_name["smallest nonzero singular value"].value, by_name["smallest nonzero singular value"].interval) == (
        2.25,
        (1.75, 2.25),
    )
    with pytest.raises(InputError, match="extremes only"):
        found.curve(0)


def test_one_sample_has_tolerances_from_both_sides():
    found = spectra([[4.0, 2.0]], [[0.5, 0.0]])
    (largest, *_) = found.of(0, 0)
    assert (largest.claim, largest.tolerance, largest.interval) == ("EXACT", 0.5, None)
    (lopsided, *_) = replace(found, upper=(np.array([[4.125, 2.0]]),)).of(0, 0)
    assert lopsided.tolerance == 0.5
    (lopsided, *_) = replace(found, lower=(np.array([[3.875, 2.0]]),)).of(0, 0)
    assert lopsided.tolerance == 0.5
    assert found.curve(0).tolist() == [4.0, 2.0]
