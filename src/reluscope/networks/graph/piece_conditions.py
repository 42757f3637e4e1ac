"""What a unit compares where it keeps its piece: the affine condition of one half-space of a region."""

from typing import NamedTuple

from reluscope.networks.graph.choosing_gates import Max, TopK
from reluscope.networks.graph.nodes import Pointwise


class PieceCondition(NamedTuple):
    """A half-space ``side * (z_first - z_second - level) >= 0`` of a gate's input z."""

    first: int
    second: int  # -1 if nothing but the level is subtracted
    side: int  # 1 or -1
    level: float


def piece_condition(gate: Pointwise | Max, unit: int, own: int, beyond: int) -> PieceCondition:
    """Return the condition for a unit to keep its own piece and not to take the one beyond a half-space.

    In a gate that keeps the k largest, ``beyond`` is the unit that takes the place of this one.
    """
    if isinstance(gate, Max):
        entries = gate.index[unit].tolist()
        return PieceCondition(entries[own], entries[beyond], 1, 0.0)
    if isinstance(gate, TopK):
        return PieceCondition(unit, beyond, 1, 0.0)
    levels = gate.breakpoints.expand(-1, gate.num_units)[:, unit].tolist()
    # The breakpoint next to the piece beyond: others may lie between it and the unit's own piece.
    above = own > beyond
    return PieceCondition(unit, -1, 1 if above else -1, levels[beyond] if above else levels[beyond - 1])
