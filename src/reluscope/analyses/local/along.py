"""The regions along straight segments, as one table: where each begins and ends, in shares of its segment.

All segments go through the exact partition together; on each piece the network is affine, so what is asked of its
outputs between two knots follows from their values at the knots.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from reluscope.arguments import read_arguments
from reluscope.codes.packed import Codes
from reluscope.geometry.polyhedra.slices import Segment
from reluscope.networks.network import Network
from reluscope.partitions.ask.dispatch import partitions
from reluscope.shown import Shown
from reluscope.tolerance import Tolerance


@dataclass(frozen=True, repr=False)
class PiecesAlong(Shown):
    """The regions that k segments meet, in order.

    Parameters
    ----------
    offsets : (k1,) int64
        Pieces of segment i are the rows ``offsets[i]:offsets[i + 1]``.
    starts, stops : (p,) float64
        Start and end of each piece: 0 is the start of its segment, 1 its end.
    codes : Codes
        One per piece.
    is_exact : (k,) bool
        Whether these are all regions of the segment, at the resolution of the tolerance.
    """

    offsets: Int[np.ndarray, " k1"]
    starts: Float[np.ndarray, " p"]
    stops: Float[np.ndarray, " p"]
    codes: Codes
    is_exact: Bool[np.ndarray, " k"]

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def segments(self) -> Int[np.ndarray, " p"]:
        """The segment that each piece lies on."""
        return np.repeat(np.arange(len(self.is_exact)), np.diff(self.offsets))


@read_arguments
def pieces_along(
    network: Network,
    starts: Float[np.ndarray, "k n"],
    ends: Float[np.ndarray, "k n"],
    *,
    tolerance: Tolerance | None = None,
) -> PiecesAlong:
    """Return the exact sequence of regions along segments.

    Parameters
    ----------
    network : Network
    starts, ends : (k, n) float64
        Different end points.
    tolerance : Tolerance, optional

    Returns
    -------
    PiecesAlong

    Raises
    ------
    DegenerateGeometryError
        If a segment has no length.
    IncompletePartitionError
        If Ctrl-C stopped the computation.

    Notes
    -----
    Less than one forward pass over all crossing points; the codes of all pieces are kept.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> rs.local.pieces_along(net, np.array([[-1.0, -3.0]]), np.array([[1.0, 1.0]])).stops
    array([0.5 , 0.75, 1.  ])
    """
    segments = [Segment(start, end) for start, end in zip(starts, ends, strict=True)]
    parts = partitions(network, segments, tolerance=tolerance) if segments else []
    offsets = np.zeros(len(parts) + 1, dtype=np.int64)
    begins, stops, words = [], [], [np.zeros((0, network.layout.num_words), dtype=np.uint64)]
    for row, (part, length) in enumerate(zip(parts, np.linalg.norm(ends - starts, axis=1), strict=True)):
        part.require_complete("a walk along a segment")
        sides = part.vertices[part.region_vertices[1].reshape(-1, 2), 0] / length
        order = np.argsort(sides[:, 0], kind="stable")
        # Neighbours share a vertex: one number for both, and the ends of the segment are met.
        knots = np.concatenate([sides[order, 0], [1.0]])
        knots[0] = 0.0
        begins.append(knots[:-1])
        stops.append(knots[1:])
        words.append(part.codes.words[order])
        offsets[row + 1] = offsets[row] + len(order)
    nothing = np.zeros(0)
    return PiecesAlong(
        offsets,
        np.concatenate([nothing, *begins]),
        np.concatenate([nothing, *stops]),
        Codes(np.concatenate(words), network.layout),
        np.array([part.num_undecided == 0 for part in parts], dtype=bool),
    )


def points_along(
    starts: Float[np.ndarray, "k n"], ends: Float[np.ndarray, "k n"], shares: Float[np.ndarray, " k"]
) -> Float[np.ndarray, "k n"]:
    """Return the points ``(1 - share) start + share end``; the end points themselves at 0 and 1."""
    return (1 - shares)[:, None] * starts + shares[:, None] * ends
