"""The shortest vector u with ``A u <= s`` and ``lower <= u <= upper``, by a dual active-set method.

Rows are made tight one at a time, the most violated first; rows that begin to pull are dropped again. The length of u
only grows on the way, so that a search that needs no more than a bound can stop at it. With the identity as Hessian
this is Goldfarb and Idnani, "A numerically stable dual method for solving strictly convex quadratic programs"
(Mathematical Programming 27, 1983); the orthonormal basis of the tight rows is kept as they keep it.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numba import njit

from reluscope.interruption import held

FOUND, BEYOND, EMPTY, STALLED = 0, 1, 2, 3
# Rows of length 1 closer than this to a combination of others depend on them.
DEPENDENT = 1e-9


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
    A step costs ``h n`` multiplications and ``n k`` with k rows tight; there are about as many steps as rows tight in
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
    return ShortestVector(
        *_shortest(
            np.ascontiguousarray(rows),
            np.ascontiguousarray(slack),
            num_equations,
            np.ascontiguousarray(lower),
            np.ascontiguousarray(upper),
            bound,
            tolerance,
        )
    )


@held
@njit(cache=True)
def _shortest(rows, slack, num_equations, lower, upper, bound, tolerance):
    h, n = rows.shape
    vector, normal, rest = np.zeros(n), np.zeros(n), np.zeros(n)
    basis, triangle = np.zeros((min(n, 16), n)), np.zeros((min(n, 16), min(n, 16)))
    along, pull = np.zeros(n), np.zeros(n)
    active, weights = np.zeros(n, dtype=np.int64), np.zeros(n)
    signs = np.ones(n)
    count, equations = 0, 0
    final = np.zeros(h), np.zeros(n), np.zeros(n)
    status, steps, polished = STALLED, 0, 0
    while steps < 20 * (h + 2 * n) + 100:
        chosen, excess, sign = -1, tolerance, 1.0
        while equations < num_equations and chosen < 0:  # equations come first and stay
            off = rows[equations] @ vector - slack[equations]
            if abs(off) > tolerance or _distance_to_span(rows[equations], basis, count) > DEPENDENT:
                chosen, sign, excess = equations, 1.0 if off >= 0 else -1.0, abs(off)
            equations += 1
        if chosen < 0:
            offs = rows @ vector - slack
            for i in range(num_equations, h):
                if offs[i] > excess:
                    chosen, excess = i, offs[i]
            for k in range(n):
                if vector[k] - upper[k] > excess:
                    chosen, excess = h + k, vector[k] - upper[k]
                if lower[k] - vector[k] > excess:
                    chosen, excess = h + n + k, lower[k] - vector[k]
        if chosen < 0:
            # The vector is computed once more from the tight rows, without the rounding of all steps.
            _from_active(vector, weights, signs, active, count, basis, triangle, slack, lower, upper, h, n)
            polished += 1
            if polished == 2:
                status = FOUND
                break
            continue
        polished = 0
        _normal_of(chosen, sign, rows, h, n, normal)
        weight = 0.0
        while True:
            steps += 1
            length = _split(normal, basis, count, along, rest)
            for i in range(count - 1, -1, -1):
                total = along[i]
                for j in range(i + 1, count):
                    total -= triangle[i, j] * pull[j]
                pull[i] = total / triangle[i, i]
            dual_step, dropped = np.inf, -1
            for j in range(count):
                if active[j] >= num_equations and pull[j] > 1e-12 and weights[j] / pull[j] < dual_step:
                    dual_step, dropped = weights[j] / pull[j], j
            full_step = excess / length**2 if length > DEPENDENT else np.inf
            step = min(dual_step, full_step)
            if step == np.inf:
                if chosen < num_equations and excess <= tolerance:
                    break  # an equation that follows from the others
                _put(final, chosen, sign, 1.0, h, n)
                for j in range(count):
                    _put(final, active[j], signs[j], -pull[j], h, n)
                return EMPTY, vector, final[0], final[1], final[2]
            for j in range(count):
                weights[j] -= step * pull[j]
            weight += step
            if full_step < np.inf:
                vector -= step * rest
                excess -= step * length**2
            if step == full_step:
                if count == len(basis):
                    longer, wider = np.zeros((min(n, 2 * count), n)), np.zeros((min(n, 2 * count), min(n, 2 * count)))
                    longer[:count], wider[:count, :count] = basis, triangle
                    basis, triangle = longer, wider
                for j in range(n):
                    basis[count, j] = rest[j] / length
                for i in range(count):
                    triangle[i, count] = along[i]
                triangle[count, count] = length
                active[count], weights[count], signs[count] = chosen, weight, sign
                count += 1
                break
            _drop(dropped, count, active, weights, signs, basis, triangle)
            count -= 1
            if steps > 20 * (h + 2 * n) + 100:
                break
        if np.sqrt(vector @ vector) >= bound:
            status = BEYOND
            break
    for j in range(count):
        _put(final, active[j], signs[j], weights[j], h, n)
    return status, vector, final[0], final[1], final[2]


@njit(cache=True)
def _normal_of(which, sign, rows, h, n, normal):
    """Write the outward normal of a row or a bound."""
    if which < h:
        for j in range(n):
            normal[j] = sign * rows[which, j]
        return
    normal[:] = 0.0
    if which < h + n:
        normal[which - h] = 1.0
    else:
        normal[which - h - n] = -1.0


@njit(cache=True)
def _put(final, which, sign, weight, h, n):
    """Write the multiplier of a row or a bound."""
    if which < h:
        final[0][which] = sign * weight
    elif which < h + n:
        final[1][which - h] = weight
    else:
        final[2][which - h - n] = weight


@njit(cache=True)
def _split(normal, basis, count, along, rest):
    """Split a normal into its part along the basis and the rest, whose length is returned."""
    rest[:] = normal
    along[:count] = 0.0
    length = before = np.sqrt(rest @ rest)
    for _ in range(2):
        if not count:
            break
        part = basis[:count] @ rest
        rest -= part @ basis[:count]
        along[:count] += part
        length = np.sqrt(rest @ rest)
        if length > 0.7 * before:  # else once more: the first pass loses digits where little is left
            break
        before = length
    return length


@njit(cache=True)
def _distance_to_span(normal, basis, count):
    """Return the distance of a normal to the span of the basis."""
    if count == len(normal):
        return 0.0
    return _split(normal, basis, count, np.zeros(len(normal)), np.zeros(len(normal)))


@njit(cache=True)
def _drop(which, count, active, weights, signs, basis, triangle):
    """Take one row out of the factorisation."""
    for j in range(which, count - 1):
        active[j], weights[j], signs[j] = active[j + 1], weights[j + 1], signs[j + 1]
        for i in range(count):
            triangle[i, j] = triangle[i, j + 1]
    for i in range(which, count - 1):
        long = np.hypot(triangle[i, i], triangle[i + 1, i])
        cosine, sine = triangle[i, i] / long, triangle[i + 1, i] / long
        for j in range(i, count - 1):
            upper, under = triangle[i, j], triangle[i + 1, j]
            triangle[i, j], triangle[i + 1, j] = cosine * upper + sine * under, cosine * under - sine * upper
        for j in range(basis.shape[1]):
            upper, under = basis[i, j], basis[i + 1, j]
            basis[i, j], basis[i + 1, j] = cosine * upper + sine * under, cosine * under - sine * upper
    for i in range(count):
        triangle[i, count - 1] = 0.0
    triangle[count - 1, :] = 0.0


@njit(cache=True)
def _from_active(vector, weights, signs, active, count, basis, triangle, slack, lower, upper, h, n):
    """Recompute vector and multipliers from the tight rows: ``R' w = s``, ``u = Q w``, ``R weights = -w``."""
    inner = np.zeros(count)
    for i in range(count):
        which = active[i]
        if which < h:
            total = signs[i] * slack[which]
        elif which < h + n:
            total = upper[which - h]
        else:
            total = -lower[which - h - n]
        for j in range(i):
            total -= triangle[j, i] * inner[j]
        inner[i] = total / triangle[i, i]
    vector[:] = 0.0
    for i in range(count):
        vector += inner[i] * basis[i]
    for i in range(count - 1, -1, -1):
        total = -inner[i]
        for j in range(i + 1, count):
            total -= triangle[i, j] * weights[j]
        weights[i] = total / triangle[i, i]
