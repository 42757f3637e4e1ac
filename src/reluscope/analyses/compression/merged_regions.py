"""Neighbouring regions with equal, or nearly equal, affine maps made one piece.

Regions whose maps are equal belong together at no cost; which are equal is decided in rational arithmetic. Beyond that,
the two neighbouring pieces whose union is nearest to the network are joined, while the error stays below what is
allowed. A piece has the mean of its regions' maps, weighted by volume. The network less an affine map is affine on
every region, so that its largest value on a piece is taken at a vertex.
"""

import heapq
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from reluscope.analyses.counting.connected import open_components
from reluscope.analyses.counting.same_maps import same_maps
from reluscope.arguments import NonNegative, read_arguments, read_array
from reluscope.errors import InputError
from reluscope.findings import Finding
from reluscope.geometry.numbers.resolutions import CORNERS
from reluscope.networks.evaluation.rounded_forward import forward_with_errors
from reluscope.networks.graph.left_off import refuse_left_off
from reluscope.partitions.corner_errors import corner_errors
from reluscope.partitions.left_open import left_open
from reluscope.partitions.partition_in_memory import Partition

# Relative to the diameter: vertices are known no better, whatever the resolution of the partition.
LEAST_RESOLUTION = 1e-12


@dataclass(frozen=True, eq=False)
class MergedRegions:
    """A piecewise affine function with fewer pieces than a partition, and its error against the network.

    Parameters
    ----------
    partition : Partition
    labels : (r,) int64
        Piece of every region; pieces are connected across facets.
    weight : (p, m, d) float64; bias : (p, m) float64
        Affine map of every piece, in coordinates of the domain.
    errors : (p,) float64
        Largest difference of any output to the network, on each piece.
    num_pieces : Finding
        EXACT if only equal maps were merged: the connected regions of one affine map. Otherwise UPPER: fewer may
        suffice. An ESTIMATE where the partition has undecided signs.
    max_error : Finding
        Largest difference on the domain; for a partition with undecided signs no upper bound is known.
    """

    partition: Partition
    labels: Int[np.ndarray, " r"]
    weight: Float[np.ndarray, "p m d"]
    bias: Float[np.ndarray, "p m"]
    errors: Float[np.ndarray, " p"]
    num_pieces: Finding
    max_error: Finding

    def __len__(self) -> int:
        return len(self.bias)

    def __repr__(self) -> str:
        return f"MergedRegions({len(self.labels):,} regions -> {len(self):,} pieces, error {float(self.max_error):.3g})"

    @read_arguments
    def __call__(self, points: ArrayLike) -> Float[np.ndarray, "s m"]:
        """Return the merged function at points in coordinates of the domain; nan outside of it.

        Where pieces meet the function jumps, and the one of the lowest region counts.
        """
        points = np.atleast_2d(read_array(points, "points"))
        rows = self.partition.locate(points)
        pieces = self.labels[rows]
        values = np.einsum("smd,sd->sm", self.weight[pieces], points) + self.bias[pieces]
        values[rows < 0] = np.nan
        return values


@read_arguments
def merge_regions(part: Partition, error: NonNegative = 0.0) -> MergedRegions:
    """Return a partition with neighbouring regions merged if one affine map fits both at a small error.

    Parameters
    ----------
    part : Partition
        Complete, of a bounded domain, with its corners (not by ``method="tree"``) and its network.
    error : float
        Largest allowed difference between the network and the merged function, in any output, anywhere on the
        domain. 0 merges equal maps only.

    Returns
    -------
    MergedRegions

    Raises
    ------
    InputError
        If the error is negative or not finite, or the partition keeps no corners or is unbounded.
    IncompletePartitionError
        If the partition stopped early.

    Notes
    -----
    Greedy: pairs of neighbours are merged in order of the error of their union. A partition of 1,000 regions takes
    about a second. The merged function is not continuous.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[1.0], [1.0]], [0.0, -0.125]), ([[1.0, 1.0]], [0.0])])
    >>> part = rs.partition(net, rs.Box(-1, 1, dim=1))
    >>> rs.compression.merge_regions(part, 0.0), rs.compression.merge_regions(part, 0.25)
    (MergedRegions(3 regions -> 3 pieces, error 0), MergedRegions(3 regions -> 2 pieces, error 0.109))
    """
    if not 0 <= error < np.inf:
        raise InputError(f"expected an error of at least 0, in units of the outputs, got {error}")
    if error:
        ends = part.network_on_domain.left_off
        refuse_left_off("an error of the merged function", ends, "take the partition of network.logits")
    part.require_complete("merging regions")
    if not len(part) or not part.is_bounded().all():
        raise InputError(f"expected regions that are bounded, got {part!r}: partition a Box or a bounded Slice")
    same = same_maps(part)
    start = open_components(part, same.certain)
    pieces = _Pieces(part, start)
    equal = len(np.unique(start))
    if error > 0:
        pieces.merge(error)
    labels, weight, bias, errors = pieces.result()
    left, _, _ = part.facet_columns.inner
    least = len(bias) if error == 0 and not same.num_undecided else 1
    fewest, most = left_open(part).ends(least, len(bias), least=1)
    num_pieces = Finding.of(
        len(bias),
        int(fewest),
        int(most) if most < np.inf else most,
        name="pieces",
        definition=f"connected pieces with one affine map each, at most {error:g} from the network",
        domain=part.domain.describe(),
        method=f"{len(part):,} regions, {equal:,} after merging equal maps, {len(left):,} facets; greedy beyond that",
        resolution=part.tolerance.resolution,
    )
    return MergedRegions(part, labels, weight, bias, errors, num_pieces, _largest(part, pieces, errors, error))


def _largest(part: Partition, pieces: "_Pieces", errors: np.ndarray, allowed: float) -> Finding:
    largest = float(errors.max())
    exact = allowed == 0
    # A vertex is known up to the resolution of the partition, and there the steepest difference counts.
    corners = part.vertices
    diameter = float(np.linalg.norm(corners.max(axis=0) - corners.min(axis=0)))
    moved = max(max(part.tolerance.resolution, LEAST_RESOLUTION) * diameter, float(corner_errors(part).max()))
    value, rounding = 0.0 if exact else largest, pieces.rounding + (0.0 if exact else moved * pieces.steepest)
    lower, upper = left_open(part).ends(max(0.0, value - rounding), value + rounding, least=0.0)
    return Finding.of(
        value,
        lower,
        upper,
        scale=float(np.abs(part.outputs).max(initial=0.0)),
        name="largest error",
        definition="largest difference of an output of the merged function to the network on the domain",
        domain=part.domain.describe(),
        method="equal maps, in rational arithmetic, as float64 holds them"
        if exact
        else "all vertices of all regions, in float64",
    )


class _Pieces:
    """Pieces during merging: sums of the volumes and maps of their regions, their vertices, their neighbours."""

    def __init__(self, part: Partition, start: np.ndarray) -> None:
        self.part = part
        maps = part.maps
        self.tables = np.concatenate([maps.weight.numpy(), maps.bias.numpy()[..., None]], axis=2)
        self.volumes = np.maximum(part.volumes(), np.finfo(float).tiny)
        network = part.network_on_domain
        outputs, rounded = forward_with_errors(network, part.vertices)
        self.outputs = outputs.reshape(len(part.vertices), -1)
        homogeneous = np.concatenate([part.vertices, np.ones((len(part.vertices), 1))], axis=1)
        self.corners = homogeneous
        sizes = np.abs(self.tables).max(axis=0) @ np.abs(homogeneous).max(axis=0)
        self.rounding = float(rounded.max() + CORNERS * sizes.max())
        weights = self.tables[:, :, :-1]
        self.steepest = float(2 * np.linalg.norm(weights, axis=2).max())
        names, self.of_region = np.unique(start, return_inverse=True)
        self.members = [np.flatnonzero(self.of_region == piece).tolist() for piece in range(len(names))]
        offsets, ids = part.region_vertices
        self.vertices = [
            np.unique(np.concatenate([ids[offsets[r] : offsets[r + 1]] for r in rows])) for rows in self.members
        ]
        self.sums = [np.tensordot(self.volumes[rows], self.tables[rows], axes=1) for rows in self.members]
        # The map of several regions that have one is that of any of them, not a rounded mean.
        self.maps = [self.tables[rows[0]] for rows in self.members]
        self.totals = [float(self.volumes[rows].sum()) for rows in self.members]
        self.neighbors: list[set[int]] = [set() for _ in names]
        left, right, _ = part.facet_columns.inner
        for a, b in zip(self.of_region[left].tolist(), self.of_region[right].tolist(), strict=True):
            if a != b:
                self.neighbors[a].add(b)
                self.neighbors[b].add(a)

    def merge(self, error: float) -> None:
        heap = [(*self._union(a, b)[:1], a, b) for a, others in enumerate(self.neighbors) for b in others if a < b]
        heap = [entry for entry in heap if entry[0] <= error]
        heapq.heapify(heap)
        alive = [True] * len(self.members)
        while heap:
            _, a, b = heapq.heappop(heap)
            if not (alive[a] and alive[b]):
                continue
            new = len(self.members)
            _, table, corners = self._union(a, b)
            alive[a] = alive[b] = False
            alive.append(True)
            self.members.append(self.members[a] + self.members[b])
            self.vertices.append(corners)
            self.sums.append(self.sums[a] + self.sums[b])
            self.totals.append(self.totals[a] + self.totals[b])
            self.maps.append(table)
            around = (self.neighbors[a] | self.neighbors[b]) - {a, b}
            self.neighbors.append(around)
            for other in around:
                self.neighbors[other] -= {a, b}
                self.neighbors[other].add(new)
                far = self._union(other, new)[0]
                if far <= error:
                    heapq.heappush(heap, (far, other, new))
            self.members[a], self.members[b] = [], []

    def _union(self, a: int, b: int) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the error, the map and the vertices of two pieces as one."""
        corners = np.union1d(self.vertices[a], self.vertices[b])
        table = (self.sums[a] + self.sums[b]) / (self.totals[a] + self.totals[b])
        return self._error(corners, table), table, corners

    def _error(self, corners: np.ndarray, table: np.ndarray) -> float:
        return float(np.abs(self.outputs[corners] - self.corners[corners] @ table.T).max())

    def result(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return labels, weights, biases and errors of the pieces that are left."""
        kept = [piece for piece, rows in enumerate(self.members) if rows]
        labels = np.empty(len(self.part), dtype=np.int64)
        for number, piece in enumerate(kept):
            labels[self.members[piece]] = number
        tables = np.stack([self.maps[piece] for piece in kept])
        errors = np.array([self._error(self.vertices[piece], self.maps[piece]) for piece in kept])
        return labels, tables[:, :, :-1], tables[:, :, -1], errors
