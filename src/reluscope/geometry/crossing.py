"""Whether a linear form takes positive values inside a cell: a bounded dual simplex method that stops at the sign.

A cell is the set of ``z = G y`` with y in a box and ``R z >= 0``. Few rows and many bounded columns are the usual case,
so a dictionary is kept for the columns that rows have bound so far, rows join it when they are violated, and steps
pass over bounds of columns as long as the dual objective falls (the bound flipping ratio test). Neither answer rests on
the arithmetic of the method: *yes* is a point of the cell, *no* is a set of multipliers, and both are checked against
the rows themselves with bounds on all rounding.
"""

from typing import NamedTuple

import numpy as np
from numba import njit, uint64

NONE, SOME, UNDECIDED = 0, 1, 2
# Entries of a row below this share of its largest one are no pivots.
SMALLEST_PIVOT = 1e-10
# Witnesses stay this far from the sides of the box, relative to its width, where rows allow it.
INSET = 1e-9
# Costs are moved by up to this share of themselves while the method runs.
PERTURBATION = 1e-7
# A point beyond the zero set by this share of its way from the witness is good enough to stop at.
GOOD_SHARE = 0.1


class Frame(NamedTuple):
    """The box and the map that all cells of one search share.

    Parameters
    ----------
    generators : (k, n) float64
        G, or (0, n) for the identity.
    lower, upper : (n,) float64
        The box of y.
    is_cone : bool
        Whether the box is a mere scale: then cells are cones, and points may be multiplied by positive numbers.
    resolution : float
        Of cones: a proof holds up to this share of the magnitudes that add up to it.
    """

    generators: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    is_cone: bool
    resolution: float


class Cell(NamedTuple):
    """The points ``z = G y`` of a frame with ``rows z >= 0``.

    Parameters
    ----------
    rows : (m, k) float64
    noise : (m,) float64
        Bounds on the errors of the rows' values anywhere in the box.
    slack : (m, n) or (m, 0) float64
        Of cones: at y the errors are at most ``slack @ |y|``.
    witness : (n,) float64
        A y strictly inside all rows and the box.
    """

    rows: np.ndarray
    noise: np.ndarray
    slack: np.ndarray
    witness: np.ndarray

    def cut(self, rows: np.ndarray, noise: np.ndarray, slack: np.ndarray, witness: np.ndarray) -> "Cell":
        """Return the part of a cell inside more rows, around another witness."""
        return Cell(
            np.concatenate([self.rows, rows]),
            np.concatenate([self.noise, noise]),
            np.concatenate([self.slack, slack]),
            witness,
        )


class Forms(NamedTuple):
    """Linear forms of z.

    Parameters
    ----------
    coefficients : (p, k) float64
    noise : (p,) float64
        Bounds on the errors of their values anywhere in the box.
    slack : (p, n) or (p, 0) float64
        Of cones: at y the errors are at most ``slack @ |y|``.
    threshold : (p,) float64
        Values that count as zero: a part of a cell where a form stays below is not separated. Zero for cones.
    is_constant : (p,) bool
        Whether the form has one value everywhere, up to its noise.
    """

    coefficients: np.ndarray
    noise: np.ndarray
    slack: np.ndarray
    threshold: np.ndarray
    is_constant: np.ndarray

    def select(self, which: "slice | np.ndarray") -> "Forms":
        """Return some of the forms."""
        return Forms(*(column[which] for column in self))


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


@njit(cache=True, forceinline=True)
def dot(a, b) -> float:
    """Return the inner product of two vectors, summed in eights in an order that is the same on every processor."""
    n, total = a.shape[0], 0.0
    eights = n >> 3
    for k in range(eights):
        # Unsigned: negative places, which count from the end, need no test.
        i = uint64(k) << uint64(3)
        first = a[i] * b[i] + a[i + uint64(4)] * b[i + uint64(4)]
        second = a[i + uint64(1)] * b[i + uint64(1)] + a[i + uint64(5)] * b[i + uint64(5)]
        third = a[i + uint64(2)] * b[i + uint64(2)] + a[i + uint64(6)] * b[i + uint64(6)]
        fourth = a[i + uint64(3)] * b[i + uint64(3)] + a[i + uint64(7)] * b[i + uint64(7)]
        total += (first + third) + (second + fourth)
    for i in range(eights << 3, n):
        total += a[i] * b[i]
    return total


@njit(cache=True)
def add_multiple(target, factor, source):
    """Add a multiple of one vector to another."""
    for i in range(target.shape[0]):
        target[i] += factor * source[i]


@njit(cache=True)
def pull_back(form, generators, out):
    """Write the coefficients of a form of z in terms of y."""
    if generators.shape[0] == 0:
        out[:] = form
        return
    out[:] = form[0] * generators[0]
    for k in range(1, form.shape[0]):
        if form[k] != 0.0:
            add_multiple(out, form[k], generators[k])


@njit(cache=True)
def image(generators, y, z):
    """Write ``z = G y``."""
    if generators.shape[0] == 0:
        z[:] = y
        return
    for k in range(z.shape[0]):
        z[k] = dot(generators[k], y)


@njit(cache=True)
def largest_on_box(full, lower, upper) -> float:
    """Return the largest value of a form of y over the box."""
    total = 0.0
    for j in range(full.shape[0]):
        total += max(full[j] * lower[j], full[j] * upper[j])
    return total


@njit(cache=True, error_model="numpy")
def find_positive(
    form, form_noise, form_slack, threshold, rows, noise, slack, num_rows, frame, work, at_y, at_z
) -> tuple[int, int]:
    """Look for a point of a cell where a linear form is clearly positive, or for a proof that there is none.

    Parameters
    ----------
    form : (k,) float64
    form_noise : float; form_slack : (n,) or (0,) float64
        Bounds on the error of the form's value: anywhere in the box, and of a cone by coordinates.
    threshold : float
        Values up to this one count as zero.
    rows : (at least num_rows, k) float64; noise : (at least num_rows,) float64; slack : (at least num_rows, n)
        The cell's rows, and bounds on the errors of their values.
    frame : Frame
    work : Workspace
    at_y, at_z : (n,) and (k,) float64
        A strictly interior point of the cell.

    Returns
    -------
    answer : int
        SOME: ``work.out_y`` is a point of the box, and of the cell up to rounding, where the form is above the
        threshold and twice its noise, ``work.out_z`` its image. NONE: with ``work.multipliers``, none of them negative,
        the form is at most zero on the cell, up to rounding, and on a cone up to its resolution; on a line without
        either. UNDECIDED: neither.
    steps : int
        Pivots.
    """
    answer, steps = _search(
        form, form_noise, form_slack, threshold, rows, noise, slack, num_rows, frame, work, at_y, at_z, PERTURBATION
    )
    if answer == UNDECIDED:
        answer, more = _search(
            form, form_noise, form_slack, threshold, rows, noise, slack, num_rows, frame, work, at_y, at_z, 0.0
        )
        steps += more
    is_line = frame.is_cone and frame.lower.shape[0] == 2 and frame.generators.shape[0] == 0
    if answer == UNDECIDED and is_line and _is_negative_on_line(form, form_slack, rows, slack, num_rows, work):
        answer = NONE
    return answer, steps


@njit(cache=True)
def _is_negative_on_line(form, form_slack, rows, slack, num_rows, work) -> bool:
    """Tell whether a form is at most zero on a cell of a line, whatever the rounding of form and rows.

    In two homogeneous coordinates, ``-f = a p + b q`` with two rows p and q (the last coordinate, which is never
    negative, is one as well) and ``a = |-f q| / |p q|``, ``b = |p -f| / |p q|``: three determinants of one sign prove
    it, and signs can be certain where the resolution is finer than the rounding of the slopes.
    """
    last, exact = np.array([0.0, 1.0]), np.zeros(2)
    work.multipliers[: num_rows + 1] = 0.0
    for i in range(num_rows + 1):
        p, p_slack = (rows[i], slack[i]) if i < num_rows else (last, exact)
        for j in range(num_rows + 1):
            q, q_slack = (rows[j], slack[j]) if j < num_rows else (last, exact)
            whole = _least_determinant(p, p_slack, q, q_slack)
            if whole <= 0.0:
                continue
            first = _least_determinant(q, q_slack, form, form_slack)
            second = _least_determinant(form, form_slack, p, p_slack)
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


@njit(cache=True, error_model="numpy")
def _search(
    form, form_noise, form_slack, threshold, rows, noise, slack, num_rows, frame, work, at_y, at_z, perturbation
) -> tuple[int, int]:
    """Run the method once, with costs moved by a share of themselves."""
    generators, lower, upper = frame.generators, frame.lower, frame.upper
    n = lower.shape[0]
    d, x, variables, columns = work.reduced, work.values, work.variables, work.columns
    table, basis, alpha, y, z = work.table, work.basis, work.entries, work.y, work.z
    margins = work.margins
    pull_back(form, generators, d)
    work.exact[:] = d
    _perturb(d, perturbation)
    for j in range(n):
        variables[j] = j
        x[j] = upper[j] if d[j] > 0 else lower[j]
    for i in range(num_rows):
        columns[i] = -1
        margins[i] = dot(rows[i], at_z)
        pull_back(rows[i], generators, work.full)
        work.lengths[i] = dot(work.full, work.full)
    is_perturbed = perturbation > 0.0
    start = dot(form, at_z)
    least = max(threshold, 2.0 * form_noise)
    rank = 0
    most_steps = 400 + 40 * min(num_rows, form.shape[0])
    for step in range(most_steps):
        for j in range(n):
            if variables[j] < n:
                y[variables[j]] = x[j]
        for b in range(rank):
            y[basis[b]] = dot(table[b], x)
        image(generators, y, z)
        bound = dot(d, x)
        if bound <= -form_noise and _is_proof(
            form, form_noise, form_slack, 0.0, rows, noise, slack, num_rows, frame, work
        ):
            return NONE, step
        # The worst violation leaves; the way from the witness ends at the first one.
        worst, leaving, side, limit, share = 0.0, -1, 1.0, 0.0, 1.0
        for b in range(rank):
            j = basis[b]
            gap = max(lower[j] - y[j], y[j] - upper[j])
            if gap > 0.0:
                edge = lower[j] if y[j] < lower[j] else upper[j]
                share = min(share, (edge - at_y[j]) / (y[j] - at_y[j]))
                gain = gap * gap / (1.0 + dot(table[b], table[b]))
                if gap > 1e-13 * (upper[j] - lower[j]) and gain > worst:
                    worst, leaving, limit = gain, b, edge
                    side = 1.0 if y[j] < lower[j] else -1.0
        for i in range(num_rows):
            value = dot(rows[i], z)
            if value < 0.0:
                share = min(share, margins[i] / (margins[i] - value))
                if columns[i] < 0 and value < -2.0 * noise_at(noise[i], slack[i], y):
                    gain = value * value / work.lengths[i]
                    if gain > worst:
                        worst, leaving, side, limit = gain, n + i, 1.0, 0.0
        reached = start + share * (dot(form, z) - start)
        if frame.is_cone:
            for j in range(n):
                work.out_y[j] = at_y[j] + share * (y[j] - at_y[j])
            least = 2.0 * noise_at(form_noise, form_slack, work.out_y)
        if reached > least and (leaving < 0 or reached >= GOOD_SHARE * (reached - start)):
            for j in range(n):
                # Rounding of the sum could lead out of the box.
                work.out_y[j] = min(max(at_y[j] + share * (y[j] - at_y[j]), lower[j]), upper[j])
            image(generators, work.out_y, work.out_z)
            # What was computed on the way is checked at the point itself.
            return SOME if dot(form, work.out_z) > least else UNDECIDED, step
        if leaving < 0:
            if _is_proof(form, form_noise, form_slack, threshold, rows, noise, slack, num_rows, frame, work):
                return NONE, step
            if not is_perturbed:
                return UNDECIDED, step
            is_perturbed = False
            _restore(frame, work)
            continue
        if leaving < n:
            alpha[:] = table[leaving]
        else:
            _express(rows[leaving - n], frame, work, rank)
        entering, theta = _ratio_test(side, side * (limit - dot(alpha, x)), frame, work)
        if entering < 0:
            return UNDECIDED, step
        rank = _pivot(leaving, entering, theta, side, limit, rank, frame, work)
        if rank >= table.shape[0]:
            return UNDECIDED, step
    return UNDECIDED, most_steps


@njit(cache=True, error_model="numpy")
def inner_point(form, form_noise, form_slack, rows, noise, slack, num_rows, frame, at_y, to_y, least, y, z) -> bool:
    """Find a strictly interior point of a cell where a form is positive, between a witness and a point of the cell.

    Parameters
    ----------
    form, form_noise, form_slack, rows, noise, slack, num_rows, frame
        See `find_positive`.
    at_y, to_y : (n,) float64
        The witness, and a point where the form is positive.
    least : float
        The form is positive from this share of the way on.
    y, z : (n,) and (k,) float64
        The point is written here.

    Returns
    -------
    bool
        Whether all rows and the form exceed their rounding at the point.
    """
    for attempt in range(4):
        share = least + (1.0 - least) * (0.5, 0.25, 0.75, 0.5)[attempt]
        inset = INSET if attempt < 3 else 1e-14
        largest = 0.0
        for j in range(y.shape[0]):
            low, high = frame.lower[j], frame.upper[j]
            margin = inset * (high - low)
            value = at_y[j] + share * (to_y[j] - at_y[j])
            y[j] = min(max(value, low + margin), high - margin)
            largest = max(largest, abs(y[j]))
        if frame.is_cone:
            for j in range(y.shape[0]):
                y[j] *= 0.5 / largest
        image(frame.generators, y, z)
        inside = dot(form, z) > 2.0 * noise_at(form_noise, form_slack, y)
        for i in range(num_rows):
            inside = inside and dot(rows[i], z) > 2.0 * noise_at(noise[i], slack[i], y)
        if inside:
            return True
    return False


@njit(cache=True)
def _is_proof(form, form_noise, form_slack, threshold, rows, noise, slack, num_rows, frame, work) -> bool:
    """Tell whether the multipliers of the present dictionary show that the form is at most zero on the cell.

    On a cone they never do so but for rounding, since the form is zero at y = 0. There it is asked that what the
    multiplied rows leave of the form, ``e = f + sum l_i r_i``, have a slope and a constant of at most a share s of all
    slopes and constants that are added up. Then no part of the cell where f is positive has a ball of radius
    ``r > 2 s |c| / (1 - s)`` around a point c. There f and the rows are at least r times their slopes, and a constant
    is at most the value at c and ``|c|`` times the slope; so ``r S <= e(c) <= s (2 |c| S + e(c))`` with the sum S of
    slopes.
    """
    n = frame.lower.shape[0]
    if frame.is_cone:
        return _is_proof_on_cone(form, form_slack, rows, slack, num_rows, frame, work)
    total, error = work.form, form_noise
    total[:] = form
    for i in range(num_rows):
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
def noise_at(noise, slack, y) -> float:
    """Return the bound on the error of a form at a point: of a cone by coordinates, else that of all the box."""
    if slack.shape[0] == 0:
        return noise
    total = 0.0
    for j in range(y.shape[0]):
        total += slack[j] * abs(y[j])
    return total


@njit(cache=True)
def _is_proof_on_cone(form, form_slack, rows, slack, num_rows, frame, work) -> bool:
    n = frame.lower.shape[0]
    total, allowed, full = work.form, work.allowed, work.full
    total[:] = form
    allowed[:] = form_slack
    pull_back(form, frame.generators, full)
    slopes, constants = _slope(full), abs(full[n - 1])
    for i in range(num_rows):
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
def _express(row, frame, work, rank):
    """Write a row in terms of the columns outside the basis."""
    n = frame.lower.shape[0]
    full, alpha = work.full, work.entries
    pull_back(row, frame.generators, full)
    for j in range(n):
        alpha[j] = full[work.variables[j]] if work.variables[j] < n else 0.0
    for b in range(rank):
        add_multiple(alpha, full[work.basis[b]], work.table[b])


@njit(cache=True, error_model="numpy")
def _ratio_test(side, deficit, frame, work) -> tuple[int, float]:
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
def _pivot(leaving, entering, theta, side, limit, rank, frame, work) -> int:
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
def _perturb(d, share):
    """Move reduced costs away from zero and from each other, so that few steps have length zero."""
    state = np.uint64(88172645463325252)
    for j in range(d.shape[0]):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        d[j] *= 1.0 + share * (0.5 + (state >> np.uint64(40)) / 2.0**25)


@njit(cache=True)
def _restore(frame, work):
    """Go back to the costs of the form itself."""
    work.reduced[:] = work.exact
    _follow_prices(frame, work)
