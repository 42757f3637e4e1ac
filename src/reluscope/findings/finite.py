"""Plain types as JSON can hold them."""

import math
from collections.abc import Mapping
from typing import Any


def finite(value: Any) -> Any:
    """Return plain types with None for infinities, which JSON does not have."""
    if isinstance(value, Mapping):
        return {key: finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [finite(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
