"""Which pieces units can have on a domain, proved by intervals, linear programs, or the exact partition.

A unit whose least and largest piece are one is affine on the domain. Intervals hold with the rounding of floats; linear
programs relax the gates before, and of each is taken what its multipliers prove, rounding included; a partition whose
signs were decided in rational arithmetic is the whole truth.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from reluscope.arguments import read_arguments
from reluscope.budget import Budget
from reluscope.errors import DegenerateGeometryError, InputError
from reluscope.findings import Claim
from reluscope.geometry.numbers.resolutions import SUMS
from reluscope.geometry.polyhedra.bounding_box import bounding_box
from reluscope.geometry.polyhedra.domains import Box, Domain, Slice, Space
from reluscope.networks.bounds.mixed_integer import encode
from reluscope.networks.bounds.ranges import Ranges, unit_ranges
from reluscope.networks.evaluation.choices import read_domain
from reluscope.networks.evaluation.pass_time import region_seconds
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.graph.operators.linear import Linear
from reluscope.networks.network import Network
from reluscope.partitions import Partition, certify, partition
from reluscope.shown import Shown
from reluscope.stopping import is_interrupted

Method = Literal["auto", "intervals", "programs", "partition"]

# By itself a partition is made of lines and planes, if it has no more regions than take so many seconds, each so many
# for a unit to be proved; and what ends it where they take far longer.
MAX_DIMENSIONS = 2
SECONDS, PROVED, LIMIT = 30.0, 5e-5, Budget(seconds=1800.0)
# Ends of intervals this near to a breakpoint, relative to the terms of the sum, are computed again as fractions.
NEAR_BREAKPOINT = 1e-9


@dataclass(frozen=True, repr=False)
class UnitPieces(Shown):
    """Proved bounds on the pieces of every unit on a domain, for pruning.

    Parameters
    ----------
    least, largest : tuples of (u,) int64
        Least and largest piece, one array per gate. Max gates are not analysed: they have 0 and the number of
        pieces less one.
    ranges : tuple of Ranges or None
        Intervals of the pre-activations on a box around the domain; None if it is unbounded.
    corners : pair of (n,) float64 or None
        The box.
    method : str
        Proof of the pieces, in words.
    """

    least: tuple[Int[np.ndarray, " _"], ...]
    largest: tuple[Int[np.ndarray, " _"], ...]
    ranges: tuple[Ranges, ...] | None
    corners: tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]] | None
    method: str


@read_arguments
def unit_pieces(network: Network, *, domain: Domain, method: Method = "auto") -> UnitPieces:
    """Return bounds on the pieces that the units of a network have on a domain.

    Parameters
    ----------
    network : Network
    domain : Box, Polyhedron, Space or Slice
        In the input space of the network.
    method : {"auto", "intervals", "programs", "partition"}
        Intervals are always used on bounded domains; the others narrow them down. By default the partition, in one
        or two dimensions, if its regions take at most 30 seconds on an ordinary machine.

    Returns
    -------
    UnitPieces

    Raises
    ------
    ShapeError
        If the domain is not in the input space.
    DegenerateGeometryError
        If a partition is requested, and the domain has no interior.
    InputError
        If the domain is empty, linear programs are requested on a slice or an unbounded domain, or a requested
        partition is incomplete.

    Notes
    -----
    Two forward passes for intervals; two linear programs per undecided unit.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.array([[1.0], [-1.0], [1.0]]), np.array([2.0, -3.0, 0.0])), (np.ones((1, 3)), np.zeros(1))])
    >>> found = rs.compression.unit_pieces(net, domain=rs.Box(-1, 1, dim=1))
    >>> found.least[0], found.largest[0]  # always on, dead, both
    (array([1, 0, 0]), array([1, 0, 1]))
    """
    domain = read_domain(domain, network.num_inputs)
    least = [np.zeros(gate.num_units, dtype=np.int64) for gate in network.gates]
    largest = [np.full(gate.num_units, gate.num_pieces - 1, dtype=np.int64) for gate in network.gates]
    corners = _corners(domain)
    ranges, methods = None, []
    if corners is not None:
        ranges = unit_ranges(network, *corners)
        methods.append("interval arithmetic with rounding")
        _meet(network, least, largest, *_by_intervals(network, ranges, corners))
    if method == "programs":
        if corners is None or isinstance(domain, Slice | Space):
            raise InputError(
                f"linear programs need a bounded domain of input space, got {domain.describe()}: take intervals or the "
                "partition"
            )
        model = encode(network, domain, least_margin=0.0)
        ends = [np.full(model.program.num_columns, value) for value in (0.0, 1.0)]
        low, high = (model.pieces(end) for end in ends)
        _meet(network, least, largest, low, high)
        methods.append("linear programs with multipliers that were checked")
    if method == "partition" or (method == "auto" and domain.dim <= MAX_DIMENSIONS):
        try:
            part = _quick(network, domain) if method == "auto" else certify(partition(network, domain))
        except DegenerateGeometryError:
            if method == "partition":
                raise
            part = None  # a flat domain has no regions, and intervals all the same
        if part is None:
            pass
        elif is_interrupted(part.stop):
            raise KeyboardInterrupt
        elif part.claim is Claim.EXACT and not part.num_open and not part.num_undecided and len(part):
            table = part.codes.to_array()
            units = [table[:, part.codes.layout.units(gate)] for gate in range(len(network.gates))]
            _meet(network, least, largest, [one.min(axis=0) for one in units], [one.max(axis=0) for one in units])
            methods.append(f"the exact partition, {len(part):,} regions decided in rational arithmetic")
        elif method == "partition":
            raise InputError(
                f"expected a complete partition, and this one is not: {part.note or part.claim}; take intervals or "
                "linear programs"
            )
    return UnitPieces(tuple(least), tuple(largest), ranges, corners, ", ".join(methods) or "none")


def _quick(network: Network, domain: Domain) -> Partition:
    """Return a certified partition, or one that is not complete where it would take long."""
    regions = int(SECONDS / (region_seconds(network) + PROVED * network.num_units))
    found = partition(network, domain, keep="codes", budget=Budget(regions=regions))
    return found if found.stop or found.num_open else certify(found, budget=LIMIT)


def _corners(domain: Domain) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the ends of a box around the domain, None if it is unbounded."""
    if isinstance(domain, Space):
        return None
    if isinstance(domain, Box):
        return domain.lo, domain.hi
    if isinstance(domain, Slice):
        inner = _corners(domain.window)
        if inner is None:
            return None
        center, half = (inner[0] + inner[1]) / 2, (inner[1] - inner[0]) / 2
        middle, reach = domain.lift(center), half @ np.abs(domain.basis)
        slack = SUMS * (np.abs(middle) + reach + np.abs(domain.origin))
        return middle - reach - slack, middle + reach + slack
    ends = bounding_box(domain)
    if domain.is_empty() or (ends is not None and (ends[0] > ends[1]).any()):
        raise InputError(f"expected a domain with points in it, got an empty one: {domain.describe()}")
    return ends


def _meet(network: Network, least: list, largest: list, low: list, high: list) -> None:
    """Narrow down the pieces of pointwise gates, in place."""
    for index, stage in enumerate(network.stages):
        if isinstance(stage.gate, Pointwise):
            least[index] = np.maximum(least[index], low[index])
            # At a breakpoint both pieces are right, and either end may come from another proof.
            largest[index] = np.maximum(np.minimum(largest[index], high[index]), least[index])


def _by_intervals(
    network: Network, ranges: tuple[Ranges, ...], corners: tuple[np.ndarray, np.ndarray]
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    least, largest = [], []
    for stage, span in zip(network.stages, ranges, strict=True):
        gate = stage.gate
        if isinstance(gate, Max):
            least.append(np.zeros(gate.num_units, dtype=np.int64))
            largest.append(np.full(gate.num_units, gate.num_pieces - 1))
            continue
        assert isinstance(gate, Pointwise)
        levels = np.broadcast_to(gate.breakpoints.cpu().numpy(), (len(gate.breakpoints), gate.num_units))
        low, high = (levels <= span.lower).sum(axis=0), (levels < span.upper).sum(axis=0)
        node = network.nodes[gate.inputs[0]]
        if isinstance(node, Linear) and node.inputs == (0,) and len(node.shape) == 1:
            _touching(node, levels, span, corners, low, high)
        least.append(low)
        largest.append(np.maximum(low, high))
    return least, largest


def _touching(
    node: Linear,
    levels: np.ndarray,
    span: Ranges,
    corners: tuple[np.ndarray, np.ndarray],
    low: np.ndarray,
    high: np.ndarray,
) -> None:
    """Decide units of the first layer again, as fractions, that reach a breakpoint within rounding."""
    weight = node.weight.cpu().numpy()
    bias = np.zeros(len(weight)) if node.bias is None else node.bias.cpu().numpy()
    scale = np.abs(weight) @ np.maximum(*map(np.abs, corners)) + np.abs(bias)
    near = np.minimum(np.abs(levels - span.lower), np.abs(levels - span.upper)).min(axis=0) <= NEAR_BREAKPOINT * scale
    for unit in np.flatnonzero(near & (low != high)).tolist():
        lower = upper = Fraction(float(bias[unit]))
        for entry, first, last in zip(weight[unit].tolist(), *map(np.ndarray.tolist, corners), strict=True):
            ends = Fraction(entry) * Fraction(first), Fraction(entry) * Fraction(last)
            lower, upper = lower + min(ends), upper + max(ends)
        steps = [Fraction(level) for level in levels[:, unit].tolist()]
        low[unit], high[unit] = sum(step <= lower for step in steps), sum(step < upper for step in steps)
