"""Decision boundaries: where the class changes, as exact pieces.

On a region every output is affine, so two of them tie along a straight chord, of which the part counts where no third
output is larger. Outputs can also tie along a whole facet, which then is a piece itself.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from reluscope import _kernels
from reluscope.arguments import read_arguments
from reluscope.errors import InputError
from reluscope.partitions.polygons import means_at_corners
from reluscope.partitions.table import Partition
from reluscope.shown import Shown

# So many classes are all looked at.
FEW_CLASSES = 10


@dataclass(frozen=True, repr=False)
class DecisionBoundary(Shown):
    """Pieces of the set where two classes tie that are ahead of all others.

    Parameters
    ----------
    regions : (p,) int64
        Row of the region that each piece lies in (of the left one if it is a facet).
    classes : (p, 2) int64
        The two classes that tie, the lower first: outputs, or, of a single one, 0 (f <= 0) and 1 (f > 0); see
        `Network.with_decision`.
    ends : (p, d, d) float64
        End points in domain coordinates: two in the plane, one on a line.
    """

    regions: Int[np.ndarray, " p"]
    classes: Int[np.ndarray, "p 2"]
    ends: Float[np.ndarray, "p d d"]

    def __len__(self) -> int:
        return len(self.regions)

    @property
    def length(self) -> float:
        """Total length in domain coordinates; on a line 0."""
        if self.ends.shape[1] == 1:
            return 0.0
        return float(np.linalg.norm(self.ends[:, 0] - self.ends[:, 1], axis=1).sum())


@read_arguments
def decision_boundary(part: Partition) -> DecisionBoundary:
    """Return the exact pieces of the decision boundary on a partitioned line or plane.

    Parameters
    ----------
    part : Partition
        With its network.

    Returns
    -------
    DecisionBoundary
        Exact up to the rounding of the outputs at the vertices.

    Raises
    ------
    InputError
        If the partition is not of a bounded line or plane, or was loaded without its network.

    Notes
    -----
    Costs one forward pass over the vertices, which the partition keeps; none where it has the outputs from its walk, as
    on lines and planes through large networks. Of many classes only those count that are ahead somewhere.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.array([[1.0, -1.0]]), np.zeros(1))])
    >>> pieces = rs.decision_boundary(rs.partition(net, rs.Box(-1, 1, 2)))
    >>> pieces.ends[np.abs(pieces.ends).sum((1, 2)).argmax()].tolist()
    [[0.0, 0.0], [1.0, 1.0]]
    """
    if part.dim > 2 or not part.is_bounded().all():
        raise InputError(
            f"decision boundaries are found on bounded lines and planes, got {part.domain.describe()}: take a Segment "
            "or a Plane, or decision_surface(network, domain) in space"
        )
    outputs, dim = part.scores, part.dim
    if not len(part):
        return DecisionBoundary(np.zeros(0, np.int64), np.zeros((0, 2), np.int64), np.zeros((0, dim, dim)))
    error = 64 * np.finfo(float).eps * float(np.abs(outputs).max())
    offsets, ids = part.region_vertices
    contenders = _contenders(outputs, offsets, ids, error)
    outputs = np.ascontiguousarray(outputs[:, contenders])
    regions, classes, ends = _kernels.find_chords(outputs, part.vertices, offsets, ids, error)
    facets = part.facets
    witness = means_at_corners(outputs, offsets, ids)
    flat = _kernels.find_flat_facets(outputs, witness, facets.left, facets.right, facets.vertices, error)
    number = len(regions)
    return DecisionBoundary(
        np.concatenate([regions, facets.left[flat[0]]]),
        contenders[np.concatenate([classes, flat[1]])],
        np.concatenate([ends.reshape(number, dim, dim), part.vertices[facets.vertices[flat[0]]]]),
    )


def _contenders(scores: np.ndarray, offsets: np.ndarray, ids: np.ndarray, error: float) -> np.ndarray:
    """Return, in increasing order, the classes that may be ahead, or tie for it, in some region.

    Scores are affine on regions: a class is behind all over a region if a single other one is ahead at all its corners.
    """
    first = np.unique(scores.argmax(axis=1))
    if scores.shape[1] <= FEW_CLASSES:
        return np.arange(scores.shape[1])
    may_win = np.zeros(scores.shape[1], dtype=bool)
    may_win[first] = True
    is_behind = np.zeros((len(offsets) - 1, scores.shape[1]), dtype=bool)
    for leader in first.tolist():
        is_behind |= np.minimum.reduceat((scores[:, [leader]] - scores)[ids], offsets[:-1]) > 2 * error
    return np.flatnonzero(may_win | ~is_behind.all(axis=0))
