"""The shortest vector u with ``A u <= s`` and ``lower <= u <= upper`` for few rows A, by Newton's method on the dual.

For multipliers m of the rows the shortest u of the Lagrangian is ``clip(-A' m)``, and the dual
``q(m) = |u|^2 / 2 + m (A u - s)`` is concave, with the gradient ``A u - s`` and, over the coordinates F that are not
clipped, the Hessian ``-A_F A_F'``. A step that projects onto ``m >= 0`` and is halved until q grows enough ends
after a few rounds, however many bounds are tight: `active_set` would take them one at a time.

Reference: Bertsekas, "Projected Newton methods for optimization problems with simple constraints" (SIAM Journal on
Control and Optimization 20, 1982).
"""

import numpy as np
from jaxtyping import Float

from reluscope.geometry.programs.active_set import BEYOND, FOUND, STALLED, ShortestVector

# Relative to the trace of the curvature, at least to 1: what is added to its diagonal.
SHIFT = 1e-12
# Relative to the value: what rounding may take from the gain of a step. Relative to a whole step: the shortest one.
ROUNDED, SHORTEST = 1e-15, 1e-12
MAX_ROUNDS = 60


def shortest_in_box(
    rows: Float[np.ndarray, "h n"],
    slack: Float[np.ndarray, " h"],
    *,
    lower: Float[np.ndarray, " n"],
    upper: Float[np.ndarray, " n"],
    bound: float,
    tolerance: float,
) -> ShortestVector:
    """Return the shortest u with ``rows u <= slack`` within bounds, STALLED if the rounds did not suffice.

    Rows need length 1. Stops once u is known to be as long as ``bound``, which also is how rows that contradict each
    other are found. A round costs ``h^2 n`` multiplications.
    """
    weights = np.zeros(len(rows))
    vector, value = _lagrangian(rows, slack, lower, upper, weights)
    status = STALLED
    for _ in range(MAX_ROUNDS):
        if 2 * value >= bound**2:
            status = BEYOND
            break
        gradient = rows @ vector - slack
        moving = (weights > 0) | (gradient > 0)
        if np.abs(gradient[moving]).max(initial=0.0) <= tolerance:
            status = FOUND
            break
        free = (vector > lower) & (vector < upper)
        part = rows[np.ix_(moving, free)]
        curvature = part @ part.T
        curvature[np.diag_indices_from(curvature)] += SHIFT * max(1.0, float(np.trace(curvature)))
        newton = np.linalg.solve(curvature, gradient[moving])
        share = 1.0
        while True:
            tried = weights.copy()
            tried[moving] = np.maximum(weights[moving] + share * newton, 0.0)
            vector_there, value_there = _lagrangian(rows, slack, lower, upper, tried)
            gain = float(gradient @ (tried - weights))
            if value_there >= value + 1e-4 * gain - ROUNDED * abs(value) and np.isfinite(value_there):
                break
            share /= 2
            if share < SHORTEST:
                return _answer(STALLED, rows, lower, upper, vector, weights)
        weights, vector, value = tried, vector_there, value_there
    return _answer(status, rows, lower, upper, vector, weights)


def _lagrangian(
    rows: np.ndarray, slack: np.ndarray, lower: np.ndarray, upper: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, float]:
    pull = weights @ rows
    vector = np.clip(-pull, lower, upper)
    return vector, float(vector @ (0.5 * vector + pull) - weights @ slack)


def _answer(
    status: int, rows: np.ndarray, lower: np.ndarray, upper: np.ndarray, vector: np.ndarray, weights: np.ndarray
) -> ShortestVector:
    goal = -(weights @ rows)
    return ShortestVector(status, vector, weights, np.maximum(goal - upper, 0.0), np.maximum(lower - goal, 0.0))
