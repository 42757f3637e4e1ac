"""The code right across a face of a region: the pieces of units once a point leaves the face along a direction.

Units that sit on a breakpoint on the whole face are *loose*: the derivative along the direction says on which side of
it they end up; all others keep their pieces. Derivatives are carried forward through the pieces just decided, so that a
unit that reads another loose unit sees what that has become. No point near the face is needed, and no step length.
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Integer

from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.passes.carry import carry
from reluscope.networks.passes.maps import RoundedMaps, along_directions, slopes_of_units
from reluscope.networks.passes.network_graph import NetworkGraph


@torch.no_grad()
def pieces_across(
    network: NetworkGraph,
    pieces: Sequence[Integer[np.ndarray, "..."]],
    loose: Sequence[Integer[np.ndarray, "_ 3"]],
    directions: Float[np.ndarray, "k n"],
    *,
    rounding: float,
) -> list[Integer[np.ndarray, "k _"]]:
    """Return the pieces beyond several faces of one region, or of several, one (k, u) array per gate.

    ``loose`` has, for each face, the gate, unit and other piece of units at a breakpoint on all of it. Derivatives
    below rounding count as 0: the tie rule decides. One forward pass.
    """
    number = len(directions)
    faces = np.repeat(np.arange(number), [len(rows) for rows in loose])
    table = np.concatenate([np.zeros((0, 3), dtype=np.int64), *loose])
    carrier = RoundedMaps(rounding, has_constant=False)
    along = carry(network, carrier, along_directions(network, directions))
    found = []
    for stage, piece in zip(network.stages, pieces, strict=True):
        slopes, noise = slopes_of_units(stage.gate, next(along))
        here = table[:, 0] == stage.index
        face, unit, other = faces[here], table[here, 1], table[here, 2]
        own = np.broadcast_to(piece.astype(np.int64), (number, piece.shape[-1]))
        if isinstance(stage.gate, Max):
            ties = np.arange(slopes.shape[2]) == own[..., None]
            ties[face, unit, other] = True
            slopes = np.where(ties, slopes, -np.inf)
            least = (slopes - noise).max(axis=2, keepdims=True)
            new = (slopes + noise >= least).argmax(axis=2)
        else:
            below, above = own.copy(), own.copy()
            below[face, unit] = np.minimum(own[face, unit], other)
            above[face, unit] = np.maximum(own[face, unit], other)
            new = np.where(slopes > noise, above, below)
        carrier.hold(torch.as_tensor(new, device=network.device))
        found.append(new.astype(piece.dtype))
    return found
