"""Point location by codes: the network itself says in which region a point lies, and where it is on a boundary.

Where rounding leaves no doubt of any unit the code of a point is that of its region. Elsewhere the point may be on a
boundary: regions that agree on all units without doubt are asked in fractions whether it lies in their closure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, UInt64

from reluscope.codes.distinct import group_equal_rows
from reluscope.codes.packed import Codes
from reluscope.networks.evaluation.linearize import gate_values
from reluscope.networks.evaluation.maps_of_codes import pieces_of
from reluscope.networks.fractions.rational import RationalNetwork
from reluscope.networks.graph.choosing_gates import Max, TopK
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.graph.points import chunks
from reluscope.networks.network import Network
from reluscope.networks.passes.rounded import HeldRoundedNumbers, Rounded
from reluscope.tolerance import Tolerance

# Bytes that the values at the points asked for may take at once.
MEMORY = 2**27


def locate_by_code(
    points: Float[np.ndarray, "s d"], network: Network, codes: Codes, tolerance: Tolerance
) -> Int[np.ndarray, " s"]:
    """Return the lowest region whose closure contains each point, -1 if none does.

    Codes must all differ, and points lie in the domain. One forward pass; for points within rounding of a boundary also
    a rational evaluation for each region around them.
    """
    if not len(points) or not len(codes):
        return np.full(len(points), -1, dtype=np.int64)
    return CodesAtPoints.of(points, network, tolerance).lowest(codes, np.arange(len(points)))


@dataclass(frozen=True, eq=False)
class CodesAtPoints:
    """The network's codes at some points; lists of regions are then asked one after the other."""

    points: Float[np.ndarray, "s d"]
    network: Network
    words: UInt64[np.ndarray, "s w"]  # codes at the points, packed
    boundary: Int[np.ndarray, " b"]  # points with some unit in doubt, ascending
    open_units: Bool[np.ndarray, "b u"]  # units in doubt at those points

    @classmethod
    def of(cls, points: Float[np.ndarray, "s d"], network: Network, tolerance: Tolerance) -> "CodesAtPoints":
        """Evaluate the network at points, some at a time."""
        words, boundary, open_units = [], [], []
        for rows in chunks(len(points), 4 * network.bytes_per_point, MEMORY):
            seen = network.codes(points[rows])
            doubt = _in_doubt(network, points[rows], seen, tolerance)
            on_boundary = np.flatnonzero(doubt.any(axis=1))
            words.append(seen.words)
            boundary.append(rows.start + on_boundary)
            open_units.append(doubt[on_boundary])
        return cls(points, network, np.concatenate(words), np.concatenate(boundary), np.concatenate(open_units))

    @cached_property
    def _exact(self) -> RationalNetwork:
        return RationalNetwork(self.network)

    def own(self, codes: Codes, which: Int[np.ndarray, " k"]) -> Int[np.ndarray, " k"]:
        """Return the region, of some, that has the code of each of the points asked for, as floats see it, or -1."""
        first, group, _ = group_equal_rows(np.concatenate([codes.words, self.words[which]]))
        place = first[group[len(codes) :]]
        return np.where(place < len(codes), place, -1)

    def lowest(self, codes: Codes, which: Int[np.ndarray, " k"]) -> Int[np.ndarray, " k"]:
        """Return the lowest region whose closure contains each of the points asked for, -1 if none does.

        Codes of the regions must all differ; ``which`` are rows of the points.
        """
        found = self.own(codes, which)
        asked = np.flatnonzero(np.isin(which, self.boundary))
        if not len(asked):
            return found
        pieces, every = Codes(self.words[which[asked]], codes.layout).to_array(), codes.to_array()
        for index, row in enumerate(asked.tolist()):
            clear = ~self.open_units[np.searchsorted(self.boundary, which[row])]
            around = np.flatnonzero((every[:, clear] == pieces[index, clear]).all(axis=1))
            point = [Fraction(entry) for entry in self.points[which[row]].tolist()]
            found[row] = next((one for one in around if _is_in_closure(self._exact, every[one], point)), -1)
        return found


def _is_in_closure(exact: RationalNetwork, code: np.ndarray, point: Sequence[Fraction]) -> bool:
    """Return whether every unit, the others held to their pieces of a code, allows its own at a point."""
    layout, stages = exact.network.layout, exact.network.stages
    pieces = [code[layout.units(gate)].tolist() for gate in range(len(stages))]
    for stage, own, values in zip(stages, pieces, exact.held(pieces, point), strict=False):
        gate = stage.gate
        if isinstance(gate, Max):
            for row, piece in zip(gate.index.tolist(), own, strict=True):
                if any(values[other] > values[row[piece]] for other in row if other >= 0):
                    return False
            continue
        if isinstance(gate, TopK):
            for group in gate.groups.tolist():
                least = min(values[unit] for unit in group if own[unit])
                if any(values[unit] > least for unit in group if not own[unit]):
                    return False
            continue
        levels = np.broadcast_to(gate.breakpoints.cpu().numpy(), (len(gate.breakpoints), gate.num_units))
        for unit, piece in enumerate(own):
            ends = levels[[max(piece - 1, 0), min(piece, len(levels) - 1)], unit].tolist() if len(levels) else []
            if piece > 0 and np.isfinite(ends[0]) and values[unit] < Fraction(ends[0]):
                return False
            if piece < len(levels) and np.isfinite(ends[1]) and values[unit] > Fraction(ends[1]):
                return False
    return True


@torch.no_grad()
def _in_doubt(
    network: Network, points: Float[np.ndarray, "s d"], seen: Codes, tolerance: Tolerance
) -> Bool[np.ndarray, "s u"]:
    """Return whether a unit is at a breakpoint, or ties, for all that rounding tells.

    Behind a gate that jumps, and may do so at the point, every unit is in doubt: it may see either value.
    """
    columns = []
    is_after_jump = np.zeros((len(points), 1), dtype=bool)
    pieces = [torch.as_tensor(table, device=network.device) for table in pieces_of(seen)]
    carrier = HeldRoundedNumbers(tolerance.unit, pieces)
    arrived = gate_values(network, carrier, Rounded.exactly(network.points(points)))
    for stage, seen_there in zip(network.stages, arrived, strict=True):
        table, noise = (part.cpu().numpy() for part in seen_there)
        if isinstance(stage.gate, Max):
            surely = (table - noise).max(axis=2, keepdims=True)
            doubt = (table + noise >= surely).sum(axis=2) > 1
        elif isinstance(stage.gate, TopK):
            doubt = stage.gate.may_change(*(part.cpu() for part in seen_there), ties=True).numpy()
        else:
            assert isinstance(stage.gate, Pointwise)
            levels = stage.gate.breakpoints.cpu().numpy()
            doubt = (np.abs(table[:, None, :] - levels) <= noise[:, None, :]).any(axis=1)
        columns.append(doubt | is_after_jump)
        if not isinstance(stage.gate, Max) and not stage.gate.is_continuous:
            is_after_jump = is_after_jump | doubt.any(axis=1, keepdims=True)
    return np.concatenate(columns, axis=1) if columns else np.zeros((len(points), 0), dtype=bool)
