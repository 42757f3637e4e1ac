"""Networks with one input that reach the bound prod (n_l + 1), for layers of three or more units.

A layer computes a zigzag of n + 1 straight pieces, each of which runs through all of [0, 1], and reads it from its
input alone: each next layer then cuts every piece of the layers before it n times.
"""

from collections.abc import Sequence

import numpy as np

import reluscope as rs

LEFTWARDS = (1, 2)


def zigzag(widths: Sequence[int]) -> rs.Network:
    """Return a network that has prod (n_l + 1) regions on [0, 1], the most there can be.

    Parameters
    ----------
    widths : sequence of int
        Three or more units in every layer.

    Returns
    -------
    Network
        All its constants are whole numbers over powers of two.

    Raises
    ------
    InputError
        If a layer is narrower: no layer of two units is a zigzag of three pieces, because it has no linear term.

    Notes
    -----
    Slopes are 1, -1, 1, -2, 1, -1, ... Unit i changes the slope by a_i wherever it looks. Units 2 and 3 look to the
    left, so the slope before all knots is -(a_2 + a_3) = 1, as it must be.

    Examples
    --------
    >>> import reluscope as rs
    >>> print(rs.partition(zigzag([3, 3]), rs.Box(0, 1, 1)).finding())
    16 (EXACT)
    """
    if not widths or min(widths) < 3:
        raise rs.errors.InputError(
            f"a zigzag needs three or more units in every layer, got {list(widths)}: make them wider"
        )
    layers: list[tuple[np.ndarray, np.ndarray]] = []
    # What a layer reads is steps @ units of the layer before + start; at first it is the input.
    steps, start = np.ones(1), 0.0
    for width in widths:
        slopes = np.array([(-1.0) ** piece for piece in range(width + 1)])
        slopes[3] = -2.0
        knots = np.cumsum(1 / np.abs(slopes))[:-1]
        scale = 2.0 ** np.ceil(np.log2(knots[-1] + 1))
        side = np.ones(width)
        side[list(LEFTWARDS)] = -1.0
        layers.append((np.outer(side * scale, steps), side * (scale * start - knots)))
        steps = np.diff(slopes)
        start = -float(steps[list(LEFTWARDS)] @ knots[list(LEFTWARDS)])
    return rs.load([*layers, (steps[None], np.array([start]))])
