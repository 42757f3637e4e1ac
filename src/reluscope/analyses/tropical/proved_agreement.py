"""Proofs that a network and a tropical rational function are equal, region by region, in rational arithmetic.

On a region of the network f is affine, so that ``f = F - G`` says that two convex functions, F and f + G, are equal.
One is at most the other iff that holds at the vertices of the other's epigraph: a convex function minus an affine one
is largest at a vertex. Regions are represented by the cones over them, so that unbounded ones are decided as well.
"""

from collections.abc import Sequence
from fractions import Fraction

from reluscope.analyses.tropical.from_pieces import from_pieces
from reluscope.analyses.tropical.piece_table import pieces
from reluscope.analyses.tropical.polynomial import epigraph
from reluscope.analyses.tropical.rational_function import TropicalRational
from reluscope.analyses.tropical.rational_regions import ExactCell, exact_cells
from reluscope.analyses.tropical.to_module import to_module
from reluscope.arguments import read_arguments
from reluscope.errors import ShapeError
from reluscope.findings import Finding
from reluscope.geometry.polyhedra.domains import Domain, Slice
from reluscope.geometry.polyhedra.rational_polytopes import Row
from reluscope.networks.fractions.rational_maps import AffineFunction
from reluscope.networks.models.load import load
from reluscope.networks.network import Network

METHOD = "rational comparison at the vertices of epigraphs"


@read_arguments
def agreement(network: Network, function: TropicalRational, domain: Domain | None = None) -> Finding:
    """Count the regions on which a network and a tropical rational function differ; 0 proves them equal.

    Parameters
    ----------
    network : Network
        At most 64 units.
    function : TropicalRational
        Of the inputs, or of the coordinates of a slice.
    domain : Space, Box, Polyhedron or Slice, optional
        All of space by default.

    Returns
    -------
    Finding
        EXACT: the number of activation regions of the network that contain a point where the two differ.

    Raises
    ------
    ShapeError
        If the numbers of inputs or outputs differ.
    BudgetExceededError, InputError
        As for `pieces`.

    Notes
    -----
    Two double descriptions in n + 2 dimensions per region and output, each with one row per monomial.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> rs.tropical.agreement(net, rs.tropical.rational_form(net))
    Finding(regions where network and tropical form differ: 0 (EXACT))
    """
    size = domain.dim if isinstance(domain, Slice) else network.num_inputs
    if (function.num_inputs, function.num_outputs) != (size, network.num_outputs):
        raise ShapeError(
            f"expected a tropical form of {size} inputs and {network.num_outputs} outputs, got "
            f"{function.num_inputs} and {function.num_outputs}"
        )
    cells = exact_cells(network, domain)
    return Finding.of(
        sum(not _agree(cell, function) for cell in cells),
        name="regions where network and tropical form differ",
        definition="proper_activation",
        domain=_describe(network, domain),
        method=METHOD,
        work={"regions": len(cells), "monomials": function.num_monomials},
    )


@read_arguments
def round_trip(network: Network, domain: Domain | None = None) -> Finding:
    """Convert a network to its pieces, to a tropical form, back to a network, and prove all of them equal.

    Parameters
    ----------
    network : Network
        At most 64 units, and few regions.
    domain : Space, Box, Polyhedron or Slice, optional
        All of space by default.

    Returns
    -------
    Finding
        EXACT: the number of regions, of the original network and of the new one, on which the network differs from
        the tropical form of its pieces. 0 proves that all are the same function on the domain.

    Raises
    ------
    BudgetExceededError
        If there are too many regions or monomials.
    InputError
        If a coefficient of the tropical form is not a float64, so that no network with float64 constants is equal
        to the form.

    Examples
    --------
    >>> import reluscope as rs
    >>> rs.tropical.round_trip(rs.load([([[1.0, 1.0], [1.0, 1.0]], [2.0, 0.0]), ([[1.0, -2.0]], [-1.0])])).value
    0
    """
    table = pieces(network, domain)
    function = from_pieces(table)
    again = load(to_module(function), input_shape=(function.num_inputs,))
    inner = domain.window if isinstance(domain, Slice) else domain
    back = agreement(again, function, inner)
    differing = sum(not _agree(cell, function) for cell in table.cells)
    return Finding.of(
        differing + int(back),
        name="regions where network, pieces, tropical form and network differ",
        definition="proper_activation",
        domain=_describe(network, domain),
        method=METHOD,
        work={
            "regions": len(table),
            "regions of the network made again": back.work["regions"],
            "monomials": function.num_monomials,
        },
    )


def _agree(cell: ExactCell, function: TropicalRational) -> bool:
    pairs = zip(cell.outputs, function.numerators, function.denominators, strict=True)
    for own, over, under in pairs:
        left = _undominated(cell.vertices, over.monomials)
        right = _undominated(cell.vertices, [_sum(own, one) for one in under.monomials])
        if not _is_below(cell.cone, left, right) or not _is_below(cell.cone, right, left):
            return False
    return True


def _undominated(corners: Sequence[Row], monomials: Sequence[AffineFunction]) -> list[AffineFunction]:
    """Leave out monomials that are nowhere above another one on a polytope, by its values at the corners."""
    heights = {one: [_value(one, corner) for corner in corners] for one in monomials}
    found: list[AffineFunction] = []
    # The largest in sum first: what dominates another comes before it.
    for one in sorted(heights, key=lambda one: sum(heights[one]), reverse=True):
        if not any(all(a <= b for a, b in zip(heights[one], heights[kept], strict=True)) for kept in found):
            found.append(one)
    return found


def _is_below(rows: list[Row], low: list[AffineFunction], high: list[AffineFunction]) -> bool:
    """Return whether one maximum is nowhere above another on a cone of points ``(x, w)``."""
    if low == high:
        return True
    found = epigraph(rows, high)
    assert found is not None
    return all(_value(one, vertex) <= vertex[-2] for vertex in found.vertices for one in low)


def _value(function: AffineFunction, vertex: Row) -> Fraction:
    return sum((a * b for a, b in zip(function, vertex, strict=False)), Fraction(0))


def _sum(one: AffineFunction, other: AffineFunction) -> AffineFunction:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def _describe(network: Network, domain: Domain | None) -> str:
    return f"all of R^{network.num_inputs}" if domain is None else domain.describe()
