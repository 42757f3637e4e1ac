"""The adjacency metric of codes from facets of their regions, beside the Hamming distance that approximates it.

Of two codes whose closed regions are full-dimensional the adjacency distance is 0 if they are equal, 1 if the regions
share a facet, and 2 otherwise. Shepeleva et al. (2020, Lemma 1 and Theorem 2) take ``min(d_H, 2)`` for it. That holds
for one hidden layer in general position. Deeper, later hyperplanes bend, and two codes may differ in one unit without
their regions touching; in degenerate networks units flip together, and regions share a facet at any distance.
"""

import time
from dataclasses import dataclass
from math import inf

import numpy as np
import torch
from jaxtyping import Bool, Int, UInt8

from reluscope.analyses.codespace.common_hyperplanes import pairs_on_hyperplanes
from reluscope.analyses.codespace.shared_facets import shared_facets
from reluscope.arguments import read_arguments, read_position
from reluscope.budget import TimeBudget
from reluscope.codes.differences import differences
from reluscope.codes.packed import Codes
from reluscope.errors import DegenerateGeometryError, InputError
from reluscope.findings import Column, Findings, Kind, declare
from reluscope.geometry.numbers.resolutions import FACETS
from reluscope.geometry.polyhedra.domains import Box, Domain, Slice, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.evaluation.linearize import gate_values
from reluscope.networks.evaluation.pass_time import program_seconds
from reluscope.networks.evaluation.rounded_forward import rounded_forward
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.points import Points, chunks
from reluscope.networks.network import Network
from reluscope.networks.passes.network_graph import BUDGET
from reluscope.networks.passes.rounded import HeldRoundedNumbers, Rounded
from reluscope.regions.regions import region
from reluscope.shown import Shown
from reluscope.tolerance import Tolerance

# Programs that decide codes and pairs where no limit is given: as many as take so many seconds, each as long as some of
# those that a region's tree asks.
SECONDS, EACH = 120.0, 5.0
UNDECIDED = 255
ROWS_AT_ONCE = 512
METHOD = "pairs whose differing units vanish on one hyperplane, and whether it is a facet"
NUM_ADJACENT = declare(
    "num_adjacent_pairs",
    "pairs of codes whose closed full-dimensional regions share a facet, larger than 1e-9 of its distance",
    kind=Kind.COUNT,
    source="shepeleva2020",
)
NUM_NEAR = declare("num_near_pairs", "pairs of codes that differ in one unit", kind=Kind.COUNT, source="shepeleva2020")
NUM_NEAR_APART = declare(
    "num_near_apart", "pairs of codes that differ in one unit and whose regions share no facet", kind=Kind.COUNT
)
NUM_ADJACENT_FAR = declare(
    "num_adjacent_far", "pairs of codes that differ in several units and whose regions share a facet", kind=Kind.COUNT
)


@dataclass(frozen=True, eq=False, repr=False)
class Adjacency(Shown):
    """Neighbouring codes, by facets and by Hamming distance.

    The rows of all pairs are positions i < j in ``codes``, in lexicographic order.

    Parameters
    ----------
    codes : Codes
        The g different codes whose regions are full-dimensional, in order of their first points.
    points : (g,) int64
        The first point of each code.
    flat, unchecked : (k,) int64
        First points of the codes whose regions have no interior, and of the codes unchecked for lack of time.
        Neither has adjacency distances.
    pairs : (a, 2) int64
        Codes at adjacency distance 1.
    offsets, units : (a + 1,) and (offsets[a],) int64
        Across the facet of pair i the units ``units[offsets[i] : offsets[i + 1]]`` flip, numbered through all
        gates.
    near : (b, 2) int64
        Codes at Hamming distance 1.
    undecided : (c, 2) int64
        Pairs whose adjacency is undecided; all other pairs are decided.
    counts : Findings
        One row. ``num_adjacent_pairs`` and ``num_near_pairs``: pairs at distance 1 by facets and by Hamming
        distance. ``num_near_apart``: pairs at Hamming distance 1 without a common facet. ``num_adjacent_far``:
        pairs with a common facet across which several units flip.
    """

    codes: Codes
    points: Int[np.ndarray, " g"]
    flat: Int[np.ndarray, " k"]
    unchecked: Int[np.ndarray, " l"]
    pairs: Int[np.ndarray, "a 2"]
    offsets: Int[np.ndarray, " a1"]
    units: Int[np.ndarray, " _"]
    near: Int[np.ndarray, "b 2"]
    undecided: Int[np.ndarray, "c 2"]
    counts: Findings

    def __len__(self) -> int:
        return len(self.codes)

    @read_arguments
    def flips_at(self, pair: int) -> Int[np.ndarray, " flips"]:
        """Return the units that flip between an adjacent pair, numbered through all gates."""
        pair = read_position(pair, "pair", len(self.pairs), "pairs")
        return self.units[self.offsets[pair] : self.offsets[pair + 1]]

    def distances(self) -> UInt8[np.ndarray, "g g"]:
        """Return the adjacency metric as a table: 0, 1 or 2, and 255 where it is not decided.

        Notes
        -----
        One byte for every pair of codes: 100 MB for 10,000 codes.
        """
        table = np.full((len(self), len(self)), 2, dtype=np.uint8)
        np.fill_diagonal(table, 0)
        for pairs, value in ((self.pairs, 1), (self.undecided, UNDECIDED)):
            table[pairs[:, 0], pairs[:, 1]] = table[pairs[:, 1], pairs[:, 0]] = value
        return table


@read_arguments
def adjacency(
    network: Network,
    x: Points,
    *,
    domain: Domain | None = None,
    budget: TimeBudget | None = None,
    tolerance: Tolerance | None = None,
) -> Adjacency:
    """Return which regions of points share a facet, and which of their codes differ in one unit.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
        Points; for a slice as domain ``(s, d)`` in slice coordinates. The ``witnesses`` of a partition are points
        of all its regions.
    domain : Box, Polyhedron, Slice or Space, optional
        Regions are cut to it; by default all of input space.
    budget : Budget, optional
        Codes and pairs that linear programs do not decide in its time stay undecided. By default as many programs
        as take two minutes on an ordinary machine.
    tolerance : Tolerance, optional
        Its ``rounding``.

    Returns
    -------
    Adjacency
        EXACT for these codes if nothing is undecided, at the resolution of `Polyhedron.facets`: half-spaces that
        differ by less than 1e-9 of their distance to the point are one, and smaller facets do not count. Otherwise
        each count is at least the number found, and at most that number plus the undecided pairs. Nothing is
        certain if rounding could change a code: units that are zero all over a region in real arithmetic get either
        sign.

    Raises
    ------
    InputError
        If a point lies outside the domain, or the domain has equations.

    Notes
    -----
    A point exactly on a hyperplane belongs to the code that counts breakpoints strictly below it. If all points of
    a code lie on hyperplanes, its region has no interior and no facets; the metric is not defined for the code,
    which is counted apart. (The origin of a network with zero biases is such a point.) Each point on hyperplanes
    costs an inscribed ball, about a second in hundreds of dimensions. Images with areas of one colour are such
    points: candidates of a max pooling are equal.

    All pairs are tested. Hyperplanes alone decide nearly all of them (`pairs_on_hyperplanes`), in about 0.1
    microseconds a pair. Each remaining pair costs the half-spaces of a region, and a linear program if the segment
    between the two points does not cross the facet. Memory grows with the number of codes and of neighbours, not of
    pairs.

    References
    ----------
    Shepeleva, Zellinger, Lewandowski and Moser, "ReLU code space: a basis for rating network quality besides
    accuracy", 2020. Their Lemma 1 requires one hidden layer: with relu(x), relu(10 - x) and relu(relu(10 - x) + 2
    relu(x) - 11) the codes of x < -1 and of 1 < x < 10 differ only in the first unit.

    Examples
    --------
    >>> import reluscope as rs
    >>> layers = [([[1.0], [-1.0]], [0.0, 10.0]), ([[2.0, 1.0]], [-11.0]), ([[1.0]], [0.0])]
    >>> found = rs.codespace.adjacency(rs.load(layers), [[-2.0], [-0.5], [0.5], [2.0], [11.0]])
    >>> found.pairs.tolist(), found.near.tolist()
    ([[0, 1], [1, 2], [2, 3], [3, 4]], [[0, 1], [0, 3], [1, 2], [2, 3], [3, 4]])
    >>> print(found.counts.finding("num_near_apart"), found.counts.finding("num_adjacent_far"))
    1 (EXACT) 0 (EXACT)
    """
    began = time.perf_counter()
    tolerance = tolerance or Tolerance()
    is_free = budget is None or budget.seconds is None
    programs = SECONDS / (EACH * program_seconds(network)) if is_free else inf
    seconds = inf if budget is None else budget.seconds_allowed
    if isinstance(domain, Slice):
        network, domain = network.restrict(domain), domain.window
    points = network.points(x).reshape(-1, network.num_inputs).cpu().numpy()
    _check_inside(points, domain)
    codes, first = network.codes(points).unique(return_index=True)
    has_interior, is_checked, in_doubt, num_asked = _have_interiors(
        network, points[first], domain, tolerance, programs, began + seconds
    )
    flat, unchecked, kept = first[is_checked & ~has_interior], first[~is_checked], first[has_interior]
    codes = codes[has_interior]
    rounding = tolerance.rounding * np.finfo(float).eps
    candidates, unclear = pairs_on_hyperplanes(network, codes, points[kept], rounding=rounding)
    left = began + seconds - time.perf_counter()
    programs -= min(programs, num_asked)
    shared = shared_facets(
        network,
        codes,
        points[kept],
        candidates,
        domain=domain,
        tolerance=tolerance,
        programs=programs,
        seconds=left,
    )
    pairs = candidates[shared.is_shared]
    undecided = _sorted(np.concatenate([unclear, candidates[~shared.is_decided]]))
    near = _near(codes)
    offsets, units = differences(codes, pairs[:, 0], pairs[:, 1])
    count = len(codes)
    is_pair, is_open = (np.isin(_keys(near, count), _keys(some, count)) for some in (pairs, undecided))
    open_far = len(undecided) - int(is_open.sum())
    # Each code whose region was not looked at may be a neighbour of any other.
    unknown = len(unchecked) * count + len(unchecked) * (len(unchecked) - 1) // 2
    where = f"{count:,} codes with a region in {'input space' if domain is None else domain.describe()}"
    everything = len(points) * (len(points) - 1) // 2
    method = f"{METHOD}; {len(candidates):,} pairs asked, {shared.num_programs:,} linear programs"
    columns = []
    for quantity, value, unclear in (
        (NUM_ADJACENT, len(pairs), len(undecided) + unknown),
        (NUM_NEAR, len(near), unknown),
        (NUM_NEAR_APART, int((~is_pair & ~is_open).sum()), int(is_open.sum()) + unknown),
        (NUM_ADJACENT_FAR, len(pairs) - int(is_pair.sum()), open_far + unknown),
    ):
        # Where rounding could change a code, any pair may be another.
        ends = (0, everything) if in_doubt.any() else (value, value + unclear)
        columns.append(Column.of(quantity, [value], [ends[0]], [ends[1]], method=method))
    counts = Findings.of(*columns, domain=where, seconds=time.perf_counter() - began)
    return Adjacency(codes, kept, flat, unchecked, pairs, offsets, units, near, undecided, counts)


def _check_inside(points: np.ndarray, domain: Box | Polyhedron | Space | None) -> None:
    if domain is None or isinstance(domain, Space):
        return
    window = domain.polyhedron if isinstance(domain, Box) else domain
    if len(window.C):
        raise InputError("adjacency needs a domain without equations, got some: give their solutions as a Slice")
    outside = ~window.contains(points, FACETS)
    if outside.any():
        raise InputError(f"point {int(outside.argmax())} lies outside the domain: move it inside, or take a larger one")


def _have_interiors(
    network: Network,
    points: np.ndarray,
    domain: Domain | None,
    tolerance: Tolerance,
    most: float,
    until: float,
) -> tuple[Bool[np.ndarray, " g"], Bool[np.ndarray, " g"], Bool[np.ndarray, " g"], int]:
    """Return which regions have an interior, for which that is known, codes in doubt, and the number of programs."""
    # Around a point that is on no hyperplane there is a ball of its code, and the domain has a share of it.
    has_interior = _are_off_hyperplanes(network, points, tolerance)
    is_checked = has_interior.copy()
    looked_at, seen = [], points.copy()
    for index in np.flatnonzero(~has_interior):
        if len(looked_at) >= most or time.perf_counter() > until:
            break
        is_checked[index] = True
        looked_at.append(index)
        try:
            seen[index] = region(network, points[index], domain=domain, tolerance=tolerance).witness
        except DegenerateGeometryError:
            continue
        has_interior[index] = True
    # Strictly inside a region only units that are constant can be as near to a breakpoint as rounding.
    in_doubt = np.zeros(len(points), dtype=bool)
    if looked_at:
        in_doubt[looked_at] = rounded_forward(network, seen[looked_at], tolerance=tolerance).doubtful.any(axis=1)
    return has_interior, is_checked, in_doubt, len(looked_at)


@torch.no_grad()
def _are_off_hyperplanes(network: Network, points: np.ndarray, tolerance: Tolerance) -> Bool[np.ndarray, " g"]:
    """Return which points are on no breakpoint of any unit, up to rounding."""
    unit = tolerance.unit
    is_off = np.ones(len(points), dtype=bool)
    for rows in chunks(len(points), 4 * network.bytes_per_point, BUDGET):
        arrived = gate_values(network, HeldRoundedNumbers(unit), Rounded.exactly(network.points(points[rows])))
        for stage, seen in zip(network.stages, arrived, strict=True):
            table, noise = (part.cpu().numpy() for part in seen)
            if isinstance(stage.gate, Max):
                if table.shape[2] > 1:
                    ahead = np.partition(table, -2, axis=2)
                    is_off[rows] &= (ahead[..., -1] - ahead[..., -2] > 2 * noise.max(axis=2)).all(axis=1)
            else:
                for threshold in stage.gate.breakpoints.cpu().numpy():
                    is_off[rows] &= (np.abs(table - threshold) > noise).all(axis=1)
    return is_off


def _near(codes: Codes) -> Int[np.ndarray, "b 2"]:
    """Return the pairs that differ in one unit, some rows of the table of distances at a time."""
    found = [np.zeros((0, 2), dtype=np.int64)]
    for start in range(0, len(codes), ROWS_AT_ONCE):
        block = codes[start : start + ROWS_AT_ONCE].distance(codes[start:], threshold=2)
        first, second = np.nonzero(block == 1)
        pairs = np.column_stack([first, second]) + start
        found.append(pairs[first < second])
    return np.concatenate(found)


def _sorted(pairs: np.ndarray) -> np.ndarray:
    return pairs[np.lexsort(pairs.T[::-1])]


def _keys(pairs: np.ndarray, count: int) -> np.ndarray:
    return pairs[:, 0] * count + pairs[:, 1]
