"""Which rows of a table are equal up to rounding."""

import numpy as np
from jaxtyping import Float


def coincident_groups(table: Float[np.ndarray, "h k"], tolerance: float) -> list[np.ndarray]:
    """Group the rows that differ by at most ``tolerance`` in every entry from the first of their group.

    Entries are of order 1. Indices increase within a group; groups are in order of their first row. Cost: O(h k + h log
    h) unless many rows coincide.
    """
    if not len(table):
        return []
    key = table @ np.random.default_rng(0).uniform(0.5, 1.5, table.shape[1])
    reach = 2 * tolerance * table.shape[1]
    order = np.argsort(key, kind="stable")
    ends = np.searchsorted(key[order], key[order] + reach, side="right")
    group = np.full(len(table), -1)
    for position, (first, end) in enumerate(zip(order, ends, strict=True)):
        if group[first] >= 0:
            continue
        near = order[position:end]
        near = near[group[near] < 0]
        equal = near[(np.abs(table[near] - table[first]) <= tolerance).all(axis=1)]
        group[equal] = equal.min()
    members = np.argsort(group, kind="stable")
    cuts = np.nonzero(np.diff(group[members]))[0] + 1
    return np.split(members, cuts)
