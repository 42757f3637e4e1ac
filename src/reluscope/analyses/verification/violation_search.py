"""All inputs that violate a property, from boxes: halved until outputs are all safe, all unsafe, or few regions.

The largest box is next, so that what is not decided when work ends is as small as it can be.
"""

from functools import cached_property
from math import prod
from typing import NamedTuple

import numpy as np

from reluscope.analyses.boxes.box_bounds import BoundedBoxes, BoxBounds
from reluscope.analyses.boxes.halved_boxes import HalvedBoxes, Part
from reluscope.analyses.boxes.output_boxes import OutputBox
from reluscope.analyses.verification.disjoint_boxes import Unsafe, disjoint_boxes
from reluscope.analyses.verification.property import Property
from reluscope.analyses.verification.ruling_out import reach
from reluscope.analyses.verification.unsafe_regions import Piece, unsafe_regions
from reluscope.budget import Budget
from reluscope.geometry.polyhedra.domains import Box, Slice
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.network import Network
from reluscope.stopping import StopReason
from reluscope.tolerance import EPSILON

# Boxes that are bounded together, at most.
NUM_TOGETHER = 16
# Regions are listed on boxes of up to so many dimensions, where so many units may change their piece, and if there turn
# out to be no more than so many of them.
MAX_DIMENSIONS, MAX_OPEN, MAX_REGIONS = 6, 40, 5_000
# On lines and planes so many units.
MAX_OPEN_IN_PLANE = 1_000
# Boxes whose regions have undecided signs are halved down to this share of all inputs.
LEAST_UNDECIDED = 2.0**-8


class _Sides(NamedTuple):
    """On which boxes no output is unsafe, and on which all are."""

    is_missed: np.ndarray
    is_inside: np.ndarray


class ViolationSearch(HalvedBoxes):
    """Searches for all violations of a property; a box is asked about the kinds of unsafe outputs not ruled out on it.

    Volumes are in the ``free`` inputs, those that some case lets vary. ``missing`` is the volume not decided on exact
    regions, too thin to be a piece, or too small to be halved; ``num_regions`` counts regions examined.
    """

    def __init__(self, network: Network, safe: Property) -> None:
        super().__init__(network, NUM_TOGETHER)
        self.free = np.any([case.lower < case.upper for case in safe.cases], axis=0)
        boxes = disjoint_boxes(safe.cases)
        # Boxes that are flat where others are not have no volume.
        self._boxes = [
            Part(box.lower, box.upper, -np.inf, 1.0, box.unsafe)
            for box in boxes
            if (box.lower < box.upper)[self.free].all()
        ]
        self.total = sum(self._volume(box) for box in self._boxes)
        self.pieces: list[Piece] = []
        self._undecided: list[Part] = []
        self.missing, self.num_regions = 0.0, 0
        self._restricted: dict[bytes, Network] = {}

    @property
    def open_boxes(self) -> list[Part]:
        """Boxes that are not decided."""
        if self.is_broken or not self.is_begun:
            return self._boxes
        return [*self._undecided, *(branch.what for branch in self.queue)]

    @property
    def undecided(self) -> float:
        """Volume that is not decided."""
        return min(self.total, self.missing + sum(self._volume(box) for box in self.open_boxes))

    @property
    def share_left(self) -> float:
        """Share of the volume on which the search is not over."""
        return sum(self._volume(branch.what) for branch in self.queue) / self.total if self.is_begun else 1.0

    def is_settled(self, key: float) -> bool:
        """Whether there is nothing left to find: never, while a box is open."""
        return False

    def start(self) -> None:
        """Bound the boxes of all cases."""
        self.bound_all(self._boxes)

    @cached_property
    def _bounds(self) -> BoxBounds:
        ends = [np.stack([getattr(box, name) for box in self._boxes]) for name in ("lower", "upper")]
        return BoxBounds(self.network, ends[0].min(axis=0), ends[1].max(axis=0))

    def bound(self, parts: list[Part]) -> None:
        """Settle boxes, or put them into the queue."""
        self.num_branches += len(parts)
        found = self._bounds.on(np.stack([part.lower for part in parts]), np.stack([part.upper for part in parts]))
        sides = {id(one): _sides(found, one.outputs) for part in parts for one in part.what}
        for place, part in enumerate(parts):
            bounds = found[place]
            reached = tuple(one for one in part.what if not sides[id(one)].is_missed[place])
            reached = tuple(one for one in reached if not reach(bounds, one.outputs).excess > 0)
            if not reached:
                continue
            left = part._replace(what=reached)
            whole = next((one for one in reached if sides[id(one)].is_inside[place]), None)
            if whole is not None:
                self.pieces.append(self._as_piece(part, whole))
            elif not (self._is_small(bounds) and self._list(left)):
                tables = [table for one in reached for table in (one.outputs.A, one.outputs.C)]
                if not self.halve(left, -self._volume(part), bounds.axis(np.concatenate(tables))):
                    self.missing += self._volume(part)

    def _is_small(self, bounds: OutputBox) -> bool:
        """Whether the regions of a box can be listed quickly."""
        dim = int(self.free.sum())
        count = int(np.count_nonzero(np.abs(bounds.outputs.noise).any(axis=0)))
        return dim <= MAX_DIMENSIONS and count <= (MAX_OPEN_IN_PLANE if dim < 3 else MAX_OPEN)

    def _list(self, box: Part) -> bool:
        """Take the pieces of a box from its regions; False if there are too many."""
        free = self.free
        found = unsafe_regions(
            self._within(box), Box(box.lower[free], box.upper[free]), box.what, Budget(regions=MAX_REGIONS)
        )
        self.num_regions += found.num_regions
        self.num_branches += found.num_regions
        if found.stop:
            is_undecided = found.stop.reason is StopReason.UNDECIDED_SIGNS
            if not is_undecided or self._volume(box) > LEAST_UNDECIDED * self.total:
                return False
            self._undecided.append(box)
            return True
        self.missing += found.missing
        self._undecided += [self._inside(box, ends) for ends in found.open_boxes]
        self.pieces += [self._lifted(piece, box) for piece in found.pieces]
        return True

    def _within(self, box: Part) -> Network:
        """Return the network as a function of the inputs that vary."""
        free = self.free
        if free.all():
            return self.network
        fixed = np.where(free, 0.0, box.lower)
        if (known := self._restricted.get(fixed.tobytes())) is None:
            window = Box(box.lower[free], box.upper[free])
            known = self.network.restrict(Slice(fixed, np.eye(len(free))[free], window))
            self._restricted[fixed.tobytes()] = known
        return known

    def _lifted(self, piece: Piece, box: Part) -> Piece:
        """Return a piece in the space of all inputs: those that do not vary fulfil equations."""
        free = self.free
        if free.all():
            return piece
        normals = np.zeros((len(piece.polyhedron.A), len(free)))
        normals[:, free] = piece.polyhedron.A
        witness = box.lower.copy()
        witness[free] = piece.witness
        ends = np.stack([box.lower, box.lower])
        ends[:, free] = piece.ends
        lifted = Polyhedron(normals, piece.polyhedron.b, np.eye(len(free))[~free], box.lower[~free])
        return piece._replace(polyhedron=lifted, witness=witness, ends=ends)

    def _inside(self, box: Part, ends: np.ndarray) -> Part:
        """Return a box of the inputs that vary as a part of a box."""
        lower, upper = box.lower.copy(), box.upper.copy()
        lower[self.free], upper[self.free] = ends
        return box._replace(lower=lower, upper=upper)

    def _as_piece(self, box: Part, unsafe: Unsafe) -> Piece:
        free, every = self.free, np.eye(len(self.free))
        rows = np.concatenate([every[free], -every[free]])
        offsets = np.concatenate([box.upper[free], -box.lower[free]])
        polyhedron = Polyhedron(rows, offsets, every[~free], box.lower[~free])
        ends = np.stack([box.lower, box.upper])
        volume = self._volume(box)
        return Piece(polyhedron, volume, EPSILON * len(free) * volume, (box.lower + box.upper) / 2, unsafe, ends, True)

    def _volume(self, box: Part) -> float:
        return prod((box.upper - box.lower)[self.free].tolist())


def _sides(found: BoundedBoxes, unsafe: Polyhedron) -> _Sides:
    """Return on which boxes a row is missed, and on which all outputs are unsafe, rounding included."""
    A, b = unsafe.inequalities()
    if not len(A):
        return _Sides(np.zeros(len(found), dtype=bool), np.ones(len(found), dtype=bool))
    ends = found.below(np.concatenate([A, -A])).least(found.half)
    is_missed, is_inside = ends[:, : len(A)] > b, (-ends[:, len(A) :] <= b) & (not len(unsafe.C))
    return _Sides(np.logical_or.reduce(is_missed, axis=1), np.logical_and.reduce(is_inside, axis=1))
