"""Findings as plain types in records, and back."""

from collections.abc import Mapping
from math import inf
from typing import Any

import reluscope as rs


def plain_findings(findings: Mapping[str, rs.Finding]) -> dict[str, Any]:
    """Return findings as plain types.

    Examples
    --------
    >>> plain_findings({"a": rs.Finding(5, rs.Claim.EXACT)})
    {'a': {'name': '', 'value': 5, 'claim': 'EXACT'}}
    """
    return {name: finding.to_dict() for name, finding in findings.items()}


def finding_of(plain: Mapping[str, Any]) -> rs.Finding:
    """Return the finding that `Finding.to_dict` wrote.

    Examples
    --------
    >>> found = rs.Finding(5, rs.Claim.LOWER, interval=(5, inf), work={"seconds": 1.0})
    >>> finding_of(found.to_dict()) == found
    True
    """
    given = dict(plain)
    if "interval" in given:
        low, high = given["interval"]
        given["interval"] = (-inf if low is None else low, inf if high is None else high)
    return rs.Finding(**{**given, "claim": rs.Claim(given["claim"])})
