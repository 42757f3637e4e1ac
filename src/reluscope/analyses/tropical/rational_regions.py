"""The regions of a tiny network on a polyhedron or on all of space, in rational arithmetic, bounded or not.

The region of a code is an exact polyhedron. From the first one, the code behind every facet is found in exact
arithmetic, until there is no new one. A polyhedron is represented by the cone over it, at height w = 1, so that
directions to infinity are vertices, too.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import count

from reluscope.analyses.tropical.polynomial import height
from reluscope.errors import BudgetExceededError, DegenerateGeometryError, InputError
from reluscope.geometry.polyhedra.domains import Box, Domain, Slice, Space
from reluscope.geometry.polyhedra.rational_cones import cone
from reluscope.geometry.polyhedra.rational_polytopes import RationalPolytope, Row, half_spaces, integer_row
from reluscope.networks.evaluation.choices import read_domain
from reluscope.networks.fractions.rational import RationalNetwork
from reluscope.networks.fractions.rational_maps import AffineFunction, rational_maps
from reluscope.networks.network import Network
from reluscope.partitions.exact.certificates import Code
from reluscope.partitions.exact.exact_regions import code_rows
from reluscope.shown import Shown

MAX_UNITS = 64
MAX_CELLS = 2_000


@dataclass(frozen=True, repr=False)
class ExactCell(Shown):
    """One full-dimensional region.

    Parameters
    ----------
    code : tuple of tuples of int
        The piece of every unit, gate by gate.
    half_spaces : tuple of rows ``(a, c)``
        ``a . x + c >= 0``: the facets, those of the domain included, each once.
    outputs : tuple of m affine functions
    polytope : RationalPolytope
        The cone over the region, near the origin.
    """

    code: Code
    half_spaces: tuple[Row, ...]
    outputs: tuple[AffineFunction, ...]
    polytope: RationalPolytope


def exact_cells(network: Network, domain: Domain | None = None, *, most: int = MAX_CELLS) -> list[ExactCell]:
    """Return all regions of a tiny network, those with more active units first.

    BudgetExceededError if there are more than ``most``; ``partial`` has those found. InputError for more than 64 units,
    or a domain with equations. All of space by default.
    """
    if network.num_units > MAX_UNITS:
        raise InputError(
            f"an exact table is for networks of at most {MAX_UNITS} units, got {network.num_units:,}: use "
            "reluscope.partition, which finds the regions of large networks"
        )
    if domain is not None:
        domain = read_domain(domain, network.num_inputs)
    outer = [*_sides(domain), height(network.num_inputs + 1 if not isinstance(domain, Slice) else domain.dim + 1)]
    if isinstance(domain, Slice):
        network = network.restrict(domain)
    size = network.num_inputs + 1
    whole = cone(size, outer)
    if whole is None:
        raise DegenerateGeometryError("the domain has no interior in exact arithmetic: give another")
    exact = RationalNetwork(network)
    border = {(*row, 0) for row in outer}
    found: dict[Code, ExactCell] = {}
    waiting = [_first_code(exact, whole)]
    while waiting:
        code = waiting.pop()
        if code in found:
            continue
        rows = code_rows(exact, code)
        polytope = None if rows is None else whole.cut((*row, 0) for row in rows)
        # Codes come from points right behind the middle of a facet, so that their regions have an interior.
        assert polytope is not None
        facets = {row: members for row, members in polytope.facets().items() if row[-1] == 0}
        sides = tuple(row[:-1] for row in facets if any(row[: size - 1]))
        found[code] = ExactCell(code, sides, rational_maps(exact, code).outputs, polytope)
        if len(found) > most:
            raise BudgetExceededError(
                f"a table may have at most {most:,} regions, and this network has more: take a smaller domain, or use "
                "reluscope.partition",
                partial=list(found.values()),
            )
        for row, members in facets.items():
            if row not in border:
                point = _middle([polytope.vertices[member] for member in members])
                behind = tuple(Fraction(-entry) for entry in row[: size - 1])
                waiting.append(tuple(map(tuple, exact.pieces_beside(point, behind))))
    return sorted(found.values(), key=lambda cell: cell.code, reverse=True)


def _sides(domain: Domain | None) -> list[Row]:
    if domain is None or isinstance(domain, Space):
        return []
    window = domain.window if isinstance(domain, Slice) else domain
    if not isinstance(window, Box) and len(window.C):
        raise InputError("a table needs a domain of half-spaces only, got one with equations: use a Slice")
    return [integer_row(side) for side in half_spaces(window)]


def _first_code(exact: RationalNetwork, whole: RationalPolytope) -> Code:
    center = _middle(list(whole.vertices))
    for step in count(1):
        # Only finitely many of these directions run along the boundary of a region.
        direction = [Fraction(1, step + axis) for axis in range(len(center))]
        code = tuple(map(tuple, exact.pieces_beside(center, direction)))
        rows = code_rows(exact, code)
        if rows is not None and whole.cut((*row, 0) for row in rows) is not None:
            return code
    raise AssertionError("unreachable")


def _middle(vertices: list[Row]) -> list[Fraction]:
    """Return the mean of some points ``(x, w)`` of a cone, at height 1."""
    *columns, weights = zip(*vertices, strict=True)
    *place, level = (
        sum((Fraction(entry, weight) for entry, weight in zip(column, weights, strict=True)), Fraction(0))
        for column in columns
    )
    return [entry / level for entry in place]
