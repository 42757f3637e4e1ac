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
    """Return distances and rows of the k closest codes to each query.

    Parameters
    ----------
    codes : Codes
        Candidates.
    queries : Codes, optional
        Of an equal layout; by default the codes themselves, where a row is not its own neighbour (another row with
        an equal code is).
    k : int
        Number of neighbours.

    Returns
    -------
    distances, rows : (q, k) int64
        Exact, ascending; ties are ordered by row.

    Raises
    ------
    InputError
        If layouts differ, or there are fewer than k candidates.

    Notes
    -----
    Every query is compared with every code, on all threads that torch may use; only the result takes memory. 60,000
    codes of 4,096 units among themselves take tens of seconds.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> from reluscope.codes import CodeLayout, GateLayout
    >>> pieces, layout = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 1]]), CodeLayout((GateLayout("relu", 3),))
    >>> codes = rs.Codes.from_pieces([pieces], layout)
    >>> distances, rows = rs.codespace.nearest_codes(codes)
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
