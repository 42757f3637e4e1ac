"""What an analysis found in a block of samples."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from reluscope.findings import Column
from reluscope.stopping import Stop


class Measured(NamedTuple):
    """What an analysis found in a block of samples: columns of its rows' cells, and details whose first axis is rows.

    A row without any value is one that has no such quantity. What ``stop`` says ended work in this block, and no
    other one begins.
    """

    columns: tuple[Column, ...]
    details: Mapping[str, np.ndarray] = {}
    stop: Stop | None = None

    @property
    def form(self) -> tuple[object, ...]:
        """What blocks of one measurement have in common: the quantities, and the details but for their lengths."""
        details = sorted((name, table.dtype.kind, table.shape[1:]) for name, table in self.details.items())
        return (*(column.quantity.name for column in self.columns), *details)


def ragged(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return arrays of different lengths as a detail: an array of arrays, one for each row."""
    found = np.empty(len(parts), dtype=object)
    for row, part in enumerate(parts):
        found[row] = part
    return found
