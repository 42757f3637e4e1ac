"""A dual simplex method for few rows and many bounded columns: its workspace, and its steps.

A dictionary is kept for the columns that rows have bound so far; rows join it when they are violated. Steps pass over
bounds of columns as long as the dual objective falls (the bound flipping ratio test).
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from reluscope.geometry.forms_on_boxes import add_multiple, pull_back

# Entries of a row below this share of its largest one are no pivots.
SMALLEST_PIVOT = 1e-10


class Workspace(NamedTuple):
    """Arrays that one search after the other writes to."""

    table: np.ndarray
    basis: np.ndarray
    variables: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    reduced: np.ndarray
    exact: np.ndarray
    lengths: np.ndarray
    entries: np.ndarray
    full: np.ndarray
    ratios: np.ndarray
    candidates: np.ndarray
    y: np.ndarray
    z: np.ndarray
    margins: np.ndarray
    form: np.ndarray
    out_y: np.ndarray
    out_z: np.ndarray
    multipliers: np.ndarray
    allowed: np.ndarray


def make_workspace(num_columns: int, size: int, num_rows: int) -> Workspace:
    """Return a workspace for forms of ``size`` coefficients under up to ``num_rows`` rows."""
    ranks = min(size, num_rows) + 2
    return Workspace(
        np.zeros((ranks, num_columns)),
        np.zeros(ranks, dtype=np.int64),
        np.zeros(num_columns, dtype=np.int64),
        np.zeros(num_rows + 1, dtype=np.int64),
        np.zeros(num_columns),
        np.zeros(num_columns),
        np.zeros(num_columns),
        np.zeros(num_rows + 1),
        np.zeros(num_columns),
        np.zeros(num_columns),
        np.zeros(num_columns),
        np.zeros(num_columns, dtype=np.int64),
        np.zeros(num_columns),
        np.zeros(size),
        np.zeros(num_rows + 1),
        np.zeros(size),
        np.zeros(num_columns),
        np.zeros(size),
        np.zeros(num_rows + 1),
        np.zeros(num_columns),
    )


@njit(cache=True)
def express(row, frame, work, rank):
    """Write a row in terms of the columns outside the basis."""
    n = frame.lower.shape[0]
    full, alpha = work.full, work.entries
    pull_back(row, frame.generators, full)
    for j in range(n):
        alpha[j] = full[work.variables[j]] if work.variables[j] < n else 0.0
    for b in range(rank):
        add_multiple(alpha, full[work.basis[b]], work.table[b])


@njit(cache=True, error_model="numpy")
def ratio_test(side, deficit, frame, work) -> tuple[int, float]:
    """Return the column that enters and the length of the dual step; -1 if no column stops the step.

    Passing the breakpoint of a column swaps its bound, which makes up for ``|entry| * (upper - lower)`` of the deficit.
    """
    n = frame.lower.shape[0]
    d, alpha, variables, ratios, chosen = work.reduced, work.entries, work.variables, work.ratios, work.candidates
    largest = 0.0
    for j in range(n):
        largest = max(largest, abs(alpha[j]))
    count = 0
    for j in range(n):
        entry = side * alpha[j]
        if abs(entry) <= SMALLEST_PIVOT * largest:
            continue
        if variables[j] < n:
            low, high = frame.lower[variables[j]], frame.upper[variables[j]]
            if low == high:
                continue
            if (work.values[j] == high) == (entry > 0.0):
                continue
        elif entry < 0.0:
            continue
        ratios[count] = max(0.0, -d[j] / entry)
        chosen[count] = j
        count += 1
    first, last = 0, count
    while last > first:
        middle = ratios[(first + last) // 2]
        # Three ways: below the pivot, equal to it, above.
        i, below, above = first, first, last
        gain, level = 0.0, 0.0
        while i < above:
            j = chosen[i]
            if ratios[i] < middle:
                gain += _swing(j, frame, work)
                ratios[i], ratios[below] = ratios[below], ratios[i]
                chosen[i], chosen[below] = chosen[below], chosen[i]
                below += 1
                i += 1
            elif ratios[i] > middle:
                above -= 1
                ratios[i], ratios[above] = ratios[above], ratios[i]
                chosen[i], chosen[above] = chosen[above], chosen[i]
            else:
                level += _swing(j, frame, work)
                i += 1
        if gain >= deficit:
            last = below
        elif gain + level >= deficit:
            best = below
            for i in range(below, above):
                if abs(alpha[chosen[i]]) > abs(alpha[chosen[best]]):
                    best = i
            return chosen[best], middle
        else:
            deficit -= gain + level
            first = above
    return -1, 0.0


@njit(cache=True)
def _swing(j, frame, work) -> float:
    """Return how much of a row's deficit a column makes up for when it swaps its bound."""
    variable = work.variables[j]
    if variable >= frame.lower.shape[0]:
        return np.inf
    return abs(work.entries[j]) * (frame.upper[variable] - frame.lower[variable])


@njit(cache=True)
def pivot(leaving, entering, theta, side, limit, rank, frame, work) -> int:
    """Exchange two variables and return the new number of columns in the basis."""
    n = frame.lower.shape[0]
    d, x, alpha, table, basis, variables = (
        work.reduced,
        work.values,
        work.entries,
        work.table,
        work.basis,
        work.variables,
    )
    add_multiple(d, theta * side, alpha)
    inverse = 1.0 / alpha[entering]
    price = work.exact[entering] * inverse
    add_multiple(work.exact, -price, alpha)
    work.exact[entering] = price
    for b in range(rank):
        if b != leaving:
            factor = table[b, entering] * inverse
            if factor != 0.0:
                add_multiple(table[b], -factor, alpha)
            table[b, entering] = factor
    comes = variables[entering]
    place = leaving
    if leaving >= n:
        variables[entering] = leaving
        work.columns[leaving - n] = entering
        x[entering] = 0.0
        place = rank
        if comes < n:
            rank += 1
    else:
        variables[entering] = basis[leaving]
        x[entering] = limit
    d[entering] = -theta * side
    if comes < n:
        basis[place] = comes
        for j in range(n):
            table[place, j] = -alpha[j] * inverse
        table[place, entering] = inverse
    else:
        work.columns[comes - n] = -1
        if leaving < n:
            rank -= 1
            basis[leaving] = basis[rank]
            table[leaving] = table[rank]
    _follow_prices(frame, work)
    return rank


@njit(cache=True)
def _follow_prices(frame, work):
    """Put every column at the bound that its reduced cost asks for."""
    n = frame.lower.shape[0]
    d, x = work.reduced, work.values
    for j in range(n):
        variable = work.variables[j]
        if variable >= n:
            d[j] = min(d[j], 0.0)
        elif d[j] > 0.0:
            x[j] = frame.upper[variable]
        elif d[j] < 0.0:
            x[j] = frame.lower[variable]


@njit(cache=True)
def perturb(d, share):
    """Move reduced costs away from zero and from each other, so that few steps have length zero."""
    state = np.uint64(88172645463325252)
    for j in range(d.shape[0]):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        d[j] *= 1.0 + share * (0.5 + (state >> np.uint64(40)) / 2.0**25)


@njit(cache=True)
def restore(frame, work):
    """Go back to the costs of the form itself."""
    work.reduced[:] = work.exact
    _follow_prices(frame, work)
