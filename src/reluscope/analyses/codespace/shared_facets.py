"""Whether the regions of two codes share a facet, once all units that differ are known to vanish on one hyperplane H.

Across a facet of a region there is one region, and it is the one whose units differ exactly where they have to. So two
full-dimensional regions share a facet on H if and only if H is a facet of one of them: if some point of H is strictly
inside all of its other half-spaces. Where the segment between two points of the regions crosses H is the first such
point to try; then points pushed within H, and at last a linear program.
"""

import time
from math import inf
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from reluscope.budget import Budget
from reluscope.codes.differences import differences
from reluscope.codes.packed import Codes
from reluscope.errors import SolverError
from reluscope.geometry.numbers.resolutions import FACETS
from reluscope.geometry.polyhedra.domains import Box, Space
from reluscope.geometry.polyhedra.facet_rows import facet_point
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.evaluation.maps_of_codes import pieces_of
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.points import chunks
from reluscope.networks.network import Network
from reluscope.regions.region import Region
from reluscope.regions.regions import find_regions
from reluscope.tolerance import Tolerance

BUDGET = 128 * 2**20


class SharedFacets(NamedTuple):
    """What is known of pairs of regions."""

    is_shared: Bool[np.ndarray, " c"]
    is_decided: Bool[np.ndarray, " c"]
    num_programs: int  # pairs that took more than a segment of two points


def shared_facets(
    network: Network,
    codes: Codes,
    points: Float[np.ndarray, "g n"],
    pairs: Int[np.ndarray, "c 2"],
    *,
    domain: Box | Polyhedron | Space | None,
    tolerance: Tolerance,
    programs: float,
    seconds: float,
) -> SharedFacets:
    """Decide which pairs of codes have regions that share a facet.

    Codes of full-dimensional regions, a point of each; the pairs' differing units can all vanish on one hyperplane, and
    pairs are sorted by their first entries. Not on a slice. Pairs beyond either budget stay undecided, as do those of a
    region that rounding hides.
    """
    began = time.perf_counter()
    is_shared, is_decided = np.zeros(len(pairs), dtype=bool), np.zeros(len(pairs), dtype=bool)
    num_programs = 0
    offsets, units = differences(codes, pairs[:, 0], pairs[:, 1])
    firsts, starts = np.unique(pairs[:, 0], return_index=True)
    ends = np.append(starts[1:], len(pairs))
    rows = network.num_units + 2 * network.num_inputs
    for part in chunks(len(firsts), 24 * rows * network.num_inputs, BUDGET) if len(firsts) else ():
        if num_programs >= programs or time.perf_counter() - began > seconds:
            break
        at = network.at(points[firsts[part]], tolerance=tolerance)
        found = find_regions(at, domain=domain, budget=Budget(memory=BUDGET))
        for region, start, end in zip(found, starts[part], ends[part], strict=True):
            if not isinstance(region, Region):
                continue
            own = np.concatenate([piece[0] for piece in pieces_of(region.code)])
            for pair in range(start, end):
                if num_programs >= programs or time.perf_counter() - began > seconds:
                    break
                other = pairs[pair, 1]
                flips = units[offsets[pair] : offsets[pair + 1]]
                others = codes[other].to_array()[0, flips].astype(np.int64)
                gates, numbers = codes.layout.locate_units(flips)
                moves = np.column_stack([gates, numbers, own[flips].astype(np.int64), others])
                answer, is_quick = _is_facet(network, region, moves, points[other], tolerance)
                is_shared[pair], is_decided[pair] = bool(answer), answer is not None
                num_programs += not is_quick
    return SharedFacets(is_shared, is_decided, num_programs)


def _is_facet(
    network: Network, region: Region, moves: np.ndarray, beyond: np.ndarray, tolerance: Tolerance
) -> tuple[bool | None, bool]:
    """Return whether the hyperplane on which units move is a facet of a region, and whether the segment showed it.

    ``moves`` has gate, unit, own piece and other piece of each unit; ``beyond`` lies in the region of the other pieces.
    """
    A, b, witness = region.polyhedron.A, region.polyhedron.b, region.witness
    mine = _rows_of(network, region, moves)
    if not len(mine) or region.clear < inf:  # constant up to rounding for the half-spaces, and not for the search
        return None, True
    lengths = np.linalg.norm(A, axis=1)
    depths = (b - A @ witness) / lengths
    noise = tolerance.rounding * np.finfo(float).eps * (np.abs(b) / lengths + np.linalg.norm(witness))
    row = mine[0]
    normal = A[row] / lengths[row]
    gaps = np.abs(depths - depths[row])
    is_coincident = (gaps <= FACETS * np.maximum(depths, depths[row]) + noise) & (
        np.abs(A / lengths[:, None] - normal).max(axis=1) <= FACETS
    )
    if not is_coincident[mine].all():
        return False, True
    others = np.flatnonzero(~is_coincident)
    step = normal @ (beyond - witness)
    if step > 0:
        crossing = witness + depths[row] / step * (beyond - witness)
        room = (b[others] - A[others] @ crossing) / lengths[others]
        blur = noise[others] + np.abs(A[others] @ (beyond - witness)) / lengths[others] / step * noise[row]
        if (room > blur + FACETS * depths[others]).all():
            return True, True
    rest = np.append(row, others)
    try:
        return facet_point(A[rest], b[rest], 0, witness, FACETS) is not None, False
    except SolverError:
        return None, False


def _rows_of(network: Network, region: Region, moves: np.ndarray) -> Int[np.ndarray, " k"]:
    """Return the rows of a region over which units leave for other pieces."""
    found = [np.zeros(0, dtype=np.int64)]
    for gate, unit, own, other in moves:
        mine = np.flatnonzero((region.sources[:, 0] == gate) & (region.sources[:, 1] == unit))
        leads_to = region.sources[mine, 2]
        if isinstance(network.stages[gate].gate, Max):
            found.append(mine[leads_to == other])
        else:
            found.append(mine[(leads_to > own) == (other > own)])
    return np.concatenate(found)
