"""Findings as plain types in records; `rs.Finding.from_dict` reads them."""

from collections.abc import Mapping
from typing import Any

import reluscope as rs


def plain_findings(findings: Mapping[str, rs.Finding]) -> dict[str, Any]:
    """Return findings as plain types.

    Examples
    --------
    >>> plain_findings({"a": rs.Finding.of(5)})
    {'a': {'name': '', 'value': 5, 'claim': 'EXACT'}}
    """
    return {name: finding.to_dict() for name, finding in findings.items()}
