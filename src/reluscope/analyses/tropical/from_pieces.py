"""The tropical form of a table of pieces, by the lattice form of a continuous piecewise affine function.

On a convex domain ``f = max_p min_{q in S_p} f_q``, where S_p are the maps that are at least f_p on all of region p
(Ovchinnikov, "Max-min representation of piecewise linear functions", 2002). Each minimum is minus a convex maximum H_p,
so that ``f = max_p (sum of all H_q but H_p) - sum of all H_q``.
"""

from fractions import Fraction

from reluscope.analyses.tropical.pieces import Pieces
from reluscope.analyses.tropical.polynomial import TropicalPolynomial
from reluscope.analyses.tropical.rational_function import TropicalRational
from reluscope.errors import BudgetExceededError
from reluscope.geometry.rational_polytopes import Row
from reluscope.networks.rational_maps import AffineFunction

MOST_MONOMIALS = 20_000


def from_pieces(table: Pieces, *, most_monomials: int = MOST_MONOMIALS) -> TropicalRational:
    """Return the tropical rational function of a table, which knows nothing of the network.

    Parameters
    ----------
    table : Pieces
        Continuous, of a convex domain.
    most_monomials : int
        How many affine functions may be formed on the way.

    Returns
    -------
    TropicalRational
        Equal to the table on its domain, in rational arithmetic; `agreement` proves it.

    Raises
    ------
    BudgetExceededError
        If there are more: the sums grow fast with the number of different minima.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[1.0], [1.0]], [0.0, -1.0]), ([[1.0, -1.0]], [0.0])])  # 0, then x, then 1
    >>> print(from_pieces(rs.tropical.pieces(net)))
    max(-x1, 0) - max(-x1, -1)
    """
    pairs = [_difference(table, output, most_monomials) for output in range(table.num_outputs)]
    return TropicalRational(tuple(over for over, _ in pairs), tuple(under for _, under in pairs))


def _difference(table: Pieces, output: int, most: int) -> tuple[TropicalPolynomial, TropicalPolynomial]:
    maps = list(dict.fromkeys(cell.outputs[output] for cell in table.cells))
    sets: set[frozenset[AffineFunction]] = set()
    for cell in table.cells:
        own = cell.outputs[output]
        sets.add(frozenset(one for one in maps if _is_above(one, own, cell.polytope.vertices)))
    # The minimum over a larger set is nowhere larger.
    least = sorted((one for one in sets if not any(other < one for other in sets)), key=sorted)
    lows = [TropicalPolynomial.of(tuple(-entry for entry in one) for one in members) for members in least]
    # A minimum of one map needs nothing added to be convex.
    bent = [low for low in lows if len(low) > 1]
    formed = 0

    def total(polynomials: list[TropicalPolynomial], start: AffineFunction) -> TropicalPolynomial:
        nonlocal formed
        found = TropicalPolynomial((start,))
        for polynomial in polynomials:
            formed += len(found) * len(polynomial)
            if formed > most:
                raise BudgetExceededError(
                    f"a tropical form may form at most {most:,} monomials, and this table of {len(table)} pieces needs "
                    "more: use rational_form(network), take a smaller domain, or raise most_monomials"
                )
            found = found.plus(polynomial)
        return found

    zero = (Fraction(0),) * (table.num_inputs + 1)
    parts = []
    for low in lows:
        start = zero if len(low) > 1 else tuple(-entry for entry in low.monomials[0])
        parts.append(total([other for other in bent if other is not low], start))
    over = TropicalPolynomial.of(monomial for part in parts for monomial in part.monomials)
    return over, total(bent, zero)


def _is_above(one: AffineFunction, other: AffineFunction, vertices: tuple[Row, ...]) -> bool:
    difference = [a - b for a, b in zip(one, other, strict=True)]
    return all(
        sum(entry * coordinate for entry, coordinate in zip(difference, vertex, strict=False)) >= 0
        for vertex in vertices
    )
