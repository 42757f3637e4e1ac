"""The shortest vector u with ``A u <= s`` and ``lower <= u <= upper``, by a dual active-set method.

Rows are made tight one at a time, of those found violated together the worst first; rows that begin to pull are dropped
again. The length of u only grows on the way, so that a search that needs no more than a bound can stop at it. With the
identity as Hessian this is Goldfarb and Idnani, "A numerically stable dual method for solving strictly convex quadratic
programs" (Mathematical Programming 27, 1983); the orthonormal basis of the tight rows is kept as they keep it.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from reluscope import _kernels

FOUND, BEYOND, EMPTY, STALLED = 0, 1, 2, 3


class ShortestVector(NamedTuple):
    """How the method ended, the vector, and the multipliers of rows, upper and lower bounds.

    ``status`` is FOUND, BEYOND (the vector is already as long as the bound), EMPTY (the multipliers are those of a
    contradiction) or STALLED. Multipliers fulfil ``u = -A' rows - upper + lower``, in a contradiction with u = 0.
    """

    status: int
    vector: np.ndarray
    rows: np.ndarray
    upper: np.ndarray
    lower: np.ndarray


def shortest_vector(
    rows: Float[np.ndarray, "h n"],
    slack: Float[np.ndarray, " h"],
    *,
    num_equations: int,
    lower: Float[np.ndarray, " n"],
    upper: Float[np.ndarray, " n"],
    bound: float,
    tolerance: float,
) -> ShortestVector:
    """Return the shortest u with ``rows u <= slack``; the first rows are equations.

    Parameters
    ----------
    rows : (h, n) array
        Of length 1.
    slack : (h,) array
    num_equations : int
        How many of the first rows hold with equality.
    lower, upper : (n,) arrays
        Bounds, infinite where there are none.
    bound : float
        Stop as soon as the vector is known to be no shorter.
    tolerance : float
        Largest violation of a row that counts as none.

    Notes
    -----
    A step costs ``n k`` multiplications with k rows tight, and n for each row that was violated when all were last
    asked; all are asked again, for ``h n``, when none of these is left. There are about as many steps as rows tight in
    the end.

    Examples
    --------
    >>> none = np.full(2, np.inf)
    >>> rows, slack = np.array([[-1.0, 0.0], [0.0, -1.0]]), np.array([-3.0, -4.0])
    >>> found = shortest_vector(
    ...     rows, slack, num_equations=0, lower=-none, upper=none, bound=np.inf, tolerance=1e-12
    ... )
    >>> found.vector, found.rows
    (array([3., 4.]), array([3., 4.]))
    """
    return ShortestVector(*_kernels.shortest_vector(rows, slack, num_equations, lower, upper, bound, tolerance))
