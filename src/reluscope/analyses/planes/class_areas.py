"""Which class the network gives where on a partitioned plane, as exact polygons.

Outputs are affine on a region. Where one output is the largest at all corners it is so on the whole region; elsewhere
the region is cut along the ties of outputs. In small networks fractions decide where rounding could.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from reluscope import _kernels
from reluscope.arguments import Natural, read_arguments
from reluscope.errors import InputError
from reluscope.geometry.programs.proved_programs import nearest
from reluscope.partitions.decisions.decision_pieces import tie_error
from reluscope.partitions.decisions.open_ties import needs_fractions
from reluscope.partitions.decisions.rational_boundary import rational_parts
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.table.polygons import means_at_corners
from reluscope.shown import Shown


@dataclass(frozen=True, repr=False)
class ClassAreas(Shown):
    """Convex polygons, each of one class.

    Parameters
    ----------
    classes : (p,) int64
        The class of each polygon.
    regions : (p,) int64
        The region that contains each polygon.
    offsets : (p + 1,) int64; corners : (offsets[-1], 2) float64
        Corners of each polygon, counter-clockwise.
    is_rational : bool
        Whether fractions computed the polygons, with only their corners rounded.
    """

    classes: Int[np.ndarray, " p"]
    regions: Int[np.ndarray, " p"]
    offsets: Int[np.ndarray, " p1"]
    corners: Float[np.ndarray, "c 2"]
    is_rational: bool = False

    def __len__(self) -> int:
        return len(self.classes)

    def areas(self) -> Float[np.ndarray, " p"]:
        """Return the area of every polygon."""
        if not len(self):
            return np.zeros(0)
        following = np.arange(1, len(self.corners) + 1)
        following[self.offsets[1:] - 1] = self.offsets[:-1]
        owner = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        a = self.corners - self.corners[self.offsets[:-1]][owner]
        b = self.corners[following] - self.corners[self.offsets[:-1]][owner]
        return np.add.reduceat(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0], self.offsets[:-1]) / 2

    @read_arguments
    def by_class(self, num_classes: Natural) -> Float[np.ndarray, " m"]:
        """Return the area of every class."""
        return np.bincount(self.classes, weights=self.areas(), minlength=num_classes).astype(np.float64)


@read_arguments
def class_areas(part: Partition) -> ClassAreas:
    """Return the regions of a plane cut into polygons of one class each.

    Parameters
    ----------
    part : Partition
        Of two dimensions, with its network.

    Returns
    -------
    ClassAreas
        Exact up to the rounding of the outputs at the vertices; polygons that are flat within this rounding are
        left out. Where rounding decides, fractions are used in small networks.

    Raises
    ------
    InputError
        If the partition is not of a plane, or was loaded without its network.

    Notes
    -----
    One forward pass over the vertices of the partition. Cutting 100,000 regions takes less than a second.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> rs.planes.class_areas(rs.partition(net, rs.Box(0, 1, 2))).by_class(2)
    array([0.5, 0.5])
    """
    if part.dim != 2 or not part.is_bounded().all():
        raise InputError(f"areas of classes need a partition of a bounded plane, got one of {part.domain.describe()}")
    outputs = part.scores
    if not len(part):
        empty = np.zeros(0, dtype=np.int64)
        return ClassAreas(empty, empty, np.zeros(1, dtype=np.int64), np.zeros((0, 2)))
    if needs_fractions(part):
        return _rational_areas(part)
    error = tie_error(outputs)
    offsets, ids = part.region_vertices
    winner, mixed = _winners(outputs, offsets, ids, error)

    whole = np.flatnonzero(~mixed)
    lengths = np.diff(offsets)
    inside = ~np.repeat(mixed, lengths)
    classes, regions, sizes, corners = _kernels.winning_parts(
        outputs, part.vertices, offsets, ids, np.flatnonzero(mixed), error
    )
    return ClassAreas(
        np.concatenate([winner[whole], classes]).astype(np.int64),
        np.concatenate([whole, regions]).astype(np.int64),
        np.concatenate([[0], np.cumsum(np.concatenate([lengths[whole], sizes]))]).astype(np.int64),
        np.concatenate([part.vertices[ids[inside]], corners]),
    )


def _rational_areas(part: Partition) -> ClassAreas:
    regions, classes, polygons = [], [], []
    for region, label, corners in rational_parts(part):
        regions.append(region)
        classes.append(label)
        polygons.append([[nearest(entry) for entry in corner] for corner in corners])
    return ClassAreas(
        np.array(classes, dtype=np.int64),
        np.array(regions, dtype=np.int64),
        np.cumsum([0, *map(len, polygons)]).astype(np.int64),
        np.array([corner for polygon in polygons for corner in polygon], dtype=float).reshape(-1, 2),
        is_rational=True,
    )


def _winners(outputs: np.ndarray, offsets: np.ndarray, ids: np.ndarray, error: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the class at the mean of the corners of every region, and whether another wins at some corner."""
    starts, lengths = offsets[:-1], np.diff(offsets)
    means = means_at_corners(outputs, offsets, ids)
    winner = (means >= means.max(axis=1, keepdims=True) - error).argmax(axis=1)
    owner = np.repeat(np.arange(len(winner)), lengths)
    behind = outputs.max(axis=1)[ids] - outputs[ids, winner[owner]] > error
    return winner, np.bitwise_or.reduceat(behind, starts)
