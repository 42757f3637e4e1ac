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
    """Return the shortest u with ``rows u <= slack`` within bounds; the first rows are equations.

    Rows need length 1. Stops once u is known to be as long as ``bound``. A step costs ``n k`` multiplications with k
    rows tight; there are about as many steps as rows tight in the end.
    """
    return ShortestVector(*_kernels.shortest_vector(rows, slack, num_equations, lower, upper, bound, tolerance))
