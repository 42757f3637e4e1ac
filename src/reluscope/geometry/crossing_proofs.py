"""Whether multipliers prove that a linear form is at most zero on a cell, with bounds on all rounding."""

import numpy as np
from numba import njit

from reluscope.geometry.forms_on_boxes import add_multiple, largest_on_box, pull_back


@njit(cache=True)
def is_proof(form, threshold, sides, frame, work) -> bool:
    """Return whether the multipliers of the present dictionary show that the form is at most a threshold on the cell.

    On a cone they never do so but for rounding, since the form is zero at y = 0. There it is asked that what the
    multiplied rows leave of the form, ``e = f + sum l_i r_i``, have a slope and a constant of at most a share s of all
    slopes and constants that are added up. Then no part of the cell where f is positive has a ball of radius
    ``r > 2 s |c| / (1 - s)`` around a point c. There f and the rows are at least r times their slopes, and a constant
    is at most the value at c and ``|c|`` times the slope; so ``r S <= e(c) <= s (2 |c| S + e(c))`` with the sum S of
    slopes.
    """
    n = frame.lower.shape[0]
    if frame.is_cone:
        return _is_proof_on_cone(form, sides, frame, work)
    rows, noise = sides.rows, sides.noise
    total, error = work.form, form.noise
    total[:] = form.coefficients
    for i in range(sides.number):
        work.multipliers[i] = 0.0
        if work.columns[i] >= 0 and work.reduced[work.columns[i]] < 0.0:
            factor = -work.reduced[work.columns[i]]
            work.multipliers[i] = factor
            add_multiple(total, factor, rows[i])
            error += factor * noise[i]
    pull_back(total, frame.generators, work.full)
    value = largest_on_box(work.full[:n], frame.lower, frame.upper)
    return value + error <= 0.0 or (value <= error <= threshold)


@njit(cache=True)
def _is_proof_on_cone(form, sides, frame, work) -> bool:
    """Return whether multipliers prove the same on a cone; see `is_proof`."""
    n = frame.lower.shape[0]
    rows, slack = sides.rows, sides.slack
    total, allowed, full = work.form, work.allowed, work.full
    total[:] = form.coefficients
    allowed[:] = form.slack
    pull_back(form.coefficients, frame.generators, full)
    slopes, constants = _slope(full), abs(full[n - 1])
    for i in range(sides.number):
        work.multipliers[i] = 0.0
        if work.columns[i] >= 0 and work.reduced[work.columns[i]] < 0.0:
            factor = -work.reduced[work.columns[i]]
            work.multipliers[i] = factor
            add_multiple(total, factor, rows[i])
            add_multiple(allowed, factor, slack[i])
            pull_back(rows[i], frame.generators, full)
            slopes += factor * _slope(full)
            constants += factor * abs(full[n - 1])
    pull_back(total, frame.generators, full)
    # The last coordinate is never negative.
    left = full[n - 1] + allowed[n - 1]
    for j in range(n - 1):
        full[j] = abs(full[j]) + allowed[j]
    return left <= frame.resolution * constants and _slope(full) <= frame.resolution * slopes


@njit(cache=True)
def _slope(full) -> float:
    """Return the length of the gradient of a form of y = (x, w) with respect to x."""
    largest = 0.0
    for j in range(full.shape[0] - 1):
        largest = max(largest, abs(full[j]))
    if largest == 0.0:
        return 0.0
    total = 0.0
    for j in range(full.shape[0] - 1):
        total += (full[j] / largest) ** 2
    return largest * np.sqrt(total)


@njit(cache=True)
def is_negative_on_line(form, sides, work) -> bool:
    """Return whether a form is at most zero on a cell of a line, whatever the rounding of form and rows.

    In two homogeneous coordinates, ``-f = a p + b q`` with two rows p and q (the last coordinate, which is never
    negative, is one as well) and ``a = |-f q| / |p q|``, ``b = |p -f| / |p q|``: three determinants of one sign prove
    it, and signs can be certain where the resolution is finer than the rounding of the slopes.
    """
    rows, slack, num_rows = sides.rows, sides.slack, sides.number
    last, exact = np.array([0.0, 1.0]), np.zeros(2)
    work.multipliers[: num_rows + 1] = 0.0
    for i in range(num_rows + 1):
        p, p_slack = (rows[i], slack[i]) if i < num_rows else (last, exact)
        for j in range(num_rows + 1):
            q, q_slack = (rows[j], slack[j]) if j < num_rows else (last, exact)
            whole = _least_determinant(p, p_slack, q, q_slack)
            if whole <= 0.0:
                continue
            first = _least_determinant(q, q_slack, form.coefficients, form.slack)
            second = _least_determinant(form.coefficients, form.slack, p, p_slack)
            if first > 0.0 and second > 0.0:
                if i < num_rows:
                    work.multipliers[i] = first / whole
                if j < num_rows:
                    work.multipliers[j] = second / whole
                return True
    return False


@njit(cache=True)
def _least_determinant(p, p_slack, q, q_slack) -> float:
    """Return the least that ``p_0 q_1 - p_1 q_0`` can be, given bounds on the errors of all four and on rounding."""
    value = p[0] * q[1] - p[1] * q[0]
    error = 2.0**-50 * (abs(p[0] * q[1]) + abs(p[1] * q[0]))
    error += abs(p[0]) * q_slack[1] + abs(p[1]) * q_slack[0] + abs(q[0]) * p_slack[1] + abs(q[1]) * p_slack[0]
    return value - (error + p_slack[0] * q_slack[1] + p_slack[1] * q_slack[0])
