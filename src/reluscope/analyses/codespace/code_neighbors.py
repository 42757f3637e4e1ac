"""The nearest codes of codes in Hamming distance, without the table of all distances."""

import numpy as np
from jaxtyping import Int

from reluscope.arguments import Count, read_arguments
from reluscope.codes.nearest import nearest_rows
from reluscope.codes.packed import Codes
from reluscope.errors import InputError


@read_arguments
def nearest_codes(
    codes: Codes, queries: Codes | None = None, *, k: Count = 1
) -> tuple[Int[np.ndarray, "q k"], Int[np.ndarray, "q k"]]:
    """Return the k nearest codes of each query: their distances, and their rows.

    Parameters
    ----------
    codes : Codes
        Those to choose from.
    queries : Codes, optional
        Of an equal layout; by default the codes themselves, each of which is then no neighbour of its own (but another
        row with an equal code is).
    k : int
        How many.

    Returns
    -------
    distances, rows : (q, k) int64
        Exact, ascending; at equal distances lower rows come first.

    Raises
    ------
    InputError
        If layouts differ, or there are fewer than k codes to choose from.

    Notes
    -----
    Compares every query with every code, in tiles that stay in the cache, on all threads that torch may use; memory is
    that of the result. 60,000 codes of 4,096 units among themselves take tens of seconds.

    Examples
    --------
    >>> from reluscope.codes import CodeLayout, GateLayout
    >>> codes = Codes.from_pieces([np.array([[0, 0, 0], [0, 0, 1], [1, 1, 1]])], CodeLayout((GateLayout("relu", 3),)))
    >>> distances, rows = nearest_codes(codes)
    >>> distances.ravel(), rows.ravel()
    (array([1, 1, 2]), array([1, 0, 1]))
    """
    others = queries is None
    if queries is None:
        queries = codes
    elif not codes.layout.is_compatible(queries.layout):
        raise InputError(
            f"codes can be compared if their gates have equal numbers of units and pieces, but these have "
            f"{codes.layout.describe()} and those {queries.layout.describe()}"
        )
    most = len(codes) - others
    if not 1 <= k <= most:
        raise InputError(f"expected k from 1 to {most:,}, the number of codes to choose from, got {k}")
    return nearest_rows(queries.words, codes.words, codes.layout, k, others=others)
