"""Whether a linear form takes positive values inside a cell: a bounded dual simplex method that stops at the sign.

A cell is the set of ``z = G y`` with y in a box and ``R z >= 0`` (`framed_cells`). Few rows and many bounded columns
are the usual case (`dual_simplex`). Neither answer rests on the arithmetic of the method: SOME is shown by a point of
the cell, NONE by multipliers (`crossing_proofs`). Both are checked against the rows, with bounds on all rounding.
"""

from numba import njit

from reluscope.geometry.crossing_proofs import is_negative_on_line, is_proof
from reluscope.geometry.dual_simplex import express, perturb, pivot, ratio_test, restore
from reluscope.geometry.forms_on_boxes import dot, image, noise_at, pull_back

NONE, SOME, UNDECIDED = 0, 1, 2
# Witnesses stay this far from the sides of the box, relative to its width, where rows allow it.
INSET = 1e-9
# Costs are moved by up to this share of themselves while the method runs.
PERTURBATION = 1e-7
# A point beyond the zero set by this share of its way from the witness is good enough to stop at.
GOOD_SHARE = 0.1


@njit(cache=True, error_model="numpy")
def find_positive(form, sides, frame, work, at_y, at_z) -> tuple[int, int]:
    """Look for a point of a cell where a linear form is clearly positive, or for a proof that there is none.

    Parameters
    ----------
    form : LinearForm
    sides : Sides
        The cell's rows.
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
    answer, steps = _search(form, sides, frame, work, at_y, at_z, PERTURBATION)
    if answer == UNDECIDED:
        answer, more = _search(form, sides, frame, work, at_y, at_z, 0.0)
        steps += more
    is_line = frame.is_cone and frame.lower.shape[0] == 2 and frame.generators.shape[0] == 0
    if answer == UNDECIDED and is_line and is_negative_on_line(form, sides, work):
        answer = NONE
    return answer, steps


@njit(cache=True, error_model="numpy")
def _search(form, sides, frame, work, at_y, at_z, perturbation) -> tuple[int, int]:
    """Run the method once, with costs moved by a share of themselves."""
    generators, lower, upper = frame.generators, frame.lower, frame.upper
    coefficients, form_noise, form_slack = form.coefficients, form.noise, form.slack
    rows, noise, slack, num_rows = sides.rows, sides.noise, sides.slack, sides.number
    n = lower.shape[0]
    d, x, variables, columns = work.reduced, work.values, work.variables, work.columns
    table, basis, alpha, y, z = work.table, work.basis, work.entries, work.y, work.z
    margins = work.margins
    pull_back(coefficients, generators, d)
    work.exact[:] = d
    perturb(d, perturbation)
    for j in range(n):
        variables[j] = j
        x[j] = upper[j] if d[j] > 0 else lower[j]
    for i in range(num_rows):
        columns[i] = -1
        margins[i] = dot(rows[i], at_z)
        pull_back(rows[i], generators, work.full)
        work.lengths[i] = dot(work.full, work.full)
    is_perturbed = perturbation > 0.0
    start = dot(coefficients, at_z)
    least = max(form.threshold, 2.0 * form_noise)
    rank = 0
    max_steps = 400 + 40 * min(num_rows, coefficients.shape[0])
    for step in range(max_steps):
        for j in range(n):
            if variables[j] < n:
                y[variables[j]] = x[j]
        for b in range(rank):
            y[basis[b]] = dot(table[b], x)
        image(generators, y, z)
        bound = dot(d, x)
        if bound <= -form_noise and is_proof(form, 0.0, sides, frame, work):
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
        reached = start + share * (dot(coefficients, z) - start)
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
            return SOME if dot(coefficients, work.out_z) > least else UNDECIDED, step
        if leaving < 0:
            if is_proof(form, form.threshold, sides, frame, work):
                return NONE, step
            if not is_perturbed:
                return UNDECIDED, step
            is_perturbed = False
            restore(frame, work)
            continue
        if leaving < n:
            alpha[:] = table[leaving]
        else:
            express(rows[leaving - n], frame, work, rank)
        entering, theta = ratio_test(side, side * (limit - dot(alpha, x)), frame, work)
        if entering < 0:
            return UNDECIDED, step
        rank = pivot(leaving, entering, theta, side, limit, rank, frame, work)
        if rank >= table.shape[0]:
            return UNDECIDED, step
    return UNDECIDED, max_steps


@njit(cache=True, error_model="numpy")
def inner_point(form, sides, frame, at_y, to_y, least, y, z) -> bool:
    """Find a strictly interior point of a cell where a form is positive, between a witness and a point of the cell.

    Parameters
    ----------
    form, sides, frame
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
    rows, noise, slack = sides.rows, sides.noise, sides.slack
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
        inside = dot(form.coefficients, z) > 2.0 * noise_at(form.noise, form.slack, y)
        for i in range(sides.number):
            inside = inside and dot(rows[i], z) > 2.0 * noise_at(noise[i], slack[i], y)
        if inside:
            return True
    return False
