"""The regions of a network in rational arithmetic, bounded or not, and the certificate that they are all.

On the region of a code every unit is affine with exact coefficients, so the region is a rational polyhedron, or the
cone over one. A code without interior is dropped, and behind every facet that no other region has, exact arithmetic
tells which code lies there, until all facets are matched. Codes found in floats are where it starts, if there are any.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count, product

import numpy as np

from reluscope.codes.packed import Codes
from reluscope.effort import Effort
from reluscope.errors import DegenerateGeometryError
from reluscope.geometry.polyhedra.domains import Domain, Slice
from reluscope.geometry.polyhedra.rational_cones import CompactPolyhedron, Point
from reluscope.geometry.polyhedra.rational_polytopes import RationalPolytope, Row, half_spaces, integer_row
from reluscope.networks.evaluation.maps_of_codes import pieces_of
from reluscope.networks.fractions.rational import RationalNetwork
from reluscope.networks.fractions.rational_maps import AffineFunction, RationalMaps, rational_maps
from reluscope.networks.graph.choosing_gates import Max, TopK
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.network import Network
from reluscope.partitions.driver.walk import Step, walk
from reluscope.partitions.exact.certificates import Certificate, Code
from reluscope.stopping import Stop, is_interrupted


@dataclass(frozen=True)
class ExactRegions:
    """All regions, and which of them share a facet.

    If work stopped early there may be other regions, and the certificate proves nothing.
    """

    network: RationalNetwork  # on the domain
    certificate: Certificate
    polytopes: tuple[RationalPolytope, ...]  # regions, on unbounded domains the cones over them near the origin
    neighbors: tuple[tuple[int, int], ...]  # sharing a facet, the lower first, each pair once
    stop: Stop | None = None  # why work stopped early, if it did

    def raise_if_ended(self) -> None:
        """Raise what ended the work, where that was Ctrl-C or lack of memory."""
        if self.stop:
            raise KeyboardInterrupt if is_interrupted(self.stop) else MemoryError


def exact_regions(
    network: Network, domain: Domain, codes: Codes | None = None, effort: Effort | None = None
) -> ExactRegions:
    """Return all regions of a network on a domain of half-spaces, given codes of some or most of them, or of none.

    In rational arithmetic: no region is missing or too many, and the given order is kept. Cost per region: n + 1
    rational evaluations and one polytope's vertices. Raises DegenerateGeometryError if flat.
    """
    found = _Regions(network, domain, () if codes is None else code_tuples(codes))
    walked = walk([found], lambda regions, _: regions.step(), effort=effort or Effort())
    return ExactRegions(found.exact, found.certificate(), tuple(found.polytopes), found.neighbors(), walked.stop)


def code_tuples(codes: Codes) -> tuple[Code, ...]:
    """Return codes as a certificate holds them: the pieces of all units, gate by gate."""
    tables = [table.tolist() for table in pieces_of(codes)]
    return tuple(tuple(tuple(table[row]) for table in tables) for row in range(len(codes)))


class _Regions:
    """Regions found so far, and their facets by the vertices that these have.

    To be found are the regions of given codes, then one at least, then what lies behind facets of one region only.
    """

    is_finished = False

    def __init__(self, network: Network, domain: Domain, codes: Sequence[Code]) -> None:
        self._given = iter(codes)
        self._steps = count(1)
        self._network, self._domain = network, domain
        window = domain.window if isinstance(domain, Slice) else domain
        self._half_spaces = tuple(half_spaces(window))
        whole = CompactPolyhedron.of(window.dim, [*map(integer_row, self._half_spaces)])
        if whole is None:
            raise DegenerateGeometryError(f"the domain has no interior, got {domain.describe()}: give another")
        self._whole = whole
        self.exact = RationalNetwork(network.restrict(domain) if isinstance(domain, Slice) else network)
        self.codes: dict[Code, int] = {}
        self.polytopes: list[RationalPolytope] = []
        self._corners: list[tuple[int, ...]] = []
        self._vertices: list[Row] = []
        self._places: dict[Row, int] = {}
        # Facets inside the domain: the regions that have it, and an inner normal of the first.
        self._facets: dict[frozenset[int], tuple[list[int], Row]] = {}
        self._waiting: list[frozenset[int]] = []

    def __len__(self) -> int:
        return 1

    def step(self) -> Step:
        """Visit one code more."""
        before = len(self.codes)
        if (code := next(self._given, None)) is not None:
            self.visit(code)
        elif not self.codes:
            # Beside any point only finitely many of these directions run along the boundary of a region.
            step, size = next(self._steps), self.exact.network.num_inputs
            self.visit(self._beside(self._whole.polytope.vertices, [Fraction(1, step + axis) for axis in range(size)]))
        elif self._waiting:
            self._cross(self._waiting.pop())
        else:
            return Step([])
        return Step([self], len(self.codes) - before)

    def visit(self, code: Code) -> None:
        """Add the region of a code, if it has one."""
        if code in self.codes:
            return
        rows = code_rows(self.exact, code)
        polytope = None if rows is None else self._whole.polytope.cut(map(self._whole.row, rows))
        if polytope is None:
            return
        region = self.codes[code] = len(self.codes)
        names = tuple(self._place(vertex) for vertex in polytope.vertices)
        self.polytopes.append(polytope)
        self._corners.append(names)
        for row, members in polytope.facets().items():
            if row not in self._whole.sides:
                facet = frozenset(names[member] for member in members)
                if facet not in self._facets:
                    self._facets[facet] = [], row
                    self._waiting.append(facet)
                self._facets[facet][0].append(region)

    def _cross(self, facet: frozenset[int]) -> None:
        """Add what lies behind a facet, if only one region has it."""
        regions, row = self._facets[facet]
        if len(regions) == 1:
            behind = [Fraction(-entry) for entry in row[: self.exact.network.num_inputs]]
            self.visit(self._beside([self._vertices[vertex] for vertex in facet], behind))
            # Regions meet face to face, so that the new one has this facet.
            assert len(regions) == 2

    def certificate(self) -> Certificate:
        """Return what was found."""
        lift: tuple[Point, ...] = ()
        if isinstance(self._domain, Slice):
            origin, basis = self._domain.origin, self._domain.basis
            if origin.any() or basis.tolist() != np.eye(len(origin)).tolist():
                lift = tuple(tuple(map(Fraction, place)) for place in (origin.tolist(), *basis.tolist()))
        return Certificate(
            self._network.fingerprint,
            lift,
            self._half_spaces,
            tuple(map(_point, self._vertices)),
            tuple(self.codes),
            tuple(self._corners),
        )

    def neighbors(self) -> tuple[tuple[int, int], ...]:
        """Return which regions share a facet."""
        return tuple(sorted((min(regions), max(regions)) for regions, _ in self._facets.values()))

    def _place(self, vertex: Row) -> int:
        if vertex not in self._places:
            self._places[vertex] = len(self._vertices)
            self._vertices.append(vertex)
        return self._places[vertex]

    def _beside(self, vertices: Sequence[Row], direction: Sequence[Fraction]) -> Code:
        """Return the code right beside the middle of some vertices."""
        return tuple(map(tuple, self.exact.pieces_beside(self._whole.middle(vertices), direction)))


def code_rows(exact: RationalNetwork, code: Code) -> list[Row] | None:
    """Return the half-spaces of a code that cut anything, each once, or None if the code cannot have an interior."""
    found: dict[Row, None] = {}
    for function, strict in _conditions(exact, rational_maps(exact, code), code):
        *slope, constant = function
        if any(slope):
            found[integer_row(function)] = None
        elif constant < 0 or (strict and constant == 0):
            return None
    return list(found)


def _conditions(exact: RationalNetwork, maps: RationalMaps, code: Code) -> Iterator[tuple[AffineFunction, bool]]:
    """Yield the affine functions that are at least zero where the units use their pieces, and whether strictly so."""
    for stage, pieces in enumerate(code):
        gate = exact.network.stages[stage].gate
        if isinstance(gate, Max):
            for row, piece in zip(gate.index.tolist(), pieces, strict=True):
                best = maps.entry(stage, row[piece])
                for place, entry in enumerate(row):
                    if entry >= 0 and place != piece:
                        yield tuple(a - b for a, b in zip(best, maps.entry(stage, entry), strict=True)), place < piece
            continue
        assert isinstance(gate, Pointwise)
        if isinstance(gate, TopK):
            for group in gate.groups.tolist():
                for one, other in product(group, group):
                    if pieces[one] > pieces[other]:
                        difference = zip(maps.entry(stage, one), maps.entry(stage, other), strict=True)
                        yield tuple(a - b for a, b in difference), other < one
            continue
        levels = gate.breakpoints.expand(-1, gate.num_units).T.tolist()
        for unit, (row, piece) in enumerate(zip(levels, pieces, strict=True)):
            *slope, constant = maps.entry(stage, unit)
            if piece > 0:
                yield (*slope, constant - Fraction(row[piece - 1])), True
            if piece < len(row):
                yield (*(-entry for entry in slope), Fraction(row[piece]) - constant), False


def _point(vertex: Row) -> Point:
    return tuple(Fraction(entry, vertex[-1]) for entry in vertex[:-1])
