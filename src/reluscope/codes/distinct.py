"""Equal rows of words, grouped in order of first appearance by one pass through an exact hash table."""

import numpy as np

from reluscope import _kernels


def group_equal_rows(words: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the groups of equal rows of an array (s, w) of uint64.

    Returns
    -------
    first : (g,) int64
        First row of each group, ascending.
    inverse : (s,) int64
        Group of each row.
    counts : (g,) int64
        Rows in each group.

    Notes
    -----
    Cost: every row is read once to hash it and once more to compare it with the row of equal hash; rows count as equal
    only if all their words are. Memory: 48 bytes a row.
    """
    return _kernels.group_equal_rows(words)
