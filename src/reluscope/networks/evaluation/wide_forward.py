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
    """Yield the codes of points, some at a time.

    Parameters
    ----------
    network : NetworkGraph
    x : (s, *input_shape) or (s, n)
        Taken as exact.
    apart : (s, n) float64, optional
        What is added to them without rounding: steps beside the points that float64 may be too coarse for. In a random
        direction only what ties all around a point ties there as well.

    Yields
    ------
    rows : slice
        Which points.
    codes : Codes
    is_doubtful : bool array
        Whether some unit of the point could be on another piece, all errors counted. Exact ties are no doubts.

    Notes
    -----
    The multiplications of some ten forward passes of a ResNet, and about the time of twenty.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[1.0]], [1.0]), ([[1.0]], [-1.0]), ([[1.0]], [0.0])])
    >>> for rows, codes, is_doubtful in wide_codes(net, [[2.0**-60], [0.0]]):  # of the first float64 loses the sum
    ...     print(rows, codes.to_array().tolist(), is_doubtful)
    slice(0, 2, None) [[1, 1], [1, 0]] [False False]
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
    """Return the outputs of points, rounded to float64 at the end, and bounds on their errors.

    Parameters
    ----------
    network : NetworkGraph
    x : (s, *input_shape) or (s, n)
        Taken as exact.

    Returns
    -------
    outputs, errors : (s, m) float64

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[1.0]], [1e12]), ([[1.0]], [-1e12])])
    >>> float(net([[0.3]])), wide_outputs(net, [[0.3]])[0].tolist()
    (0.300048828125, [[0.3]])
    """
    points = network.points(x)
    outputs, errors = (np.zeros((len(points), network.num_outputs)) for _ in range(2))
    for rows in chunks(len(points), COPIES * network.bytes_per_point, MEMORY):
        with torch.no_grad(), torch.backends.cudnn.flags(enabled=False):
            found = carry_to_output(network, WideNumbers(), Wide.exactly(points[rows]))
        outputs[rows], error = (part.reshape(len(part), -1).cpu().numpy() for part in (found.high, found.error))
        errors[rows] = np.nextafter(error + np.abs(found.low.reshape(error.shape).cpu().numpy()), np.inf)
    return outputs, errors
