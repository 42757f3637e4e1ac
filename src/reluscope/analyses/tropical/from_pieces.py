"""The tropical form of a table of pieces: the difference of two convex functions.

Across a facet the map changes by a multiple of the facet's linear function h. Where it bends down, by -k h, the
denominator gets ``k max(0, h)``, once per hyperplane with the largest k; then numerator = f + denominator bends up
across every facet, so it is convex and the maximum of its own affine pieces. See Kripfganz and Schulze, "Piecewise
affine functions as a difference of two convex functions", Optimization 18, 1987.
"""

from collections.abc import Iterator
from fractions import Fraction

from reluscope.analyses.tropical.piece_table import Pieces
from reluscope.analyses.tropical.polynomial import TropicalPolynomial, epigraph, epigraph_row
from reluscope.analyses.tropical.rational_function import TropicalRational
from reluscope.arguments import Count, read_arguments
from reluscope.errors import BudgetExceededError
from reluscope.geometry.polyhedra.rational_polytopes import Row
from reluscope.networks.fractions.rational_maps import AffineFunction

MAX_MONOMIALS = 5_000


@read_arguments
def from_pieces(table: Pieces, *, most_monomials: Count = MAX_MONOMIALS) -> TropicalRational:
    """Return the tropical rational function of a table of pieces, computed from the table alone.

    Parameters
    ----------
    table : Pieces
        Continuous, on a convex domain.
    most_monomials : int
        Largest number of affine functions formed in the computation.

    Returns
    -------
    TropicalRational
        Equal to the table on its domain, in rational arithmetic; `agreement` proves it.

    Raises
    ------
    BudgetExceededError
        If there are more affine functions.

    Notes
    -----
    The number of monomials of the denominator is the number of cells in the arrangement of the hyperplanes along
    which the function bends down. The numerator has at most one monomial per cell of both.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[1.0], [1.0]], [0.0, -1.0]), ([[1.0, -1.0]], [0.0])])  # 0, then x, then 1
    >>> print(rs.tropical.from_pieces(rs.tropical.pieces(net)))
    max(0, x1) - max(0, x1 - 1)
    """
    pairs = list(_neighbors(table))
    unders = [_denominator(table, pairs, output, most_monomials) for output in range(table.num_outputs)]
    overs = [_numerator(table, under, output) for output, under in enumerate(unders)]
    return TropicalRational(tuple(overs), tuple(unders))


def _neighbors(table: Pieces) -> Iterator[tuple[int, int, Row]]:
    """Yield pairs of cells that share a facet, with its linear function, positive on the second cell."""
    # Cells meet face to face, so that both have the same vertices there.
    seen: dict[frozenset[Row], int] = {}
    for index, cell in enumerate(table.cells):
        for row, facet in cell.facets.items():
            if facet in seen:
                yield seen[facet], index, row
            seen[facet] = index


def _denominator(table: Pieces, pairs: list[tuple[int, int, Row]], output: int, most: int) -> TropicalPolynomial:
    bends: dict[Row, Fraction] = {}
    for one, other, row in pairs:
        first, second = table.cells[one].outputs[output], table.cells[other].outputs[output]
        axis = next(place for place, entry in enumerate(row) if entry)
        bend = (second[axis] - first[axis]) / row[axis]
        if bend < 0:
            plane = max(row, tuple(-entry for entry in row))
            bends[plane] = max(-bend, bends.get(plane, Fraction(0)))
    zero = (Fraction(0),) * (table.num_inputs + 1)
    total = TropicalPolynomial((zero,))
    formed = 0
    for plane, bend in sorted(bends.items()):
        formed += 2 * len(total)
        if formed > most:
            raise BudgetExceededError(
                f"a tropical form may form at most {most:,} monomials, and this table bends down along {len(bends)} "
                "hyperplanes, which needs more: take a smaller domain, or raise most_monomials"
            )
        total = total.plus(TropicalPolynomial.of([zero, tuple(bend * entry for entry in plane)]))
    return total


def _numerator(table: Pieces, under: TropicalPolynomial, output: int) -> TropicalPolynomial:
    found: set[AffineFunction] = set()
    for cell in table.cells:
        above = epigraph(cell.cone, under.monomials)
        assert above is not None
        sides = {row[:-1] for row in above.facets()}
        own = cell.outputs[output]
        # Those monomials of the denominator that are the largest on a part of the cell.
        used = (one for one in under.monomials if epigraph_row(one) in sides)
        found |= {tuple(a + b for a, b in zip(own, one, strict=True)) for one in used}
    return TropicalPolynomial.of(found)
