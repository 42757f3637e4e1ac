"""Which regions of a tree search share a facet, and which are bounded: linear programs on the regions' own rows.

A row of a region bounds it in a facet if some point violates this row and no other; on the way there from the witness
the network has the neighbour's code just behind the facet. Rows of one hyperplane are one row, so that facets at which
several units change their pieces are facets like all others.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Int, Integer

from reluscope.codes.packing import unpack_pieces
from reluscope.geometry.coincidence import coincident_groups
from reluscope.geometry.crossing import SOME, UNDECIDED, Cell, find_positive, image
from reluscope.geometry.domains import Domain, Slice
from reluscope.geometry.generation import find_among_corners
from reluscope.geometry.interior import is_cone_trivial
from reluscope.interruption import held
from reluscope.networks.network import Network
from reluscope.partitions.tree import TreeRegions
from reluscope.partitions.tree_coordinates import Coordinates
from reluscope.partitions.tree_items import region_cells
from reluscope.tolerance import Tolerance

# Regions whose rows are computed together.
CHUNK = 256
# Rows closer than this, each of length 1, are one.
SAME_ROW = 1e-9
# How far behind a facet its neighbour is looked for, as shares of the way: the first that is the code of a region.
BEHIND = (1e-6, 1e-8, 1e-4, 1e-2)


@dataclass(frozen=True, eq=False)
class TreeFacets:
    """Facets between regions.

    Parameters
    ----------
    left, right : (f,) int64
        Rows of the regions on either side, left below right, in increasing order.
    num_unmatched : int
        Facets that were seen from one side only, and facets whose other side is no region of the set. The latter are
        expected where the set is incomplete.
    """

    left: Int[np.ndarray, " f"]
    right: Int[np.ndarray, " f"]
    num_unmatched: int

    def __len__(self) -> int:
        return len(self.left)


def tree_facets(
    network: Network, domain: Domain, regions: TreeRegions, *, tolerance: Tolerance | None = None
) -> TreeFacets:
    """Find all pairs of regions that share a facet.

    Parameters
    ----------
    network : Network
    domain : Box, Space, Polyhedron or Slice
        What was searched.
    regions : TreeRegions
    tolerance : Tolerance, optional

    Returns
    -------
    TreeFacets
        Exact up to the resolution, if every facet was seen from both sides.

    Notes
    -----
    Cost: a linear program for every region and unit. A Hamming distance of one is neither needed nor enough: behind
    the first layer boundaries bend, and on degenerate networks several units change their pieces at once.

    Examples
    --------
    >>> import reluscope as rs
    >>> from reluscope.partitions.tree import tree_regions
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> everywhere = rs.Space(2)
    >>> facets = tree_facets(net, everywhere, tree_regions(net, everywhere))
    >>> list(zip(facets.left.tolist(), facets.right.tolist(), strict=True))
    [(0, 1), (0, 2), (1, 3), (2, 3)]
    """
    network, coordinates = _place(network, domain, tolerance)
    numbers = {word.tobytes(): row for row, word in enumerate(regions.words)}
    directed: set[tuple[int, int]] = set()
    unknown = 0
    for start in range(0, len(regions), CHUNK):
        cells = _cells(coordinates, regions, start)
        seen, probes = [], []
        for row, cell in enumerate(cells, start):
            for point in _points_behind(coordinates, cell):
                seen.append(row)
                probes.append(point)
        if not seen:
            continue
        points = np.stack(probes)
        found = np.full(len(seen), -1)
        for attempt in range(len(BEHIND)):
            words = network.codes(coordinates.points(points[:, attempt])).words
            rows = np.array([numbers.get(word.tobytes(), -1) for word in words])
            found = np.where((found < 0) & (rows != seen), rows, found)
        unknown += int((found < 0).sum())
        directed |= {(left, right) for left, right in zip(seen, found.tolist(), strict=True) if right >= 0}
    pairs = sorted({(min(pair), max(pair)) for pair in directed})
    table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return TreeFacets(table[:, 0], table[:, 1], 2 * len(pairs) - len(directed) + unknown)


def are_bounded(
    network: Network, domain: Domain, words: Integer[np.ndarray, "r w"], *, tolerance: Tolerance | None = None
) -> Bool[np.ndarray, " r"]:
    """Tell which regions are bounded, by their recession cones.

    Parameters
    ----------
    network : Network
    domain : Box, Space, Polyhedron or Slice
        What was searched.
    words : (r, w) uint64
        Packed codes of regions.
    tolerance : Tolerance, optional

    Returns
    -------
    (r,) bool

    Notes
    -----
    One linear program per region; none if the domain has a bounding box.
    """
    _, coordinates = _place(network, domain, tolerance)
    bounded = np.ones(len(words), dtype=np.bool_)
    if not coordinates.frame.is_cone:
        return bounded
    everywhere = TreeRegions(words, np.zeros((len(words), network.num_inputs)), 0, 0, "")
    for start in range(0, len(words), CHUNK):
        for row, cell in enumerate(_cells(coordinates, everywhere, start), start):
            bounded[row] = is_cone_trivial(-_pulled_back(coordinates, cell.rows)[:, :-1])
    return bounded


def _place(network: Network, domain: Domain, tolerance: Tolerance | None) -> tuple[Network, Coordinates]:
    if isinstance(domain, Slice):
        network, domain = network.restrict(domain), domain.window
    return network, Coordinates.of(network, domain, Tolerance() if tolerance is None else tolerance)


def _cells(coordinates: Coordinates, regions: TreeRegions, start: int) -> list[Cell]:
    words = regions.words[start : start + CHUNK]
    layout = coordinates.network.layout
    pieces = unpack_pieces(words, layout)
    columns = [pieces[:, layout.units(gate)] for gate in range(len(layout))]
    witnesses = coordinates.homogeneous(regions.witnesses[start : start + CHUNK])
    with torch.no_grad():
        return region_cells(coordinates, columns, witnesses)


def _pulled_back(coordinates: Coordinates, rows: np.ndarray) -> np.ndarray:
    return rows @ coordinates.frame.generators if coordinates.is_narrow else rows


@held
def _points_behind(coordinates: Coordinates, cell: Cell) -> list[np.ndarray]:
    """Return for every facet inside the domain points (b, n) behind it, the nearest ones first in no order."""
    frame, scratch = coordinates.frame, coordinates.scratch
    pulled = _pulled_back(coordinates, cell.rows)
    lengths = np.linalg.norm(pulled, axis=1)
    kept = np.flatnonzero(lengths > 0)
    groups = coincident_groups(pulled[kept] / lengths[kept, None], SAME_ROW)
    z = np.empty(cell.rows.shape[1])
    image(frame.generators, cell.witness, z)
    found = []
    for group in groups:
        members = kept[group]
        if (members < len(coordinates.first.rows)).any():
            continue  # a wall of the domain
        others = np.delete(np.arange(len(cell.rows)), members)
        form, noise = -cell.rows[members[0]], float(cell.noise[members[0]])
        rows, noises = np.ascontiguousarray(cell.rows[others]), cell.noise[others]
        threshold = coordinates.tolerance.resolution * lengths[members[0]]
        scratch.reserve(len(rows))
        question = (form, noise, threshold, rows, noises, len(rows), frame, scratch.work)
        answer = UNDECIDED
        if coordinates.is_narrow:
            answer, _ = find_among_corners(*question, scratch.corners, cell.witness, z)
        if answer == UNDECIDED:
            answer, _ = find_positive(*question, cell.witness, z)
        if answer == SOME:
            start, end = -float(form @ z), float(form @ scratch.work.out_z)
            way = scratch.work.out_y - cell.witness
            shares = start / (start + end) + np.array(BEHIND) * end / (start + end)
            found.append(cell.witness + shares[:, None] * way)
    return found
