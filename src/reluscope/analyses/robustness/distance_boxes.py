"""The nearest change of class of a point with few inputs: boxes of inputs halved, the nearest first.

The part of a box where another class may win is cut off by the affine functions below the leads of the point's class;
its distance from the point is the box's bound, and the box is cut down to that part of it that is nearer than the
change known. Where at most a few units may change their piece on a box, its regions are taken exactly, each once.
Between both, where some dozen units may, a kernel halves boxes of the network of these units alone.
"""

from itertools import product

import numpy as np

from reluscope.analyses.boxes.box_bounds import BoundedBoxes, BoxBounds
from reluscope.analyses.boxes.halved_boxes import HalvedBoxes, Part
from reluscope.analyses.boxes.output_boxes import axes
from reluscope.analyses.robustness.boundary_attack import nearer_by, nearer_by_chance
from reluscope.analyses.robustness.cells_of_classes import RESOLUTION
from reluscope.analyses.robustness.class_changes import Change
from reluscope.analyses.robustness.enclosed_cells import enclosed_cell
from reluscope.analyses.robustness.nearest_known import DOUBTS, NearestKnown
from reluscope.analyses.robustness.viewpoints import Viewpoint
from reluscope.geometry.polyhedra.cut_balls import CutBall
from reluscope.geometry.polyhedra.cut_boxes import distances_of_cut_boxes, near_in_cut_boxes
from reluscope.networks.evaluation.enclosures import enclose
from reluscope.networks.graph.choosing_gates import Max
from reluscope.partitions.driver.best_first import Branch

# Boxes on which no more units than these may change their piece are halved by the kernel, so many of each at most.
MAX_OPEN, MOST_BOXES = 64, 1000
# In the place of an axis: regions of a box are to be taken exactly, where codes that it may have allow that.
LEAF = -2
# With more inputs, sets of regions are split.
MAX_INPUTS = 10
# Where no more units than these may change their piece, too.
NUM_OPEN = 24
# On a box so many codes are taken at once, and so many where its sides are below this share of the distance sought.
NUM_CODES, NUM_CODES_NEAR, NEAR = 2, 32, 1 / 64
# Boxes that are bounded together.
NUM_TOGETHER = 256


def is_halved(view: Viewpoint, limit: float) -> bool:
    """Return whether the nearest change of class is sought in boxes: few inputs, and many units around."""
    network = view.network
    lower, upper = _root(view, limit)
    is_known = not any(isinstance(stage.gate, Max) for stage in network.stages)
    if not (is_known and len(view.x) <= MAX_INPUTS and network.num_units > NUM_OPEN):
        return False
    if not np.isfinite([lower, upper]).all() or not (lower < upper).any():
        return False
    ranges = BoxBounds(network, lower, upper).on(lower[None], upper[None]).ranges
    assert ranges is not None
    return sum(int((one.last > one.first).sum()) for one in ranges) > NUM_OPEN


def _root(view: Viewpoint, limit: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the box around the ball that is searched, within the domain."""
    return view.x + np.maximum(view.lower, -limit), view.x + np.minimum(view.upper, limit)


class BoxChanges(NearestKnown, HalvedBoxes):
    """The search over boxes for the nearest change of class of one point.

    ``change`` is a change of class that is known.
    """

    def __init__(self, view: Viewpoint, change: Change | None) -> None:
        HalvedBoxes.__init__(self, view.network, NUM_TOGETHER)
        self.view, self.change, self.num_undecided, self.doubts = view, change, 0, []
        self.limit, self.passed = np.inf if change is None else change.upper, np.inf
        self._settled: set[bytes] = set()
        number = max(2, view.network.num_outputs)
        leads = np.delete(np.eye(number)[view.label] - np.eye(number), view.label, axis=0)
        # Of a single output f the classes 0 and 1 have the outputs 0 and f.
        self._leads = leads if view.network.num_outputs > 1 else leads[:, 1:]

    def is_settled(self, key: float) -> bool:
        """Whether boxes are no nearer than the change that is known."""
        return key >= self.limit - RESOLUTION * self.view.scale

    def begin(self) -> bool:
        """Bound the box around the ball of the nearest change known."""
        if self.is_begun:
            self.passed = min([self.passed, *(branch.key for branch in self.queue)])
            self.queue, self.frontier = [], min(self.limit, self.least_left)
            return self.begin_doubts()
        self.is_begun = True
        if self.change is not None:
            self.change = nearer_by_chance(self.view, self.change)
            self.limit = min(self.limit, self.change.upper)
        lower, upper = _root(self.view, self.limit)
        self._bounds = BoxBounds(self.network, lower, upper)
        self.bound([Part(lower, upper, 0.0, 1.0, None)])
        return True

    def split(self, branch: Branch) -> None:
        """Bound the halves of a box, or decide about regions in doubt."""
        if branch.what is DOUBTS:
            self.split_doubt()
        else:
            super().split(branch)

    def bound(self, parts: list[Part]) -> None:
        """Bound how near changes of class are on boxes, and halve those on which they may be nearer than known."""
        view, x = self.view, self.view.x
        self.num_branches += len(parts)
        lower, upper = np.stack([part.lower for part in parts]), np.stack([part.upper for part in parts])
        boxes = self._bounds.on(lower, upper)
        below = boxes.below(self._leads)
        # Steps are rounded, and so is where they begin.
        rounding = 4 * np.finfo(float).eps * (np.abs(x) + np.maximum(np.abs(lower), np.abs(upper)))
        steps = lower - x - rounding, upper - x + rounding
        levels = below.offsets - np.einsum("wktn,kn->wkt", below.slopes, boxes.centers - x)
        sizes = np.einsum("wktn,kn->wkt", np.abs(below.slopes), np.abs(boxes.centers) + np.abs(x) + boxes.half)
        levels = levels - 8 * np.finfo(float).eps * len(x) * (np.abs(below.offsets) + sizes)
        low, high = (np.broadcast_to(step[None, :, None], below.slopes.shape) for step in steps)
        near = distances_of_cut_boxes(low, high, -below.slopes, levels, view.norm)
        # What is no number says nothing.
        near = np.where(np.isnan(near), 0.0, near).max(axis=0)
        keys = np.maximum(near.min(axis=1), [part.key for part in parts])
        alive = np.flatnonzero(keys < self.limit)
        nearest = alive[np.argsort(keys[alive], kind="stable")]
        self.change = nearer_by(view, boxes.centers[nearest], self.change)
        self.limit = self.limit if self.change is None else min(self.limit, self.change.upper)
        may_win = near < self.limit
        first, last = near_in_cut_boxes(low, high, -below.slopes, levels, self.limit, view.norm)
        first = np.where(may_win[..., None], first.max(axis=0), np.inf).min(axis=1)
        last = np.where(may_win[..., None], last.min(axis=0), -np.inf).max(axis=1)
        lower, upper = np.maximum(lower, x + first - rounding), np.minimum(upper, x + last + rounding)
        slopes = np.where(may_win[..., None], below.slopes[0], 0.0)
        halved_along = axes(slopes, (upper - lower) / 2)
        is_near = (2 * boxes.half <= NEAR * self.limit).all(axis=1)
        is_leaf = boxes.num_codes <= np.where(is_near, NUM_CODES_NEAR, NUM_CODES)
        is_fine = np.zeros(len(parts), dtype=bool)
        if boxes.dense is not None:
            is_open = np.array(
                [not self.is_settled(float(keys[one])) and parts[one].axis != LEAF for one in alive], dtype=bool
            )
            is_fine[alive] = is_open & ~is_leaf[alive] & (boxes.num_codes[alive] <= 2.0**MAX_OPEN)
            if is_fine.any():
                self._halve_small(boxes, np.flatnonzero(is_fine), keys)
        for place in nearest[~is_fine[nearest]].tolist():
            key, part = float(keys[place]), parts[place]
            if self.is_settled(key):  # no nearer than what is known
                self.passed = min(self.passed, key)
            elif is_leaf[place]:
                self._settle_codes(boxes, place)
            elif (lower[place] > upper[place]).any():  # nothing is nearer than what is known
                continue
            elif not self.halve(part._replace(lower=lower[place], upper=upper[place]), key, halved_along[place]):
                self.passed = min(self.passed, key)

    def _halve_small(self, boxes: BoundedBoxes, places: np.ndarray, keys: np.ndarray) -> None:
        """Halve boxes with few open units by the kernel, and put what it leaves open into the queue."""
        assert boxes.dense is not None
        kernels, seen = boxes.dense
        left = kernels.near(
            boxes.lower[places],
            boxes.upper[places],
            keys[places],
            (seen.low[places], seen.high[places]),
            (self.view.x, self._leads, self.view.norm),
            lengths=(self.limit, self.limit - RESOLUTION * self.view.scale, NEAR * self.limit),
            most_boxes=MOST_BOXES,
            codes=(NUM_CODES, NUM_CODES_NEAR),
        )
        self.num_branches += left.num_boxes
        self.passed = min(self.passed, left.passed)
        for lower, upper, key, is_leaf in zip(left.lower, left.upper, left.keys.tolist(), left.is_leaf, strict=True):
            self.push(key, Part(lower, upper, key, 1.0, None, LEAF if is_leaf else -1))

    def _settle_codes(self, boxes: BoundedBoxes, place: int) -> None:
        """Take the regions of a box exactly, those that were not taken before."""
        assert boxes.ranges is not None
        first = [one.first[place].cpu().numpy() for one in boxes.ranges]
        last = [one.last[place].cpu().numpy() for one in boxes.ranges]
        opened = [(gate, unit) for gate, table in enumerate(first) for unit in np.flatnonzero(table < last[gate])]
        choices = (range(first[gate][unit], last[gate][unit] + 1) for gate, unit in opened)
        for pieces in product(*choices):
            code = [table.astype(np.int32) for table in first]
            for (gate, unit), piece in zip(opened, pieces, strict=True):
                code[gate][unit] = piece
            name = b"".join(table.astype(np.int8).tobytes() for table in code)
            if name not in self._settled:
                self._settled.add(name)
                self._settle_code(code)

    def _settle_code(self, code: list[np.ndarray]) -> None:
        """Take the region of a code exactly, if there is one."""
        view = self.view
        radius = max(self.limit, 1e3 * RESOLUTION * view.scale)
        steps = CutBall(radius, view.norm, view.lower, view.upper)
        enclosure = enclose(view.network, view.x, steps, code, code, rounding=view.rounding)
        if not enclosure.is_empty:
            self.settle_cell(enclosed_cell(view, steps, enclosure)[0], self.frontier, tuple(code))
