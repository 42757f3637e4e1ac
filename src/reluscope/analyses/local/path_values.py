"""What a network does along a path, piece by piece: crossings, gradients, and the path's image at every gate.

On a piece the network is affine, so that the image of a path at a gate is a polyline through the values at the knots.
Its length is the trajectory length of [raghu2017]_; the distance of the outputs from the chord of their segment is
convex on a piece, so that its largest value is taken at a knot.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float, Int

from reluscope.codes.differences import differences
from reluscope.codes.packed import Codes
from reluscope.networks.evaluation.linearize import gate_values_in_turn, linearize
from reluscope.networks.evaluation.maps_of_codes import pieces_of
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import GateNode, Pointwise
from reluscope.networks.graph.points import chunks
from reluscope.networks.network import Network
from reluscope.networks.passes.numbers import NUMBERS
from reluscope.networks.point_evaluation import bytes_of_gates
from reluscope.tolerance import EPSILON, Tolerance

# Bytes of values and of Jacobians that are in memory together.
MEMORY = 2**27
# Roundings of a point between two ends: two products and a sum.
ROUNDINGS = 4.0


@dataclass(frozen=True, eq=False)
class PathValues:
    """A network along segments, cut at knots.

    Parameters
    ----------
    network : Network
    starts, ends : (k, n) float64
    offsets : (k1,) int64
        Pieces of segment i are the rows ``offsets[i]:offsets[i + 1]``.
    shares : (p, 2) float64
        Start and end of each piece.
    moved : (p, 2) float64
        Bounds on how far they are from the true knots, in input space.
    tolerance : Tolerance
    """

    network: Network
    starts: Float[np.ndarray, "k n"]
    ends: Float[np.ndarray, "k n"]
    offsets: Int[np.ndarray, " k1"]
    shares: Float[np.ndarray, "p 2"]
    moved: Float[np.ndarray, "p 2"]
    tolerance: Tolerance

    @cached_property
    def owner(self) -> Int[np.ndarray, " p"]:
        """The segment of each piece."""
        return np.repeat(np.arange(len(self.starts)), np.diff(self.offsets))

    @cached_property
    def lengths(self) -> Float[np.ndarray, " k"]:
        """Length of each segment."""
        return np.linalg.norm(self.ends - self.starts, axis=1)

    @cached_property
    def follows(self) -> Int[np.ndarray, " q"]:
        """Rows of pieces that begin where the piece before ends: of the same segment, or of one that continues it."""
        rows = np.arange(1, len(self.shares))
        one, other = self.owner[rows - 1], self.owner[rows]
        gap, sizes = np.abs(self.ends[one] - self.starts[other]), np.abs(self.ends[one]) + np.abs(self.starts[other])
        largest = sizes.max(axis=1, initial=0.0, keepdims=True)
        is_joined = (gap <= ROUNDINGS * EPSILON * np.sqrt(sizes.shape[1]) * largest).all(axis=1)
        return rows[(one == other) | ((one + 1 == other) & is_joined)]

    def points(self, end: int) -> Float[np.ndarray, "p n"]:
        """Return where pieces begin (0) or end (1)."""
        share = self.shares[:, end, None]
        return (1 - share) * self.starts[self.owner] + share * self.ends[self.owner]

    def flips(self, codes: Codes) -> tuple[Int[np.ndarray, " q1"], Int[np.ndarray, " units"]]:
        """Return offsets and numbers of the units that change where a piece follows another."""
        return differences(codes, self.follows - 1, self.follows)

    @cached_property
    def stretched(self) -> dict[str, Float[np.ndarray, "p 2"]]:
        """By gate the lengths of the images of pieces, and bounds on their errors; those of outputs by ``"output"``."""
        names = [gate.name for gate in self.network.gates] + ["output"]
        found = {name: np.zeros((len(self.shares), 2)) for name in names}
        position = (
            self.moved
            + ROUNDINGS * EPSILON * np.linalg.norm(np.abs(self.starts) + np.abs(self.ends), axis=1)[self.owner, None]
        )
        widths = np.diff(self.shares)[:, 0] * self.lengths[self.owner]
        for rows in self._blocks(2 * bytes_of_gates(self.network)):
            (first, noise), (last, other) = (self._values(self.points(end)[rows]) for end in (0, 1))
            for name, a, b, e, f in zip(names, first, last, noise, other, strict=True):
                length, error = np.linalg.norm(b - a, axis=1), np.linalg.norm(e, axis=1) + np.linalg.norm(f, axis=1)
                # A knot slides along both of its pieces, on each by the slope there.
                share = np.minimum(1.0, position[rows].sum(axis=1) / np.maximum(widths[rows], np.finfo(float).tiny))
                found[name][rows] = np.stack([length, error + share * (length + error)], axis=1)
        return found

    def _blocks(self, bytes_per_piece: int) -> Iterator[slice]:
        return chunks(len(self.shares), bytes_per_piece, MEMORY) if len(self.shares) else iter(())

    @torch.no_grad()
    def _values(self, points: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return what every gate gives at points, and the outputs, with bounds on rounding."""
        at = self.network.at(points, tolerance=self.tolerance)
        values = [
            stage.gate.apply(before).reshape(len(points), -1).cpu().numpy()
            for stage, before in gate_values_in_turn(self.network, NUMBERS, at.points)
        ]
        errors = [
            _error_behind(stage.gate, *seen[1:]) for stage, seen in zip(self.network.stages, at.gates, strict=True)
        ]
        return [*values, at.outputs], [*errors, at.errors]

    @cached_property
    def deviations(self) -> Float[np.ndarray, "p 3"]:
        """How far outputs are from the chord of their segment on each piece, an error bound, and outputs' size."""
        if not len(self.shares):
            return np.zeros((0, 3))
        knots, ends = (
            [self.network.at(points, tolerance=self.tolerance).forward for points in pair]
            for pair in ((self.points(0), self.points(1)), (self.starts, self.ends))
        )
        on_knots, on_ends = (
            np.max([np.linalg.norm(one.errors, axis=1) for one in pair], axis=0) for pair in (knots, ends)
        )
        first, last = (one.outputs[self.owner] for one in ends)
        apart = [
            np.linalg.norm(knot.outputs - (1 - share)[:, None] * first - share[:, None] * last, axis=1)
            for knot, share in zip(knots, self.shares.T, strict=True)
        ]
        size = np.linalg.norm(np.abs(first) + np.abs(last), axis=1)
        widths = np.maximum(np.diff(self.shares)[:, 0] * self.lengths[self.owner], np.finfo(float).tiny)
        slopes = self.stretched["output"].sum(axis=1) / widths + size / self.lengths[self.owner]
        noise = on_knots + on_ends[self.owner] + 2 * ROUNDINGS * EPSILON * size
        return np.stack([np.maximum(*apart), noise + self.moved.max(axis=1, initial=0.0) * slopes, size], axis=1)

    def jacobians(self, codes: Codes, rows: slice) -> Float[np.ndarray, "k m n"]:
        """Return the Jacobians on some pieces, from their codes."""
        middles = self.points(0)[rows] / 2 + self.points(1)[rows] / 2
        held = [torch.as_tensor(table, device=self.network.device) for table in pieces_of(codes[rows])]
        return linearize(self.network, middles, None, MEMORY, held).weight.cpu().numpy()

    def jacobian_norms(self, codes: Codes) -> Float[np.ndarray, "p 2"]:
        """Return the Frobenius norm of the Jacobian on each piece, and by how much it differs from the one before.

        The change is NaN where a piece follows no other.
        """
        found = np.full((len(codes), 2), np.nan)
        follows = np.zeros(len(codes), dtype=bool)
        follows[self.follows] = True
        before = np.zeros((0, 0))
        for rows in self._blocks(16 * self.network.num_outputs * self.network.num_inputs):
            weight = self.jacobians(codes, rows).reshape(rows.stop - rows.start, -1)
            found[rows, 0] = np.linalg.norm(weight, axis=1)
            earlier = np.concatenate([before if rows.start else weight[:1], weight[:-1]])
            found[rows, 1] = np.where(follows[rows], np.linalg.norm(weight - earlier, axis=1), np.nan)
            before = weight[-1:]
        return found


def _error_behind(gate: GateNode, pre: torch.Tensor, errors: torch.Tensor) -> Float[np.ndarray, "s u"]:
    """Return bounds on the errors of what a continuous gate gives, from those of its pre-activations."""
    if isinstance(gate, Max):
        return errors.amax(-1).cpu().numpy()
    assert isinstance(gate, Pointwise)
    if gate.is_relu:
        return errors.cpu().numpy()
    steepest, farthest = gate.slopes.abs().amax(0), gate.intercepts.abs().amax(0)
    return (errors * steepest + ROUNDINGS * EPSILON * (pre.abs() * steepest + farthest)).cpu().numpy()
