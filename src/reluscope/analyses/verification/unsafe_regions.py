"""The inputs of a box whose outputs are unsafe, region by region: polyhedra that do not overlap.

On a linear region unsafe outputs are a polyhedron of inputs. Where several kinds of them are unsafe, each is taken
without those before it: a polyhedron without another is one part for each row, where that row is broken and those
before it are not. A region on which some row is constant and so near to its end that fractions are needed, and too
many of them, is not decided.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from reluscope.analyses.preimages.pieces import by_vertices
from reluscope.analyses.preimages.pullback import RESOLUTION
from reluscope.analyses.verification.disjoint_boxes import Unsafe
from reluscope.analyses.verification.rows_of_inputs import RowsOfInputs
from reluscope.budget import INTERRUPTED, Budget
from reluscope.errors import DegenerateGeometryError
from reluscope.findings import Claim
from reluscope.geometry.corners import hull_volume
from reluscope.geometry.differences import without
from reluscope.geometry.domains import Box
from reluscope.geometry.polyhedron import Polyhedron
from reluscope.interruption import pass_on
from reluscope.networks.network import Network
from reluscope.networks.rational_weights import TooManyMultiplicationsError
from reluscope.partitions.dispatch import partition
from reluscope.partitions.table import Partition
from reluscope.regions.regions import find_regions

# Regions whose half-spaces are in memory at a time.
BATCH = 256
# How much inside a row all vertices are if it is left out, relative to the box.
CLEAR = 1e-6


class Piece(NamedTuple):
    """Inputs that violate a property.

    Parameters
    ----------
    polyhedron : Polyhedron
    volume : float
    witness : (d,) float64
        Strictly inside.
    unsafe : Unsafe
        What the outputs are in.
    ends : (2, d) float64
        The least box around it.
    is_box : bool
        Whether it is a box of several regions, rather than within one.
    """

    polyhedron: Polyhedron
    volume: float
    witness: Float[np.ndarray, " d"]
    unsafe: Unsafe
    ends: Float[np.ndarray, "2 d"]
    is_box: bool


class UnsafeRegions(NamedTuple):
    """What exact regions say of a box.

    Parameters
    ----------
    pieces : list of Piece
    missing : float
        Volume of the box in which regions are not known, or not decided.
    num_regions : int
        Regions examined.
    is_whole : bool
        Whether all regions of the box are there.
    """

    pieces: list[Piece]
    missing: float
    num_regions: int
    is_whole: bool


def unsafe_regions(network: Network, box: Box, unsafe: Sequence[Unsafe], budget: Budget) -> UnsafeRegions:
    """Return the parts of linear regions whose outputs are unsafe, those without an interior left out.

    Parameters
    ----------
    network : Network
    box : Box
        Of about 1 to 6 dimensions.
    unsafe : sequence of Unsafe
    budget : Budget
        Of the partition. Where it does not suffice there are no pieces.

    Notes
    -----
    One partition; Ctrl-C that ends it goes on to whoever asked. Outputs at vertices decide about most regions; each
    other one costs its half-spaces and a linear program.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])  # relu(x_0) + relu(x_1)
    >>> high, least = Unsafe(0, 0, Polyhedron([[-1.0]], [-1.0])), Unsafe(0, 1, Polyhedron([[1.0]], [0.0]))
    >>> found = unsafe_regions(net, Box(-1, 1, 2), [high, least], Budget())
    >>> sorted(round(piece.volume, 9) for piece in found.pieces), found.num_regions
    ([0.5, 1.0], 4)
    """
    part = partition(network, box, budget=budget)
    if part.note == INTERRUPTED:
        pass_on()
    if part.num_open:
        return UnsafeRegions([], box.volume(), len(part), False)
    rulings = by_vertices(part, [one.outputs for one in unsafe])
    rows = np.unique(np.concatenate([may for may, _ in rulings])).astype(np.int64)
    pieces: list[Piece] = []
    is_whole, missing = part.claim is Claim.EXACT, 0.0
    rows_of_inputs = RowsOfInputs(part.network_on_domain, box)
    for start in range(0, len(rows), BATCH):
        found, undecided = _of_regions(part, box, rows[start : start + BATCH], rulings, unsafe, rows_of_inputs)
        pieces += found
        missing += undecided
    if not is_whole:
        missing += max(0.0, box.volume() - float(part.volumes().sum())) + RESOLUTION * box.volume()
    return UnsafeRegions(pieces, missing, len(part), is_whole)


def _of_regions(
    part: Partition,
    box: Box,
    rows: np.ndarray,
    rulings: list[tuple[np.ndarray, np.ndarray]],
    unsafe: Sequence[Unsafe],
    rows_of_inputs: RowsOfInputs,
) -> tuple[list[Piece], float]:
    """Return the pieces in some regions, and the volume of regions that are not decided."""
    length = float(np.max(box.hi - box.lo))
    may = [np.isin(rows, possible) for possible, _ in rulings]
    pieces: list[Piece] = []
    undecided = 0.0
    at = part.network_on_domain.at(part.witnesses[rows])
    found, reasons = find_regions(at, domain=box)
    if wrong := next((reason for reason in reasons if reason), ""):
        raise DegenerateGeometryError(wrong)
    for place, (row, region, errors) in enumerate(zip(rows, found, rows_of_inputs.errors(at), strict=True)):
        assert region is not None
        weight, bias = (one[0].cpu().numpy() for one in (region.map.weight, region.map.bias))
        left = [_near(region.polyhedron, box)]
        for kind, one in enumerate(unsafe):
            if not may[kind][place]:
                continue
            try:
                cut = rows_of_inputs.of(one.outputs, weight, bias, errors, part.codes[rows[place : place + 1]])
            except TooManyMultiplicationsError:
                undecided += sum(body.volume() for body in left)
                break
            if cut is None:
                continue
            is_whole = rulings[kind][1][row] or not len(cut.A)
            if is_whole and not any(may[before][place] for before in range(kind)):
                corners = part[int(row)].vertices
                ends = np.stack([corners.min(axis=0), corners.max(axis=0)])
                pieces.append(Piece(left[0], hull_volume(corners), part.witnesses[row], one, ends, False))
                break
            for body in left:
                if (piece := _solid(body.intersect(cut), one, length)) is not None:
                    pieces.append(piece)
            left = [rest for body in left for rest in without(body, cut, RESOLUTION * length)]
    return pieces, undecided


def _near(polyhedron: Polyhedron, box: Box) -> Polyhedron:
    """Return a polyhedron within a box without the rows that nothing in the box comes near to."""
    middle, half = (box.lo + box.hi) / 2, (box.hi - box.lo) / 2
    reach = np.abs(polyhedron.A) @ half
    kept = polyhedron.A @ middle + reach >= polyhedron.b - CLEAR * reach
    return Polyhedron(polyhedron.A[kept], polyhedron.b[kept], polyhedron.C, polyhedron.d)


def _solid(polyhedron: Polyhedron, unsafe: Unsafe, length: float) -> Piece | None:
    """Return a polyhedron as a piece, with the rows that its vertices come near to, None if it has no interior."""
    ball = polyhedron.insphere()
    if not ball.radius > RESOLUTION * length:
        return None
    try:
        corners = polyhedron.vertices()
    except DegenerateGeometryError:
        return None
    ends = np.stack([corners.min(axis=0), corners.max(axis=0)])
    slack = polyhedron.b - corners @ polyhedron.A.T
    kept = (slack <= CLEAR * (np.abs(polyhedron.A) @ (ends[1] - ends[0]))).any(axis=0)
    small = Polyhedron(polyhedron.A[kept], polyhedron.b[kept])
    return Piece(small, small.volume(), ball.center, unsafe, ends, False)
