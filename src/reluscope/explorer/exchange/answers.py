"""What an answer is: a header of plain values, and arrays."""

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from reluscope.findings import Finding


@dataclass(frozen=True, eq=False)
class Answer:
    """The answer to a question."""

    header: dict[str, Any]  # plain values as JSON has them; not finite: None
    arrays: dict[str, np.ndarray]  # float64, float32, int32, uint32, int16 or uint8


def finding(found: Finding) -> dict[str, Any]:
    """Return a finding as pages show it: its value, its claim, and the ends between which the truth lies."""
    if found.interval is not None:
        lower, upper = found.interval
    else:
        # A bare upper bound says nothing of the lower end, and an estimate nothing of either.
        claim = str(found.claim)
        lower = found.value if claim in ("EXACT", "LOWER") else None
        upper = found.value if claim in ("EXACT", "UPPER") else None
    return {
        "value": found.value,
        "claim": str(found.claim),
        "lower": plain(lower),
        "upper": plain(upper),
        "definition": found.definition,
    }


def plain(value: Any) -> Any:
    """Return a value as JSON has it: NumPy's numbers as Python's, None for numbers that are not finite."""
    if isinstance(value, dict):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if isfinite(value) else None
    return value
