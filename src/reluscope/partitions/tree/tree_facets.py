"""Which regions of a tree search share a facet: linear programs on the regions' own rows.

A row of a region bounds it in a facet if some point violates this row and no other. Rows of one hyperplane are one row,
so that facets at which several units change their pieces are facets like all others; which rows those are is decided in
rational arithmetic where floats cannot tell. The code beyond a facet follows from derivatives (`pieces_across`): no
point near it is evaluated, so that no region is too thin to be found there.

A facet that was found is one. Where a question stays open, one more may be there, and the number of these says so.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int

from reluscope.codes.packing import pack_pieces, unpack_pieces
from reluscope.errors import InputError
from reluscope.geometry.cutting.crossing import NONE, SOME, UNDECIDED, find_positive
from reluscope.geometry.cutting.framed_cells import FramedCell, LinearForm, Sides
from reluscope.geometry.cutting.generation import find_among_corners
from reluscope.geometry.numbers.coincidence import coincident_groups
from reluscope.geometry.polyhedra.domains import Domain, Slice
from reluscope.geometry.polyhedra.rational_polytopes import Row, integer_row
from reluscope.interruption import safe_point
from reluscope.networks.evaluation.pieces_across import pieces_across
from reluscope.networks.network import Network
from reluscope.partitions.exact.exact_rows import ExactRows
from reluscope.partitions.tree.tree import TreeRegions
from reluscope.partitions.tree.tree_coordinates import Coordinates
from reluscope.partitions.tree.tree_items import ImposedCell, region_cells
from reluscope.tolerance import Tolerance

# Regions whose rows are computed together.
CHUNK = 256


@dataclass(frozen=True, eq=False)
class TreeFacets:
    """Facets between regions.

    Unmatched: rows with an open question whether they bear a facet or which others share their hyperplane, and facets
    whose other side is no region of the set, as expected of incomplete sets.
    """

    left: Int[np.ndarray, " f"]  # region on one side, ascending
    right: Int[np.ndarray, " f"]  # region on the other side, left below right
    num_unmatched: int  # places where one more pair may be

    def __len__(self) -> int:
        return len(self.left)


def tree_facets(
    network: Network, domain: Domain, regions: TreeRegions, *, tolerance: Tolerance | None = None
) -> TreeFacets:
    """Find all pairs of regions that share a facet.

    All of them, up to the resolution, if ``num_unmatched`` is 0. Cost: a linear program for every region and unit, and
    n + 1 rational evaluations where several units share a hyperplane of a region.
    """
    network, coordinates = _place(network, domain, tolerance)
    numbers = {word.tobytes(): row for row, word in enumerate(regions.words)}
    pieces = _pieces(coordinates, regions.words)
    exact = ExactRows(network, domain.window if isinstance(domain, Slice) else domain)
    directed: set[tuple[int, int]] = set()
    open_sides: list[_Side] = []
    slivers: list[_Sliver] = []
    num_unmatched = 0
    for start in range(0, len(regions), CHUNK):
        safe_point()
        seen = _seen_facets(coordinates, exact, regions, pieces, start)
        num_unmatched += seen.num_doubtful
        open_sides += seen.open_sides
        slivers += seen.slivers
        for side, word in zip(seen.sides, _words_beyond(coordinates, pieces, seen.sides), strict=True):
            beyond = numbers.get(word.tobytes(), side.row)
            if beyond == side.row:
                num_unmatched += 1
            else:
                directed.add((side.row, beyond))
    for side, word in zip(open_sides, _words_beyond(coordinates, pieces, open_sides), strict=True):
        beyond = numbers.get(word.tobytes(), side.row)
        if (beyond, side.row) in directed:
            continue  # what is seen from the other side is there
        answer = exact.bears_facet([piece[side.row] for piece in pieces], side.loose[0])
        if answer and beyond != side.row:
            directed.add((side.row, beyond))
        else:
            num_unmatched += answer is not False
    for sliver in slivers:
        *own, beyond = (
            numbers.get(word.tobytes(), sliver.whole.row)
            for word in _words_beyond(coordinates, pieces, [*sliver.parts, sliver.whole])
        )
        row = sliver.whole.row
        if any((one, row) in directed or (row, one) in directed for one in own):
            continue  # what lies within the sliver is a region of its own
        if beyond == row:
            num_unmatched += 1
        else:
            directed.add((row, beyond))
    table = np.array(sorted({(min(pair), max(pair)) for pair in directed}), dtype=np.int64).reshape(-1, 2)
    return TreeFacets(table[:, 0], table[:, 1], num_unmatched)


def _place(network: Network, domain: Domain, tolerance: Tolerance | None) -> tuple[Network, Coordinates]:
    if isinstance(domain, Slice):
        network, domain = network.restrict(domain), domain.window
    return network, Coordinates.of(network, domain, Tolerance() if tolerance is None else tolerance)


def _pieces(coordinates: Coordinates, words: np.ndarray) -> list[np.ndarray]:
    """Return the pieces (r, u) of codes, gate by gate."""
    layout = coordinates.network.layout
    pieces = unpack_pieces(words, layout)
    return [pieces[:, layout.units(gate)] for gate in range(len(layout))]


def _cells(coordinates: Coordinates, pieces: list[np.ndarray], witnesses: np.ndarray, start: int) -> list[ImposedCell]:
    rows = slice(start, start + CHUNK)
    with torch.no_grad():
        return region_cells(coordinates, [piece[rows] for piece in pieces], coordinates.homogeneous(witnesses[rows]))


def _pulled_back(coordinates: Coordinates, rows: np.ndarray) -> np.ndarray:
    return rows @ coordinates.frame.generators if coordinates.is_narrow else rows


class _Side(NamedTuple):
    """A hyperplane beside a region: the region, what sits on a breakpoint all over it, and an outward direction."""

    row: int
    loose: np.ndarray
    direction: np.ndarray


class _Sliver(NamedTuple):
    """Hyperplanes beside a region with less than the resolution between them, and all of them taken for one."""

    parts: list[_Side]
    whole: _Side


class _SeenFacets(NamedTuple):
    """Facets of some regions, hyperplanes that may bear one, slivers between hyperplanes, and the number of doubts."""

    sides: list[_Side]
    open_sides: list[_Side]
    slivers: list[_Sliver]
    num_doubtful: int


def _seen_facets(
    coordinates: Coordinates, exact: ExactRows, regions: TreeRegions, pieces: list[np.ndarray], start: int
) -> _SeenFacets:
    sides, open_sides, slivers, num_doubtful = [], [], [], 0
    num_walls = len(coordinates.first.rows)
    for row, found in enumerate(_cells(coordinates, pieces, regions.witnesses, start), start):
        pulled = _pulled_back(coordinates, found.cell.rows)
        nearby, number = _hyperplanes(coordinates, exact, [piece[row] for piece in pieces], found, pulled)
        num_doubtful += number + found.num_doubtful

        def side(group: np.ndarray, row=row, found=found, pulled=pulled) -> _Side:
            loose = np.concatenate([found.sources[group - num_walls], found.still])
            return _Side(row, loose, -pulled[group[0], :-1])

        for groups in nearby:
            inside = [group for group in groups if group[0] >= num_walls]
            for group in inside:
                answer = _bears_facet(coordinates, found.cell, pulled, group)
                if answer != NONE:
                    (sides if answer == SOME else open_sides).append(side(group))
            if len(inside) == len(groups) > 1:
                whole = np.concatenate(groups)
                if _bears_facet(coordinates, found.cell, pulled, whole) == SOME:
                    slivers.append(_Sliver([side(group) for group in groups], side(whole)))
    return _SeenFacets(sides, open_sides, slivers, num_doubtful)


def _words_beyond(coordinates: Coordinates, pieces: list[np.ndarray], sides: list[_Side]) -> np.ndarray:
    """Return the packed codes beyond hyperplanes."""
    network = coordinates.network
    if not sides:
        return np.zeros((0, network.layout.num_words), dtype=np.uint64)
    directions = np.stack([side.direction for side in sides])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    own = [piece[[side.row for side in sides]] for piece in pieces]
    beyond = pieces_across(network, own, [side.loose for side in sides], directions, rounding=coordinates.gamma)
    return pack_pieces(beyond, network.layout, num_codes=len(directions))


def _hyperplanes(
    coordinates: Coordinates, exact: ExactRows, pieces: list[np.ndarray], found: ImposedCell, pulled: np.ndarray
) -> tuple[list[list[np.ndarray]], int]:
    """Group the rows of a region that lie in one hyperplane, and such groups with less than the resolution between.

    Returns how many of the latter could not be told apart, too.
    """
    lengths = np.linalg.norm(pulled, axis=1)
    kept = np.flatnonzero(lengths > 0)
    # Entries at the size of what they contribute to a value, where rounding is known.
    reach = np.maximum(np.abs(coordinates.frame.lower), np.abs(coordinates.frame.upper))
    table = pulled[kept] / lengths[kept, None] * reach
    if not np.isfinite(table).all():
        raise InputError(
            f"expected a domain and slopes that float64 can compare, got coordinates up to {reach.max():.3g} and "
            f"slopes from {lengths[kept].min(initial=np.inf):.3g}: measure the inputs in other units"
        )
    blur = float((found.cell.noise[kept] / lengths[kept]).max(initial=0.0)) + coordinates.gamma * reach.max()
    groups, num_walls, num_doubtful = [], len(coordinates.first.rows), 0
    diameter = float(np.linalg.norm(coordinates.frame.upper - coordinates.frame.lower))
    for near in coincident_groups(table, 2 * max(blur, coordinates.tolerance.resolution * diameter)):
        members = kept[near]
        if len(members) == 1:
            groups.append([members])
            continue
        units = members[members >= num_walls]
        walls = [_wall(coordinates, row) for row in pulled[members[members < num_walls]]]
        sides = exact.rows(pieces, found.sources[units - num_walls])
        if None in sides:
            # They are taken for one, which is what they nearly always are.
            groups.append([members])
            num_doubtful += 1
            continue
        names = [*walls, *sides]
        groups.append([members[[name == other for other in names]] for name in dict.fromkeys(names)])
    return groups, num_doubtful


def _wall(coordinates: Coordinates, row: np.ndarray) -> Row:
    """Return a row of the domain, whose entries are floats times a power of two, in coordinates of the domain."""
    scale = Fraction(coordinates.scale)
    return integer_row([*(Fraction(entry) / scale for entry in row[:-1].tolist()), Fraction(float(row[-1]))])


def _bears_facet(coordinates: Coordinates, cell: FramedCell, pulled: np.ndarray, group: np.ndarray) -> int:
    """Ask whether some point violates the rows of a group and no other."""
    frame, scratch = coordinates.frame, coordinates.scratch
    others = np.delete(np.arange(len(cell.rows)), group)
    threshold = 0.0 if frame.is_cone else coordinates.tolerance.resolution * float(np.linalg.norm(pulled[group[0]]))
    form = LinearForm(-cell.rows[group[0]], float(cell.noise[group[0]]), cell.slack[group[0]], threshold)
    sides = Sides(cell.rows[others], cell.noise[others], cell.slack[others])
    witness = cell.witness, scratch.image(cell.witness)
    if coordinates.is_narrow:
        answer, _ = find_among_corners(form, sides, scratch, *witness)
        if answer != UNDECIDED:
            return answer
    answer, _ = find_positive(form, sides, scratch, *witness)
    return answer
