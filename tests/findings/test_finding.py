"""Findings say what they are, in print and in JSON, and claim what their ends say."""

import json
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reluscope.findings import Claim, Finding

NUMBERS = st.floats(-1e9, 1e9) | st.integers(-1000, 1000)


def test_prints_its_claim():
    assert str(Finding.of(1234)) == "1,234 (EXACT)"
    assert str(Finding.of(7, upper=9)) == "7 (LOWER, in [7, 9])"
    assert str(Finding.of(7, upper=inf)) == "7 (LOWER)"
    assert str(Finding.of(7, -inf)) == "7 (UPPER)"
    assert str(Finding.of(0.25, 0.2, 0.3)) == "0.25 (ESTIMATE, in [0.2, 0.3])"
    assert str(Finding.estimate(0.25)) == "0.25 (ESTIMATE)"


@given(st.tuples(NUMBERS, NUMBERS, NUMBERS).map(sorted), st.none() | st.floats(0, 1e10))
def test_claims_what_the_ends_say(ends, scale):
    lower, value, upper = ends
    found = Finding.of(value, lower, upper, scale=scale)
    allowed = 0.0 if isinstance(value, int) else max(1e-6 * abs(value), 1e-9 * (scale or 0.0))
    if lower == upper or max(upper - value, value - lower) <= allowed:
        assert found.claim is Claim.EXACT
        assert found.interval is None
        # EXACT on a real number: within the stated tolerance of the truth, wherever that is.
        assert (found.tolerance or 0.0) == max(upper - value, value - lower)
    else:
        assert found.interval == (lower, upper)
        expected = Claim.LOWER if value == lower else Claim.UPPER if value == upper else Claim.ESTIMATE
        assert found.claim is expected


@pytest.mark.parametrize(("lower", "upper"), [(1.5, 2.25), (1.75, 2.5)])
def test_the_tolerance_reaches_the_farther_end(lower, upper):
    assert Finding.of(2.0, lower, upper, scale=1e9).tolerance == 0.5


def test_exact_is_an_error_of_a_millionth_of_the_value_or_a_billionth_of_the_scale():
    assert Finding.within(1e6, 1.0).claim is Claim.EXACT
    assert Finding.within(1e6, 1.0000001).claim is Claim.ESTIMATE
    assert Finding.of(2.0, 1.75, 2.25, scale=0.25e9).claim is Claim.EXACT
    assert Finding.of(2.0, 1.75, 2.25, scale=0.249e9).claim is Claim.ESTIMATE
    assert Finding.within(0.029, 0.029, scale=1.0).claim is Claim.ESTIMATE
    assert Finding.of(0.0, 0.0, 1e-9).claim is Claim.LOWER
    assert Finding.of(0.0, 0.0, 1e-9, is_share=True).claim is Claim.EXACT
    assert Finding.of(2.0, 1.0, 3.0, scale=inf).claim is Claim.ESTIMATE
    assert Finding.of(5, 5, 6, scale=1e12).claim is Claim.LOWER
    assert (Finding.of(-2.0, -inf, inf).claim, Finding.of(-inf).claim) == (Claim.ESTIMATE, Claim.EXACT)


def test_ends_are_on_their_sides_of_the_value():
    for value, lower, upper in ((1, 2, 3), (1, 0, 0.5), (float("nan"), 0, 1)):
        with pytest.raises(ValueError, match="between its ends"):
            Finding.of(value, lower, upper)


def test_infinite_values_are_exact_where_that_is_known():
    assert str(Finding.of(inf)) == "inf (EXACT)"
    assert Finding.of(inf, 5.0).claim is Claim.UPPER


def test_counts_state_their_resolution():
    assert Finding.of(5, resolution=1e-9).tolerance == 1e-9
    assert Finding.of(5, upper=inf, resolution=1e-9).tolerance == 1e-9


@given(st.floats(0, 1e9), st.floats(0, 10))
def test_numbers_up_to_an_error(value, error):
    found = Finding.within(value, error)
    if found.claim is Claim.EXACT:
        assert found.tolerance == error
        assert max(value + error - value, value - max(0.0, value - error)) <= 1e-6 * value
    else:
        assert found.interval == (max(0.0, value - error), value + error)


def test_whole_numbers_may_be_larger_than_floats():
    large = 10**400
    assert Finding.of(large).claim is Claim.EXACT
    assert str(Finding.of(large, upper=inf)).endswith("(LOWER)")
    assert Finding.of(large, -inf).to_dict()["value"] == large
    assert Finding.of(large, 0).to_dict()["interval"] == [0, large]


def test_is_a_number():
    assert int(Finding.of(3)) == 3
    assert float(Finding.of(0.5, -inf)) == 0.5


def test_json_keeps_what_matters_and_has_no_infinity():
    finding = Finding.of(3, upper=inf, name="regions", resolution=0.0, work={"seconds": 1.5})
    plain = json.loads(json.dumps(finding.to_dict(), allow_nan=False))
    assert plain == {
        "name": "regions",
        "value": 3,
        "claim": "LOWER",
        "interval": [3, None],
        "tolerance": 0.0,
        "work": {"seconds": 1.5},
    }


def test_is_frozen():
    with pytest.raises(AttributeError):
        Finding.of(3).value = 4


def test_an_upper_end_stays_where_nothing_is_known_below():
    assert Finding.of(1.0, -inf, 3.0).interval == (-inf, 3.0)
    assert Finding.of(3.0, -inf).interval is None


def test_six_digits_make_a_real_number_one() -> None:
    for value in (1.0, -250.0, 1e-6):
        size = abs(value)
        assert Finding.of(value, value, value + 0.99e-6 * size).claim is Claim.EXACT
        assert Finding.of(value, value, value + 1.01e-6 * size).claim is Claim.LOWER


def test_numbers_up_to_an_error_that_is_larger_than_they_are():
    assert Finding.within(1.0, 3.0).interval == (0.0, 4.0)
    assert Finding.within(1.0, 3.0, least=-5.0).interval == (-2.0, 4.0)
    assert Finding.within(1.0, 0.25).interval == (0.75, 1.25)
