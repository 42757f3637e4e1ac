"""The tropical form of a network: every value it computes is a difference of two convex functions.

Values are kept as an affine function plus a signed combination of tropical polynomials. A gate that takes the largest
of some values adds what makes them all convex, takes the maximum, which is a new polynomial, and takes away again what
it added. A pointwise gate is a sum of such gates, one per breakpoint t_i, where its slope goes from s_(i-1) to s_i:
``s_0 z + c + sum_i (s_i - s_(i-1)) max(z - t_i, 0)``. Compare Zhang, Naitzat and Lim, "Tropical geometry of deep neural
networks", 2018, who do so layer by layer.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from reluscope.analyses.tropical.polynomial import TropicalPolynomial
from reluscope.analyses.tropical.rational_function import TropicalRational
from reluscope.arguments import Count, read_arguments
from reluscope.errors import BudgetExceededError, InputError
from reluscope.networks.fractions.rational_maps import AffineFunction
from reluscope.networks.graph.nodes import Affine, Pointwise
from reluscope.networks.network import Network
from reluscope.networks.passes.carry import carry_to_output
from reluscope.networks.passes.stages import Stage

MAX_MONOMIALS = 10_000
MAX_INPUTS = 8
MAX_UNITS = 128


@read_arguments
def rational_form(network: Network, *, most_monomials: Count = MAX_MONOMIALS) -> TropicalRational:
    """Return a small network as a tropical rational function: per output, the difference of two maxima.

    Parameters
    ----------
    network : Network
        Any gates, at most 128 units and 8 inputs; restrict a network with more inputs to a slice.
    most_monomials : int
        Largest number of affine functions formed in the computation, redundant ones included.

    Returns
    -------
    TropicalRational
        Equal to the network in real arithmetic, on all of space; the network's constants are taken as exact
        rational numbers. No maximum has a redundant monomial.

    Raises
    ------
    BudgetExceededError
        If the products of maxima have more monomials.
    InputError
        If there are more inputs or units, or the pieces of a gate do not meet exactly, because of rounded
        constants.

    Notes
    -----
    The number of monomials is at most a product over units, and in practice 50 to a few hundred for 10 to 20 units
    on two inputs. Each monomial formed costs about 0.1 to 1 ms. Polynomials that occur with both signs cancel as
    far as equal units are concerned; otherwise numerator and denominator are not minimal. A domain makes no
    difference: the form holds everywhere.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])  # the absolute value
    >>> print(rs.tropical.rational_form(net))
    max(-x1, x1) - max(0)
    """
    if network.num_inputs > MAX_INPUTS:
        raise InputError(
            f"a tropical form needs at most {MAX_INPUTS} inputs, got {network.num_inputs}: restrict the network to a "
            "segment or a plane with net.restrict(slice)"
        )
    if network.num_units > MAX_UNITS:
        raise InputError(
            f"a tropical form needs at most {MAX_UNITS} units, got {network.num_units:,}: such maxima have too many "
            "monomials, so take the regions of reluscope.partition instead"
        )
    arithmetic = _Arithmetic(network.num_inputs, most_monomials)
    outputs = carry_to_output(network, arithmetic, arithmetic.variables())
    arithmetic.place = "the output"
    zero = (Fraction(0),) * (network.num_inputs + 1)
    return TropicalRational(
        tuple(arithmetic.convex(value.affine, _positive(value.terms)) for value in outputs),
        tuple(arithmetic.convex(zero, _negative(value.terms)) for value in outputs),
    )


Terms = Mapping[TropicalPolynomial, Fraction]


@dataclass(frozen=True)
class _Value:
    """An affine function plus a combination of polynomials; no coefficient is zero."""

    affine: AffineFunction
    terms: Terms


class _Arithmetic:
    """Entries of values as differences of tropical polynomials, and how many monomials were formed."""

    def __init__(self, num_inputs: int, most_monomials: int) -> None:
        self._size = num_inputs
        self._most = most_monomials
        self._formed = 0
        self.place = ""

    def variables(self) -> list[_Value]:
        """Return the coordinates of the input."""
        width = self._size + 1
        return [_Value(tuple(Fraction(int(a == b)) for b in range(width)), {}) for a in range(self._size)]

    def affine(self, node: Affine, inputs: Sequence[list[_Value]]) -> list[_Value]:
        """Return the entries of an affine node."""
        self.place = node.name
        return _affine(self, node, inputs)

    def arrive(self, stage: Stage, value: list[_Value]) -> list[_Value]:
        """Return the entries of the gate's input."""
        del stage
        return value

    def leave(self, stage: Stage, arrived: list[_Value]) -> list[_Value]:
        """Return the entries of the gate's output."""
        gate = stage.gate
        self.place = gate.name
        if isinstance(gate, Pointwise):
            return _pointwise(self, gate, arrived)
        groups = ([arrived[entry] for entry in row if entry >= 0] for row in gate.index.tolist())
        return [self.largest(group) for group in groups]

    def combination(self, parts: Iterable[tuple[Fraction, _Value]], constant: Fraction) -> _Value:
        """Return a weighted sum of values, plus a number."""
        affine = [Fraction(0)] * self._size + [constant]
        terms: dict[TropicalPolynomial, Fraction] = {}
        for weight, value in parts:
            affine = [one + weight * other for one, other in zip(affine, value.affine, strict=True)]
            for polynomial, coefficient in value.terms.items():
                terms[polynomial] = terms.get(polynomial, Fraction(0)) + weight * coefficient
        return _Value(tuple(affine), {polynomial: entry for polynomial, entry in terms.items() if entry})

    def largest(self, candidates: Sequence[_Value]) -> _Value:
        """Return the largest of some values."""
        if len(candidates) == 1:
            return candidates[0]
        added: dict[TropicalPolynomial, Fraction] = {}
        for value in candidates:
            for polynomial, entry in _negative(value.terms).items():
                added[polynomial] = max(entry, added.get(polynomial, entry))
        zero = (Fraction(0),) * (self._size + 1)
        shift = _Value(zero, added)
        one = Fraction(1)
        raised = [self.combination([(one, value), (one, shift)], Fraction(0)) for value in candidates]
        convex = [self.convex(value.affine, value.terms) for value in raised]
        self._form(sum(map(len, convex)))
        top = TropicalPolynomial.of(monomial for polynomial in convex for monomial in polynomial.monomials)
        new = _Value(top.monomials[0], {}) if len(top) == 1 else _Value(zero, {top: one})
        return self.combination([(one, new), (-one, shift)], Fraction(0))

    def convex(self, affine: AffineFunction, terms: Terms) -> TropicalPolynomial:
        """Return an affine function plus a combination with positive coefficients as one maximum."""
        total = TropicalPolynomial((affine,))
        for polynomial, coefficient in sorted(terms.items(), key=lambda term: len(term[0])):
            self._form(len(total) * len(polynomial))
            total = total.plus(polynomial.times(coefficient))
        return total

    def _form(self, number: int) -> None:
        self._formed += number
        if self._formed > self._most:
            raise BudgetExceededError(
                f"a tropical form may form at most {self._most:,} monomials, and at {self.place!r} these are "
                f"{self._formed:,}: products of maxima suit networks of some 20 units and few inputs; take a smaller "
                "network, restrict it to a slice, or raise most_monomials"
            )


def _affine(arithmetic: _Arithmetic, node: Affine, inputs: Sequence[list[_Value]]) -> list[_Value]:
    matrices = node.matrix()
    given = node.constant
    constants = np.zeros(node.size) if given is None else np.broadcast_to(given.cpu().numpy(), node.shape).reshape(-1)
    found = []
    for row in range(node.size):
        parts = []
        for matrix, entries in zip(matrices, inputs, strict=True):
            first, last = int(matrix.indptr[row]), int(matrix.indptr[row + 1])
            columns, weights = matrix.indices[first:last].tolist(), matrix.data[first:last].tolist()
            parts += [(Fraction(weight), entries[column]) for column, weight in zip(columns, weights, strict=True)]
        found.append(arithmetic.combination(parts, Fraction(float(constants[row]))))
    return found


def _pointwise(arithmetic: _Arithmetic, node: Pointwise, entries: list[_Value]) -> list[_Value]:
    tables = (node.breakpoints, node.slopes, node.intercepts)
    levels, slopes, intercepts = (table.expand(-1, node.num_units).T.tolist() for table in tables)
    found = []
    one, zero = Fraction(1), arithmetic.combination([], Fraction(0))
    for unit, entry in enumerate(entries):
        level, slope, intercept = (list(map(Fraction, table[unit])) for table in (levels, slopes, intercepts))
        parts = [(slope[0], entry)]
        for piece, (place, before, after) in enumerate(zip(level, slope, slope[1:], strict=False)):
            if before * place + intercept[piece] != after * place + intercept[piece + 1]:
                raise InputError(
                    f"the pieces of gate {node.name!r} must meet exactly, but at {float(place):g} its rounded "
                    "constants leave a gap: use constants that float64 holds exactly"
                )
            if after != before:
                beyond = arithmetic.combination([(one, entry)], -place)
                parts.append((after - before, arithmetic.largest([beyond, zero])))
        found.append(arithmetic.combination(parts, intercept[0]))
    return found


def _positive(terms: Terms) -> Terms:
    return {polynomial: entry for polynomial, entry in terms.items() if entry > 0}


def _negative(terms: Terms) -> Terms:
    """Return the polynomials that are taken away, and how often."""
    return {polynomial: -entry for polynomial, entry in terms.items() if entry < 0}
