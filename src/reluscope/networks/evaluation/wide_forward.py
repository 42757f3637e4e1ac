"""Codes and outputs of points by numbers of a hundred bits: known where float64 and its bounds say nothing."""

from collections.abc import Iterator

import numpy as np
import torch
from jaxtyping import Bool, Float

from reluscope.codes.packed import Codes
from reluscope.networks.graph.points import Points, chunks
from reluscope.networks.passes.carry import carry, carry_to_output
from reluscope.networks.passes.double_words import two_sum
from reluscope.networks.passes.network_graph import NetworkGraph
from reluscope.networks.passes.wide_numbers import Wide, WideNumbers, in_doubt, pieces_of

# Values, what they are cut into, and what is made of them before it is summed.
COPIES, MEMORY = 30, 2**29


def wide_codes(
    network: NetworkGraph, x: Points, *, apart: Float[np.ndarray, "s n"] | None = None
) -> Iterator[tuple[slice, Codes, Bool[np.ndarray, " s"]]]:
    """Yield slices of points, their codes, and whether some unit could be on another piece.

    All errors are counted; exact ties are no doubts. ``apart`` is added to the points without rounding. The
    multiplications of some ten forward passes of a ResNet, and about the time of twenty.
    """
    points, layout = network.points(x), network.layout
    for rows in chunks(len(points), COPIES * network.bytes_per_point, MEMORY):
        with torch.no_grad(), torch.backends.cudnn.flags(enabled=False):  # whose convolutions may go by other sums
            start = Wide.exactly(points[rows])
            if apart is not None:
                low = torch.from_numpy(apart[rows]).to(start.high.device).reshape(start.high.shape)
                start = Wide(*two_sum(start.high, low), start.error)
            found = carry(network, WideNumbers(), start)
            pieces: list[np.ndarray] = []
            doubtful = np.zeros(rows.stop - rows.start, dtype=bool)
            for stage, seen in zip(network.stages, found, strict=False):
                pieces.append(pieces_of(stage.gate, seen).cpu().numpy())
                doubtful |= in_doubt(stage.gate, seen).cpu().numpy()
        yield rows, Codes.from_pieces(pieces, layout, num_codes=rows.stop - rows.start), doubtful


def wide_outputs(network: NetworkGraph, x: Points) -> tuple[Float[np.ndarray, "s m"], Float[np.ndarray, "s m"]]:
    """Return the outputs of exact points, rounded to float64 at the end, and bounds on their errors."""
    points = network.points(x)
    outputs, errors = (np.zeros((len(points), network.num_outputs)) for _ in range(2))
    for rows in chunks(len(points), COPIES * network.bytes_per_point, MEMORY):
        with torch.no_grad(), torch.backends.cudnn.flags(enabled=False):
            found = carry_to_output(network, WideNumbers(), Wide.exactly(points[rows]))
        outputs[rows], error = (part.reshape(len(part), -1).cpu().numpy() for part in (found.high, found.error))
        errors[rows] = np.nextafter(error + np.abs(found.low.reshape(error.shape).cpu().numpy()), np.inf)
    return outputs, errors
