"""Which class the network gives where on a partitioned line, as exact intervals.

Outputs are affine on a region, so that between two neighbouring ties the winner is the winner at the middle.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from jaxtyping import Float, Int

from reluscope.arguments import Natural, read_arguments
from reluscope.codes.distinct import group_equal_rows
from reluscope.errors import InputError
from reluscope.geometry.polyhedra.domains import Space
from reluscope.geometry.programs.proved_programs import nearest
from reluscope.networks.building.combined import with_lead_gates
from reluscope.partitions.ask.dispatch import partition
from reluscope.partitions.decisions.decision_boundary import decision_boundary
from reluscope.partitions.decisions.decision_pieces import tie_error
from reluscope.partitions.decisions.open_ties import needs_fractions
from reluscope.partitions.decisions.rational_boundary import rational_parts
from reluscope.partitions.partition_in_memory import Partition
from reluscope.shown import Shown


@dataclass(frozen=True, repr=False)
class ClassIntervals(Shown):
    """Intervals on each of which one class wins, in ascending order.

    Parameters
    ----------
    classes : (p,) int64
    regions : (p,) int64
        The region that each lies in; -1 if signs stayed undecided and the partition of a ray or a line lists none.
    ends : (p, 2) float64
        In domain coordinates.
    """

    classes: Int[np.ndarray, " p"]
    regions: Int[np.ndarray, " p"]
    ends: Float[np.ndarray, "p 2"]

    def __len__(self) -> int:
        return len(self.classes)

    @read_arguments
    def by_class(self, num_classes: Natural) -> Float[np.ndarray, " m"]:
        """Return the length of every class."""
        return np.bincount(self.classes, weights=np.diff(self.ends)[:, 0], minlength=num_classes).astype(np.float64)


@read_arguments
def class_intervals(part: Partition) -> ClassIntervals:
    """Return the regions of a line cut into intervals of one class each.

    Parameters
    ----------
    part : Partition
        Of one dimension, with its network; of a ray or a line some ends are infinite. With a single output f the
        classes are 0 (f <= 0) and 1 (f > 0).

    Returns
    -------
    ClassIntervals
        Exact up to the rounding of the outputs at the vertices. Where rounding decides, fractions are used in small
        networks.

    Raises
    ------
    InputError
        If the partition is not of a line, or was loaded without its network.

    Notes
    -----
    One forward pass over the vertices of the partition; of a ray or a line another partition, by which pairs of classes
    lead.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> found = rs.planes.class_intervals(rs.partition(net, rs.Segment([1.0, 0.0], [0.0, 1.0])))
    >>> found.classes, found.by_class(2).round(6)
    (array([0, 1]), array([0.707107, 0.707107]))
    """
    if part.dim != 1:
        raise InputError(f"intervals of classes need a partition of a line, got one of {part.domain.describe()}")
    if not part.window.is_bounded():
        return _without_end(part)
    if not len(part):
        empty = np.zeros(0, dtype=np.int64)
        return ClassIntervals(empty, empty, np.zeros((0, 2)))
    if needs_fractions(part):
        return _rational_intervals(part)
    outputs = part.scores
    ids = part.region_vertices[1].reshape(-1, 2)
    sides = part.vertices[ids, 0]
    boundary = decision_boundary(part)
    cuts = boundary.ends[:, 0, 0]
    inside = (cuts > sides[boundary.regions, 0]) & (cuts < sides[boundary.regions, 1])
    starts = np.concatenate([sides[:, 0], cuts[inside]])
    regions = np.concatenate([np.arange(len(part)), boundary.regions[inside]])
    order = np.argsort(starts, kind="stable")
    starts, regions = starts[order], regions[order]
    follows = np.r_[regions[1:] == regions[:-1], False]
    stops = np.where(follows, np.r_[starts[1:], 0.0], sides[regions, 1])
    share = ((starts + stops) / 2 - sides[regions, 0]) / np.diff(sides)[regions, 0]
    middle = (1 - share)[:, None] * outputs[ids[regions, 0]] + share[:, None] * outputs[ids[regions, 1]]
    classes = (middle >= middle.max(axis=1, keepdims=True) - tie_error(outputs)).argmax(axis=1)
    return ClassIntervals(classes, regions, np.stack([starts, stops], axis=1))


def _without_end(part: Partition) -> ClassIntervals:
    """Return the intervals of a ray or a line: its regions by units that say which of two classes leads."""
    part.require_complete("the class everywhere on a line")
    assert part.network_on_domain is not None  # which tells who has no network
    assert part.network is not None
    cut = partition(with_lead_gates(part.network), part.domain, tolerance=part.tolerance)
    leads = list(cut.codes.by_gate().values())[-1].to_array()
    number = max(2, part.network.num_outputs)
    place = {pair: column for column, pair in enumerate(combinations(range(number), 2))}
    columns = np.zeros((number, number), dtype=np.int64)
    columns[tuple(np.array(list(place)).T)] = list(place.values())
    classes = np.zeros(len(cut), dtype=np.int64)
    for label in range(1, number):
        classes[leads[np.arange(len(cut)), columns[classes, label]] == 1] = label
    words = np.concatenate([part.codes.words, cut.codes.words[:, : part.codes.layout.num_words]])
    first, group, _ = group_equal_rows(np.ascontiguousarray(words))
    regions = np.where(first[group[len(part) :]] < len(part), first[group[len(part) :]], -1)
    offsets, ids = cut.region_vertices
    if len(cut) == 1 and isinstance(cut.window, Space):  # a line has no corner of its own
        offsets, ids = np.zeros(2, dtype=np.int64), ids[:0]
    ends = np.tile([-np.inf, np.inf], (len(cut), 1))
    owner = np.repeat(np.arange(len(cut)), np.diff(offsets))
    corners = cut.vertices[ids, 0]
    is_low = corners < cut.witnesses[owner, 0]
    ends[owner[is_low], 0], ends[owner[~is_low], 1] = corners[is_low], corners[~is_low]
    order = np.argsort(ends[:, 0])
    classes, regions, ends = classes[order], regions[order], ends[order]
    begins = np.flatnonzero(np.r_[True, (np.diff(classes) != 0) | (np.diff(regions) != 0)][: len(classes)])
    stops = np.append(begins[1:], len(classes)) - 1
    return ClassIntervals(classes[begins], regions[begins], np.stack([ends[begins, 0], ends[stops, 1]], axis=1))


def _rational_intervals(part: Partition) -> ClassIntervals:
    found = sorted((corners, region, label) for region, label, corners in rational_parts(part))
    ends = [[nearest(entry) for (entry,) in corners] for corners, _, _ in found]
    classes, regions = (np.array([one[place] for one in found], dtype=np.int64) for place in (2, 1))
    return ClassIntervals(classes, regions, np.array(ends, dtype=float).reshape(-1, 2))
