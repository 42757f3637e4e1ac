"""Which rows of a table are equal up to rounding."""

import numpy as np
from jaxtyping import Float


def coincident_groups(table: Float[np.ndarray, "h k"], tolerance: float) -> list[np.ndarray]:
    """Group the rows that differ by at most ``tolerance`` in every entry from the first of their group.

    Parameters
    ----------
    table : (h, k) array
        Rows of entries of order 1.
    tolerance : float
        Largest difference.

    Returns
    -------
    list of index arrays
        Increasing within a group; groups in order of their first row.

    Notes
    -----
    Rows are sorted by one random projection, so only rows with nearly equal keys are compared: O(h k + h log h) unless
    many rows coincide.

    Examples
    --------
    >>> coincident_groups(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1e-15]]), 1e-9)
    [array([0, 2]), array([1])]
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
