"""What is measured at once, in one piece: tables whose rows were all reached, and single numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reluscope.findings import Column, Finding, Findings, Status


def tabulate(
    keys: Mapping[str, np.ndarray],
    columns: Sequence[Column],
    *,
    domain: str = "",
    details: Mapping[str, np.ndarray] | None = None,
    population: int | None = None,
    stopped: str = "",
    seconds: float = 0.0,
) -> Findings:
    """Return columns as a table whose rows were all reached; those without any value are undefined.

    Examples
    --------
    >>> from reluscope.findings import declare
    >>> half = declare("example_half", "half of a number")
    >>> found = tabulate({"number": np.array([1, 2])}, [Column.of(half, [0.5, np.nan])])
    >>> [str(status) for status in found.status]
    ['done', 'undefined']
    """
    has_value = ~np.all([np.isnan(column.value) for column in columns], axis=0)
    return Findings(
        {column.quantity.name: column for column in columns},
        keys,
        tuple(Status.DONE if known else Status.UNDEFINED for known in has_value),
        domain=domain,
        details=details or {},
        population=population,
        stopped=stopped,
        seconds=seconds,
    )


def single(column: Column, *, domain: str = "", seconds: float = 0.0) -> Finding:
    """Return a column of one number as a finding.

    Examples
    --------
    >>> from reluscope.findings import declare
    >>> half = declare("example_half", "half of a number")
    >>> single(Column.of(half, [0.5], [0.5], [0.75]))
    Finding(example half: 0.5 (LOWER, in [0.5, 0.75]))
    """
    return tabulate({}, [column], domain=domain, seconds=seconds).finding(column.quantity)
