"""Findings say what they are, in print and in JSON."""

import json

import pytest

from reluscope.findings import Claim, Finding


def test_prints_its_claim():
    assert str(Finding(1234, Claim.EXACT)) == "1,234 (EXACT)"
    assert str(Finding(7, Claim.LOWER, interval=(7, 9))) == "7 (LOWER, in [7, 9])"
    assert str(Finding(0.25, Claim.ESTIMATE, interval=(0.2, 0.3))) == "0.25 (ESTIMATE, in [0.2, 0.3])"


def test_is_a_number():
    assert int(Finding(3, Claim.EXACT)) == 3
    assert float(Finding(0.5, Claim.UPPER)) == 0.5


def test_json_keeps_what_matters_and_has_no_infinity():
    finding = Finding(3, Claim.LOWER, name="regions", interval=(3, float("inf")), tolerance=0.0, work={"seconds": 1.5})
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
        Finding(3, Claim.EXACT).value = 4
