"""Ends within the rounding of each other are one number, and others are not."""

from math import inf

import pytest

from reluscope.analyses.boxes.rounded_ends import finding_within


@pytest.mark.parametrize(
    ("ends", "claim", "interval"),
    [
        ((2.0, 2.0, 2.0), "EXACT", None),
        ((2.0, 1.875, 2.125), "EXACT", None),  # as far apart as rounding allows
        ((2.0, 1.5, 2.125), "ESTIMATE", (1.5, 2.125)),
        ((2.0, 2.0, 3.0), "LOWER", (2.0, 3.0)),
        ((2.0, -inf, 2.0), "UPPER", None),
    ],
)
def test_what_is_claimed(ends, claim, interval):
    found = finding_within(*ends, rounding=0.25, scale=0.25e9, name="distance")
    assert (found.value, found.claim, found.interval, found.name) == (2.0, claim, interval, "distance")
    assert found.tolerance == (0.25 if claim == "EXACT" else None)


def test_infinite_numbers_have_no_rounding():
    found = finding_within(inf, inf, inf, rounding=0.25)
    assert (found.claim, found.tolerance) == ("EXACT", None)
