"""All sign vectors that some linear forms take inside a cell, depth first, by few linear programs.

At every node of the search a form takes both signs inside the cell, or only one. Points of the cell that earlier
programs found often show both. A proof that there is only one uses a few rows; it is kept, and holds wherever the same
rows come up again (learned clauses, as in solvers for satisfiability). What neither decides costs one program.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from reluscope.geometry.crossing import NONE, SOME, UNDECIDED, find_positive, inner_point
from reluscope.geometry.forms_on_boxes import dot, image, noise_at
from reluscope.geometry.framed_cells import Frame, FramedCell, LinearForm, LinearForms, Sides
from reluscope.geometry.generation import Scratch, find_among_corners
from reluscope.interruption import held

MAX_CLAUSES = 256
MAX_POINTS = 16
# Numbers touched by one call of `take` at most: a search of many forms may take long to find its first sign vector.
WORK = 2_000_000

PROGRAMS, PIVOTS, CORNERS, NODES, BY_POINT, BY_CLAUSE, UNDECIDED_FORMS = range(7)
NUM_COUNTERS = 7
DEPTH, NUM_ROWS, NUM_STORED = range(3)


class _Tree(NamedTuple):
    """The state of one search: everything between two calls lies in these arrays."""

    place: np.ndarray
    counters: np.ndarray
    forms: np.ndarray
    form_noise: np.ndarray
    form_slack: np.ndarray
    threshold: np.ndarray
    is_constant: np.ndarray
    is_doubtful: np.ndarray
    rows: np.ndarray
    noise: np.ndarray
    slack: np.ndarray
    row_form: np.ndarray
    phase: np.ndarray
    sign: np.ndarray
    is_cut: np.ndarray
    words: np.ndarray
    witness: np.ndarray
    second: np.ndarray
    stored: np.ndarray
    points: np.ndarray
    num_points: np.ndarray
    store_y: np.ndarray
    store_z: np.ndarray
    clause_mask: np.ndarray
    clause_bits: np.ndarray
    clause_sign: np.ndarray
    num_clauses: np.ndarray


class SignBatch(NamedTuple):
    """Some of the sign vectors found.

    Parameters
    ----------
    signs : (r, p) bool
        Whether each form is positive.
    is_cut : (r, p) bool
        Whether the form cut a cell on the way; the others are implied by those that did, and by the cell.
    witnesses : (r, n) float64
        Strictly interior points.
    """

    signs: np.ndarray
    is_cut: np.ndarray
    witnesses: np.ndarray


class SignTree:
    """The search for all sign vectors of forms inside one cell, in pieces between which it can be stopped.

    Parameters
    ----------
    frame : Frame
    cell : FramedCell
    forms : LinearForms
        A form that is constantly zero counts as not positive.
    scratch : Scratch
        Of the same frame.

    Notes
    -----
    Memory: O(p n) floats, whatever the number of sign vectors.
    """

    @held
    def __init__(self, frame: Frame, cell: FramedCell, forms: LinearForms, scratch: Scratch) -> None:
        number, size = forms.coefficients.shape
        fixed, num_columns = len(cell.rows), len(frame.lower)
        words = max(1, -(-number // 64))
        stored = 4 * (number + 2)
        self.frame, self.cell, self.forms = frame, cell, forms
        self._scratch = scratch
        self._tree = _Tree(
            np.array([0, fixed, 1]),
            np.zeros(NUM_COUNTERS, dtype=np.int64),
            np.ascontiguousarray(forms.coefficients),
            np.ascontiguousarray(forms.noise),
            np.ascontiguousarray(forms.slack),
            np.ascontiguousarray(forms.threshold),
            np.ascontiguousarray(forms.is_constant),
            np.ascontiguousarray(forms.is_doubtful),
            np.concatenate([cell.rows, np.zeros((number, size))]),
            np.concatenate([cell.noise, np.zeros(number)]),
            np.concatenate([cell.slack, np.zeros((number, cell.slack.shape[1]))]),
            np.full(fixed + number, -1),
            np.zeros(number + 1, dtype=np.int64),
            np.zeros(number + 1, dtype=np.int64),
            np.zeros(number + 1, dtype=np.bool_),
            np.zeros(words, dtype=np.uint64),
            np.zeros(number + 2, dtype=np.int64),
            np.zeros(number + 1, dtype=np.int64),
            np.ones(number + 2, dtype=np.int64),
            np.zeros((number + 2, MAX_POINTS), dtype=np.int64),
            np.zeros(number + 2, dtype=np.int64),
            np.zeros((stored, num_columns)),
            np.zeros((stored, size)),
            np.zeros((number, MAX_CLAUSES, words), dtype=np.uint64),
            np.zeros((number, MAX_CLAUSES, words), dtype=np.uint64),
            np.zeros((number, MAX_CLAUSES), dtype=np.int64),
            np.zeros(number, dtype=np.int64),
        )
        self._tree.store_y[0] = cell.witness
        image(frame.generators, self._tree.store_y[0], self._tree.store_z[0])

    @property
    def is_done(self) -> bool:
        """Whether all sign vectors have been returned."""
        return bool(self._tree.place[DEPTH] < 0)

    @property
    def num_open(self) -> int:
        """Nodes left to visit, each of which has at least one sign vector below it."""
        depth = int(self._tree.place[DEPTH])
        if depth < 0:
            return 0
        new = depth == len(self._tree.forms) or self._tree.phase[depth] == 0
        return int((self._tree.phase[:depth] == 1).sum()) + int(new or self._tree.phase[depth] == 1)

    @property
    def counters(self) -> np.ndarray:
        """Programs, pivots, nodes, decisions by points and by clauses, undecided forms so far."""
        return self._tree.counters

    def take(self, most: int) -> SignBatch:
        """Return the next sign vectors, at most this many, in the order of the search; maybe none (see ``WORK``)."""
        number = len(self.forms.coefficients)
        signs = np.zeros((most, number), dtype=np.bool_)
        cuts = np.zeros((most, number), dtype=np.bool_)
        witnesses = np.zeros((most, len(self.frame.lower)))
        self._scratch.reserve(len(self._tree.rows))
        tree, scratch = self._tree, self._scratch
        count = _advance(tree, self.frame, scratch.work, scratch.corners, WORK, signs, cuts, witnesses)
        return SignBatch(signs[:count], cuts[:count], witnesses[:count])

    def cells(self, batch: SignBatch) -> list[FramedCell]:
        """Return the cells of sign vectors."""
        cells = []
        for signs, is_cut, witness in zip(*batch, strict=True):
            which = np.flatnonzero(is_cut)
            side = np.where(signs[which], 1.0, -1.0)
            rows = side[:, None] * self.forms.coefficients[which]
            cells.append(self.cell.cut(rows, self.forms.noise[which], self.forms.slack[which], witness))
        return cells


@held
@njit(cache=True)
def _advance(tree, frame, work, corners, most_work, signs, cuts, witnesses) -> int:
    """Go on until there is no more room for sign vectors, or so much work is done, or the search has ended."""
    number = tree.forms.shape[0]
    place = tree.place
    last = _num_steps(tree) + most_work // frame.lower.shape[0]
    found = 0
    while place[DEPTH] >= 0 and found < signs.shape[0] and _num_steps(tree) <= last:
        depth = place[DEPTH]
        if depth == number:
            for f in range(number):
                signs[found, f] = tree.sign[f] > 0
                cuts[found, f] = tree.is_cut[f]
            witnesses[found] = tree.store_y[tree.witness[depth]]
            found += 1
            place[DEPTH] -= 1
            continue
        if tree.phase[depth] == 0:
            tree.counters[NODES] += 1
            _decide(tree, frame, work, corners, depth)
            tree.phase[depth] = 1 if tree.is_cut[depth] and tree.second[depth] >= 0 else 2
            if tree.is_cut[depth]:
                _push_row(tree, depth)
            _descend(tree, depth, tree.witness[depth])
        elif tree.phase[depth] == 1:
            tree.phase[depth] = 2
            tree.sign[depth] = -tree.sign[depth]
            row = place[NUM_ROWS] - 1
            for k in range(tree.forms.shape[1]):
                tree.rows[row, k] = -tree.rows[row, k]
            _descend(tree, depth, tree.second[depth])
        else:
            if tree.is_cut[depth]:
                place[NUM_ROWS] -= 1
            place[NUM_STORED] = tree.stored[depth]
            place[DEPTH] -= 1
    return found


@njit(cache=True)
def _num_steps(tree) -> int:
    return tree.counters[NODES] + tree.counters[PIVOTS] + tree.counters[CORNERS]


@njit(cache=True)
def _push_row(tree, depth):
    row = tree.place[NUM_ROWS]
    for k in range(tree.forms.shape[1]):
        tree.rows[row, k] = tree.sign[depth] * tree.forms[depth, k]
    tree.noise[row] = tree.form_noise[depth]
    tree.slack[row] = tree.form_slack[depth]
    tree.row_form[row] = depth
    tree.place[NUM_ROWS] += 1


@njit(cache=True)
def _descend(tree, depth, witness):
    """Go to the child on the present side of a form, with the points that lie there."""
    one = np.uint64(1)
    word, bit = depth >> 6, one << np.uint64(depth & 63)
    if tree.sign[depth] > 0:
        tree.words[word] |= bit
    else:
        tree.words[word] &= ~bit
    kept = 0
    for i in range(tree.num_points[depth]):
        point = tree.points[depth, i]
        if not tree.is_cut[depth] or tree.sign[depth] * dot(tree.forms[depth], tree.store_z[point]) >= 0.0:
            tree.points[depth + 1, kept] = point
            kept += 1
    tree.num_points[depth + 1] = kept
    tree.witness[depth + 1] = witness
    tree.phase[depth + 1] = 0
    # The second child comes later and needs what was stored for it.
    tree.stored[depth + 1] = tree.place[NUM_STORED]
    tree.place[DEPTH] = depth + 1


@njit(cache=True)
def _decide(tree, frame, work, corners, depth):
    """Find the sign of a form at the node's witness, and whether it has the other one inside the cell too."""
    form, noise = tree.forms[depth], tree.form_noise[depth]
    tree.is_cut[depth] = False
    value = dot(form, tree.store_z[tree.witness[depth]])
    if tree.is_constant[depth]:
        tree.sign[depth] = 1 if value > noise else -1
        tree.counters[UNDECIDED_FORMS] += 1 if tree.is_doubtful[depth] else 0
        return
    known = _known_sign(tree, depth)
    if known != 0:
        tree.sign[depth] = known
        tree.counters[BY_CLAUSE] += 1
        return
    if abs(value) <= 2.0 * noise_at(noise, tree.form_slack[depth], tree.store_y[tree.witness[depth]]):
        value = _leave_zero_set(tree, frame, work, corners, depth)
        if value == 0.0:
            return
    side = 1.0 if value > 0.0 else -1.0
    tree.sign[depth] = 1 if value > 0.0 else -1
    least = max(tree.threshold[depth], 2.0 * noise)
    best, reach = -1, max(least, 0.05 * abs(value))
    for i in range(tree.num_points[depth]):
        value_there = -side * dot(form, tree.store_z[tree.points[depth, i]])
        if value_there > reach:
            best, reach = tree.points[depth, i], value_there
    if best >= 0:
        work.out_y[:] = tree.store_y[best]
        work.out_z[:] = tree.store_z[best]
        if _split(tree, frame, work, depth):
            tree.counters[BY_POINT] += 1
            return
    answer = _ask(tree, frame, work, corners, depth, -side)
    if answer == SOME:
        _keep_point(tree, work, depth)
        if _split(tree, frame, work, depth):
            return
        answer = -1
    if answer == NONE:
        _learn(tree, work, depth, 1 if side > 0 else -1)
    else:
        # The other side is given up, but this cell must not reach across.
        tree.counters[UNDECIDED_FORMS] += 1
        tree.is_cut[depth] = True
        tree.second[depth] = -1


@njit(cache=True)
def _signed_form(tree, depth, side) -> LinearForm:
    """Return a form of the search, or minus it."""
    return LinearForm(side * tree.forms[depth], tree.form_noise[depth], tree.form_slack[depth], tree.threshold[depth])


@njit(cache=True)
def _sides(tree) -> Sides:
    """Return the rows of the node at hand."""
    return Sides(tree.rows, tree.noise, tree.slack, tree.place[NUM_ROWS])


@njit(cache=True)
def _ask(tree, frame, work, corners, depth, side) -> int:
    """Look for a point of the cell of a node where the form has the given sign, or for a proof that there is none."""
    witness = tree.witness[depth]
    form, sides = _signed_form(tree, depth, side), _sides(tree)
    at_y, at_z = tree.store_y[witness], tree.store_z[witness]
    tree.counters[PROGRAMS] += 1
    answer = UNDECIDED
    if frame.generators.shape[0] > 0:
        answer, steps = find_among_corners(form, sides, frame, work, corners, at_y, at_z)
        tree.counters[CORNERS] += steps
    if answer == UNDECIDED:
        answer, steps = find_positive(form, sides, frame, work, at_y, at_z)
        tree.counters[PIVOTS] += steps
    return answer


@njit(cache=True)
def _leave_zero_set(tree, frame, work, corners, depth) -> float:
    """Move a witness at which the form vanishes to one where it does not; 0 if there is none, and then decide."""
    form = tree.forms[depth]
    undecided = False
    for side in (1.0, -1.0):
        answer = _ask(tree, frame, work, corners, depth, side)
        if answer == SOME:
            _keep_point(tree, work, depth)
            new = _between(tree, frame, work, depth, side, 0.0)
            if new >= 0:
                tree.witness[depth] = new
                return dot(form, tree.store_z[new])
        undecided |= answer != NONE
    tree.sign[depth] = -1
    tree.counters[UNDECIDED_FORMS] += 1 if undecided else 0
    return 0.0


@njit(cache=True)
def _split(tree, frame, work, depth) -> bool:
    """Make a witness on the other side of a form, on the way to a point of the closed cell that lies there."""
    form = tree.forms[depth]
    start = abs(dot(form, tree.store_z[tree.witness[depth]]))
    side = -1.0 if tree.sign[depth] > 0 else 1.0
    end = side * dot(form, work.out_z)
    new = _between(tree, frame, work, depth, side, start / (start + end))
    if new < 0:
        return False
    tree.second[depth] = new
    tree.is_cut[depth] = True
    return True


@njit(cache=True)
def _between(tree, frame, work, depth, side, least) -> int:
    """Store a strictly interior point on the way from the witness to ``work.out_y``; -1 if rounding leaves none."""
    new = tree.place[NUM_STORED]
    found = inner_point(
        _signed_form(tree, depth, side),
        _sides(tree),
        frame,
        tree.store_y[tree.witness[depth]],
        work.out_y,
        least,
        tree.store_y[new],
        tree.store_z[new],
    )
    if not found:
        return -1
    tree.place[NUM_STORED] += 1
    return new


@njit(cache=True)
def _keep_point(tree, work, depth):
    """Keep the point that a program ended at, for this node and those below."""
    number = tree.num_points[depth]
    if number == MAX_POINTS:
        for i in range(MAX_POINTS - 1):
            tree.points[depth, i] = tree.points[depth, i + 1]
        number -= 1
    new = tree.place[NUM_STORED]
    tree.store_y[new] = work.out_y
    tree.store_z[new] = work.out_z
    tree.place[NUM_STORED] += 1
    tree.points[depth, number] = new
    tree.num_points[depth] = number + 1


@njit(cache=True)
def _known_sign(tree, depth) -> int:
    """Return the sign that a learned clause implies here, or 0."""
    mask, bits = tree.clause_mask[depth], tree.clause_bits[depth]
    for c in range(min(tree.num_clauses[depth], MAX_CLAUSES)):
        holds = True
        for w in range(tree.words.shape[0]):
            if (tree.words[w] & mask[c, w]) != bits[c, w]:
                holds = False
                break
        if holds:
            return tree.clause_sign[depth, c]
    return 0


@njit(cache=True)
def _learn(tree, work, depth, sign):
    """Keep which rows proved the sign of a form, in place of the oldest clause where there is no room."""
    one = np.uint64(1)
    slot = tree.num_clauses[depth] % MAX_CLAUSES
    tree.num_clauses[depth] += 1
    mask, bits = tree.clause_mask[depth, slot], tree.clause_bits[depth, slot]
    mask[:] = np.uint64(0)
    for i in range(tree.place[NUM_ROWS]):
        if work.multipliers[i] > 0.0 and tree.row_form[i] >= 0:
            f = tree.row_form[i]
            mask[f >> 6] |= one << np.uint64(f & 63)
    for w in range(mask.shape[0]):
        bits[w] = tree.words[w] & mask[w]
    tree.clause_sign[depth, slot] = sign
