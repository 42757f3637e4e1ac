"""What a unit compares where it keeps its piece: the affine condition of one half-space of a region."""

from typing import NamedTuple

from reluscope.networks.graph.nodes import Max, Pointwise, TopK


class PieceCondition(NamedTuple):
    """A half-space ``side * (z_first - z_second - level) >= 0`` of what a gate sees.

    Parameters
    ----------
    first, second : int
        Entries of the gate's input; ``second`` is -1 if nothing but the level is subtracted.
    side : int
        1 or -1.
    level : float
    """

    first: int
    second: int
    side: int
    level: float


def piece_condition(gate: Pointwise | Max, unit: int, own: int, beyond: int) -> PieceCondition:
    """Return the condition under which a unit keeps its own piece and does not take the one beyond a half-space.

    Parameters
    ----------
    gate : Pointwise or Max
    unit, own, beyond : int
        The unit, its piece, and the piece that it has beyond; of a gate that keeps the k largest the unit that takes
        its place.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[1.0]], [0.0]), ([[1.0]], [0.0])])
    >>> piece_condition(net.stages[0].gate, 0, own=0, beyond=1)  # an inactive unit is not above 0
    PieceCondition(first=0, second=-1, side=-1, level=0.0)
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
