"""A checker of proofs that properties hold, which shares no code with what makes them.

A proof is, for each case, by sets of regions (`reluscope.checking.set_proofs`), or a tree of boxes that are halved at
given places, and at any of them multipliers of the rows of unsafe outputs ``A y <= b``. With multipliers m >= 0,
``(m A) y > m b`` on a box says that nothing unsafe is reached from it. That is decided here in whole numbers, with all
networks' constants as the numbers they are: outputs are affine functions of the box with noise, and what whole numbers
over ``2^PRECISION`` cannot hold is added to the noise.
"""

from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from reluscope.arguments import refuse_jumps
from reluscope.budget import Budget, TimeBudget
from reluscope.checking.demand import Watch, demand
from reluscope.checking.dual_bounds import DualBounds
from reluscope.checking.file_conditions import on_network
from reluscope.checking.set_proofs import check_sets, check_tree
from reluscope.checking.whole_numbers import Whole
from reluscope.errors import CertificateError, InputError, ReluscopeError
from reluscope.networks.building.combined import beside_inputs
from reluscope.networks.graph.nodes import Affine, Pointwise

if TYPE_CHECKING:
    from reluscope.checking.proofs import Proof, ProofBox
    from reluscope.networks.network import Network

# Values are whole numbers over this power of two, slopes of chords over a smaller one.
PRECISION, SLOPE = 128, 40
ONE = 1 << PRECISION


class CheckedCase(NamedTuple):
    """A box of inputs, and the network's outputs that none of them may have."""

    lower: np.ndarray
    upper: np.ndarray
    unsafe: list[Any]


class WholeForm(NamedTuple):
    """Entries of a node as ``center + columns e`` with ``|e| <= 1``, up to ``error``, all over 2^PRECISION.

    A column is of the same e in all values; those beyond the last of a value are zero.
    """

    center: np.ndarray
    columns: np.ndarray
    error: np.ndarray


def check_proof(proof: "Proof", network: "Network", safe: Any, *, budget: TimeBudget | None = None) -> int:
    """Check that a proof shows a property to hold for a network.

    Parameters
    ----------
    proof : Proof
    network : Network
        Only the matrices and constants of its nodes are trusted.
    safe : reluscope.verification.Property
        Property of the model's outputs. A last function that the network omits, such as a softmax, is part of the
        model; the checker's own code transforms conditions to the input of this function.
    budget : Budget, optional
        Time, after which the rest of the proof is not checked.

    Returns
    -------
    int
        Number of boxes or sets that were bounded.

    Raises
    ------
    CertificateError
        Names the first error.
    BudgetExceededError
        If the time did not suffice; ``partial`` is the number of boxes or sets bounded so far, none of them wrong.

    Notes
    -----
    For each box with multipliers, one evaluation in long integers: a few milliseconds with some 40 units, some
    tenths of a second with 300. For sets of regions, at first two products with every matrix for each unit, then
    one for each set: a second for two gates of 256 units and 784 inputs, and a few milliseconds per set.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])  # |x|
    >>> unsafe = rs.Polyhedron([[-1.0]], [-1.25])
    >>> safe = rs.verification.Property([rs.verification.Case([-1.0], [1.0], [unsafe])])
    >>> rs.testing.check_proof(rs.verify(net, safe, certify=True).proof, net, safe) > 0
    True
    """
    for name, value, has in (("proof", proof, "trees"), ("network", network, "fingerprint"), ("safe", safe, "cases")):
        if not hasattr(value, has):
            raise InputError(f"expected a proof, its network and its property, got {type(value).__name__} as {name}")
    if budget is not None and (not isinstance(budget, Budget) or budget.seconds is None):
        raise InputError(f"budget must say seconds, got {type(budget).__name__}: give rs.Budget(seconds=60)")
    refuse_jumps("check_proof", network)
    if not all(isinstance(node, Affine | Pointwise) for node in network.nodes[1:]):
        raise InputError("expected a network of pointwise gates, got one with others: proofs are of these alone")
    if safe.relates_inputs:
        network = beside_inputs(network)
    is_of = isinstance(proof.fingerprint, str) and proof.fingerprint == network.fingerprint
    demand(is_of, "it is of another network")
    try:
        demand(len(proof.trees) == len(safe.cases), f"it has {len(proof.trees)} trees for {len(safe.cases)} cases")
        watch = Watch((budget or Budget()).seconds_allowed, f"{proof.kind} of {len(proof)}")
        for index, (case, tree) in enumerate(zip(safe.cases, proof.trees, strict=True)):
            case = CheckedCase(case.lower, case.upper, [on_network(network.left_off, one) for one in case.unsafe])
            if isinstance(tree, dict):
                _check_boxes(tree, network, case, f"case {index}", watch)
            else:
                check_sets(tree, network, case, f"case {index}", watch)
    except ReluscopeError:
        raise
    except (TypeError, AttributeError, ValueError, LookupError, OverflowError) as error:
        raise CertificateError(
            "the proof proves nothing: it has other entries than a proof ("
            f"{' '.join(str(error).split())}); make it again from the network and the property"
        ) from error
    return watch.count


def _check_boxes(tree: "dict[str, ProofBox]", network: "Network", case: Any, what: str, watch: Watch) -> None:
    """Check that no input of a case leads to unsafe outputs, by its boxes."""
    run, duals = _BoxRun(network), cache(lambda: DualBounds(network, case.lower, case.upper))
    lower, upper = ([Fraction(entry) for entry in ends.tolist()] for ends in (case.lower, case.upper))
    waiting = [("", lower, upper, frozenset(range(len(case.unsafe))))]
    while waiting:
        path, low, high, left = waiting.pop()
        where = f"{what}, box {path or 'at the root'}"
        demand(path in tree, f"{where} is missing")
        node = tree[path]
        demand(_is_node(node), f"{where} has other entries than numbers")
        if node.ruled_out:
            watch.bounded()
            outputs = run.outputs(low, high)
            for number, multipliers in node.ruled_out.items():
                demand(number in range(len(case.unsafe)), f"{where} rules out what is not asked")
                demand(_is_missed(outputs, case.unsafe[number], multipliers), f"{where} may reach unsafe outputs")
            left = left - {*node.ruled_out}
        if node.by_sets:
            part = duals().on(*(np.array([float(entry) for entry in ends]) for ends in (low, high)))
            for number, sets in node.by_sets.items():
                demand(number in range(len(case.unsafe)), f"{where} rules out what is not asked")
                check_tree(sets, part, part.unknown(), case.unsafe[number], where, watch)
            left = left - {*node.by_sets}
        if not left:
            continue
        axis, place = node.axis, Fraction(node.place)
        demand(axis in range(len(low)) and low[axis] <= place <= high[axis], f"{where} is left open")
        waiting.append((path + "0", low, [*high[:axis], place, *high[axis + 1 :]], left))
        waiting.append((path + "1", [*low[:axis], place, *low[axis + 1 :]], high, left))


def _is_node(node: Any) -> bool:
    """Return whether a box of a proof has what one has: multipliers are looked at where they are used."""
    if not (isinstance(getattr(node, "ruled_out", None), dict) and isinstance(node.axis, int)):
        return False
    return isinstance(node.place, float | int) and all(
        isinstance(number, int)
        and isinstance(multipliers, tuple)
        and all(isinstance(m, float | int) for m in multipliers)
        for number, multipliers in node.ruled_out.items()
    )


def _is_missed(outputs: WholeForm, unsafe: Any, multipliers: tuple[float, ...]) -> bool:
    """Return whether a mixture of rows is missed by all outputs; an equation is two rows."""
    rows = [*unsafe.A.tolist(), *unsafe.C.tolist(), *(-unsafe.C).tolist()]
    ends = [*unsafe.b.tolist(), *unsafe.d.tolist(), *(-unsafe.d).tolist()]
    if len(multipliers) != len(rows) or not all(0 <= one < float("inf") for one in multipliers):
        return False
    mixed = [
        sum((Fraction(m) * Fraction(row[place]) for m, row in zip(multipliers, rows, strict=True)), Fraction(0))
        for place in range(len(outputs.center))
    ]
    end = sum((Fraction(m) * Fraction(one) for m, one in zip(multipliers, ends, strict=True)), Fraction(0))
    row = np.array(mixed, dtype=object)
    least = row @ outputs.center - np.abs(row @ outputs.columns).sum() - np.abs(row) @ outputs.error
    return bool(least > end * ONE)


class _BoxRun:
    """A network of pointwise gates over boxes, in whole numbers."""

    def __init__(self, network: "Network") -> None:
        self._nodes, self._output = network.nodes, network.output
        self._matrices: dict[int, tuple[list[tuple[np.ndarray, int]], np.ndarray]] = {}
        for place, node in enumerate(network.nodes[1:], start=1):
            if isinstance(node, Affine):
                tables = [_exactly(np.asarray(one.toarray(), dtype=np.float64)) for one in node.matrix()]
                constant = np.zeros(node.size)
                if node.constant is not None:
                    constant = node.constant.broadcast_to(node.shape).flatten().cpu().numpy()
                self._matrices[place] = tables, constant

    def outputs(self, lower: list[Fraction], upper: list[Fraction]) -> WholeForm:
        """Return what the outputs are on a box."""
        dim = len(lower)
        center, half = np.zeros(dim, dtype=object), np.zeros((dim, dim), dtype=object)
        for place, (low, high) in enumerate(zip(lower, upper, strict=True)):
            center[place] = _floor((low + high) / 2 * ONE)
            # So wide that the box is within, wherever the centre was rounded to.
            half[place, place] = _ceil(max(high * ONE - center[place], center[place] - low * ONE))
        values = {0: WholeForm(center, half, np.zeros(dim, dtype=object) + 0)}
        width = dim
        for place, node in enumerate(self._nodes[1:], start=1):
            inputs = [values[source] for source in node.inputs]
            if isinstance(node, Affine):
                values[place] = self._affine(place, inputs)
            else:
                assert isinstance(node, Pointwise)
                values[place] = _gate(node, inputs[0], width)
                width = values[place].columns.shape[1]
        return values[self._output]

    def _affine(self, place: int, inputs: list[WholeForm]) -> WholeForm:
        tables, constant = self._matrices[place]
        center = np.array([_floor(Fraction(entry) * ONE) for entry in constant.tolist()], dtype=object)
        width = max(one.columns.shape[1] for one in inputs)
        columns = np.zeros((len(center), width), dtype=object)
        # Of the constant, and of each product below, less than one each.
        error = np.ones(len(center), dtype=object)
        for (table, shift), value in zip(tables, inputs, strict=True):
            center = center + ((table @ value.center) >> shift)
            columns[:, : value.columns.shape[1]] += (table @ value.columns) >> shift
            error = error + ((np.abs(table) @ value.error) >> shift) + 2 + value.columns.shape[1]
        return WholeForm(center, columns, error)


def _gate(node: Pointwise, value: WholeForm, width: int) -> WholeForm:
    """Return a gate's values: pieces where they are certain, elsewhere chords with noise in columns from a width on."""
    levels, slopes, starts = (
        table.expand(-1, node.size).T.tolist() for table in (node.breakpoints, node.slopes, node.intercepts)
    )
    reach = np.abs(value.columns).sum(axis=1) + value.error
    center, error = value.center.copy(), value.error.copy()
    columns, fresh = value.columns.copy(), []
    for unit in range(len(center)):
        low, high = int(center[unit] - reach[unit]), int(center[unit] + reach[unit])
        ends = [Fraction(level) * ONE for level in levels[unit]]
        inside = [end for end in ends if low < end < high]
        # The function is its piece between neighbouring places; of both sides of a breakpoint, as pieces whose
        # constants are rounded may meet in float64 alone.
        sides = [Fraction(low), *inside, Fraction(high)]
        places = [*sides, *sides]
        pieces = [sum(end < place for end in ends) for place in sides] + [
            sum(end <= place for end in ends) for place in sides
        ]
        values = [
            Fraction(slopes[unit][piece]) * place + Fraction(starts[unit][piece]) * ONE
            for piece, place in zip(pieces, places, strict=True)
        ]
        if inside:
            slope = Fraction(_floor((values[len(sides) - 1] - values[0]) / (high - low) * (1 << SLOPE)), 1 << SLOPE)
        else:
            slope = Fraction(slopes[unit][sum(end <= low for end in ends)])
        away = [one - slope * place for one, place in zip(values, places, strict=True)]
        middle = _floor((max(away) + min(away)) / 2)
        stray = _ceil(max(away) - middle)  # the middle is rounded down
        top, bottom = slope.numerator, slope.denominator
        center[unit] = top * center[unit] // bottom + middle
        columns[unit] = np.array([top * int(entry) // bottom for entry in columns[unit]], dtype=object)
        error[unit] = _ceil(abs(slope) * int(error[unit])) + 1 + columns.shape[1]
        if inside:
            fresh.append((unit, stray))
        else:
            error[unit] += stray
    # What gates beside this one have strayed by is not what its own units do.
    noise = np.zeros((len(center), width - columns.shape[1] + len(fresh)), dtype=object)
    for column, (unit, stray) in enumerate(fresh, start=width - columns.shape[1]):
        noise[unit, column] = stray
    return WholeForm(center, np.concatenate([columns, noise], axis=1), error)


def _exactly(table: np.ndarray) -> tuple[np.ndarray, int]:
    """Return a matrix as whole numbers over a power of two, and this power."""
    exact = Whole.of(table)
    return exact.numbers << max(0, exact.exponent), max(0, -exact.exponent)


def _floor(number: Fraction) -> int:
    return number.numerator // number.denominator


def _ceil(number: Fraction | int) -> int:
    return -((-number).__floor__()) if isinstance(number, Fraction) else number
