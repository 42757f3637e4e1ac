"""All codes of a network on a domain, in rational arithmetic: unit by unit, the pieces that it can have.

A node of the tree is a code of the first units that some point has, with that point and the inequalities that say so.
Each piece of the next unit is a few inequalities more, weak ones where the code has the lower piece on a tie; whether a
point is left is decided without rounding. So codes without an interior are found as well, and none is missing.
"""

from dataclasses import dataclass
from fractions import Fraction

from reluscope.errors import DegenerateGeometryError
from reluscope.geometry.polyhedra.domains import Domain, Slice
from reluscope.geometry.polyhedra.rational_cell import RationalCell
from reluscope.geometry.programs.rational_program import Form, negative, value_at, whole_form
from reluscope.networks.fractions.rational import RationalNetwork
from reluscope.networks.fractions.rational_maps import AffineFunction, RationalMaps, rational_maps, slice_frame
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import GateNode, Pointwise
from reluscope.networks.network import Network
from reluscope.partitions.driver.walk import Step

# What one piece asks of a point: forms that are above 0, and forms that are at least 0.
Piece = tuple[tuple[Form, ...], tuple[Form, ...]]
Code = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class CodeNode:
    """A code of the first units, and all points that have it."""

    before: Code  # pieces of all gates before the current one
    here: tuple[int, ...]  # pieces of the first units of the current gate
    cell: RationalCell
    is_finished: bool  # whether these are all units

    def __len__(self) -> int:
        return 1


class RationalCodes:
    """What `walk` needs to find all codes.

    For any gates, and domains of any dimension, bounded or not. DegenerateGeometryError if the domain is empty or flat.
    """

    def __init__(self, network: Network, domain: Domain) -> None:
        cell = RationalCell.of(domain)
        if cell is None:
            raise DegenerateGeometryError(
                f"the domain must have an interior, but {domain.describe()} is empty or flat: give another"
            )
        self._exact = RationalNetwork(network)
        self._gates = [stage.gate for stage in network.stages]
        self._frame = slice_frame(domain) if isinstance(domain, Slice) else None
        self._maps: tuple[Code, RationalMaps] | None = None
        self.first = self._node((), (), cell)

    def step(self, node: CodeNode, room: float) -> Step:
        """Return the codes of one unit more."""
        del room
        children, num_programs = self._children(node)
        return Step(children, work={"nodes": 1, "programs": num_programs})

    def _node(self, before: Code, here: tuple[int, ...], cell: RationalCell) -> CodeNode:
        while len(before) < len(self._gates) and len(here) == self._gates[len(before)].num_units:
            before, here = (*before, here), ()
        return CodeNode(before, here, cell, len(before) == len(self._gates))

    def _children(self, node: CodeNode) -> tuple[list[CodeNode], int]:
        """Return what becomes of a node with the next unit, and the number of programs that this took."""
        pieces = _pieces(self._gates[len(node.before)], len(node.here), self._maps_after(node.before))
        cells: dict[int, RationalCell] = {}
        # The piece at the node's own point comes last: where no other one is left, the cell stays as it is.
        own = next(number for number, piece in pieces.items() if _holds(piece, node.cell))
        for number, (strict, weak) in pieces.items():
            if number == own:
                continue
            cell: RationalCell | None = node.cell
            for form in strict:
                cell = None if cell is None else cell.where_strict(form)
            for form in weak:
                cell = None if cell is None else cell.where_weak(form)
            if cell is not None:
                cells[number] = cell
        strict, weak = pieces[own] if cells else ((), ())
        point = node.cell
        cells[own] = RationalCell((*point.weak, *weak), (*point.strict, *strict), point.point)
        children = [self._node(node.before, (*node.here, number), cell) for number, cell in cells.items()]
        return children, len(pieces) - 1

    def _maps_after(self, before: Code) -> RationalMaps:
        if self._maps is None or self._maps[0] != before:
            self._maps = before, rational_maps(self._exact, before, self._frame)
        return self._maps[1]


def _holds(piece: Piece, cell: RationalCell) -> bool:
    strict, weak = piece
    return all(value_at(form, cell.point) > 0 for form in strict) and all(
        value_at(form, cell.point) >= 0 for form in weak
    )


def _pieces(gate: GateNode, unit: int, maps: RationalMaps) -> dict[int, Piece]:
    """Return what each piece of a unit asks of a point."""
    if isinstance(gate, Max):
        candidates = {place: entry for place, entry in enumerate(gate.index[unit].tolist()) if entry >= 0}
        functions = {place: maps.entry(-1, entry) for place, entry in candidates.items()}
        ahead = {
            place: {other: whole_form(_difference(chosen, functions[other])) for other in functions if other != place}
            for place, chosen in functions.items()
        }
        return {
            place: (
                tuple(form for other, form in forms.items() if other < place),
                tuple(form for other, form in forms.items() if other > place),
            )
            for place, forms in ahead.items()
        }
    assert isinstance(gate, Pointwise)
    *slope, constant = maps.entry(-1, unit)
    levels = gate.breakpoints.expand(-1, gate.num_units)[:, unit].tolist()
    above = [whole_form([*slope, constant - Fraction(level)]) for level in levels]
    return {
        piece: (tuple(above[max(piece - 1, 0) : piece]), tuple(negative(form) for form in above[piece : piece + 1]))
        for piece in range(len(levels) + 1)
    }


def _difference(one: AffineFunction, other: AffineFunction) -> AffineFunction:
    return tuple(a - b for a, b in zip(one, other, strict=True))
