"""The nearest change of class of one point, by a best-first search over sets of regions.

A *branch* holds some units to some of their pieces: it stands for all regions whose codes agree. Within the ball of the
nearest change found so far most units keep one piece anyway; the others enter an enclosure of the outputs as noise.
The nearest point at which the enclosure lets another class win is no farther than the branch's nearest change; branches
wait in a queue in the order of this bound. The first one is split at the unit whose noise matters most to its bound,
and once no noise is left in what bounds a branch, its nearest change is known.

Every region that meets the ball is in some branch, so when the first bound in the queue is no nearer than a change
found, no nearer one is left. This is branch and bound as verifiers do it, with the distance as what is bounded:
Tjeng, Xiao, Tedrake, "Evaluating robustness of neural networks with mixed integer programming" (ICLR 2019); Bunel et
al., "Branch and bound for piecewise linear neural network verification" (JMLR 21, 2020).
"""

import time
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from reluscope.analyses.robustness.boundary_attack import nearby_change, nearer_by
from reluscope.analyses.robustness.cells_of_classes import RESOLUTION, StepRegion
from reluscope.analyses.robustness.class_changes import Change, confirm
from reluscope.analyses.robustness.distance_boxes import BoxChanges, is_halved
from reluscope.analyses.robustness.enclosed_cells import enclosed_cell
from reluscope.analyses.robustness.listed_changes import ListedChanges, NearRegions
from reluscope.analyses.robustness.nearest_known import DOUBTS, Doubt, NearestKnown, with_piece
from reluscope.analyses.robustness.rival_class import Rival
from reluscope.analyses.robustness.viewpoints import Pieces, Viewpoint
from reluscope.budget import Budget
from reluscope.geometry.polyhedra.cut_balls import CutBall
from reluscope.geometry.polyhedra.nearest_point import NearestPoint
from reluscope.interruption import deferred
from reluscope.networks.evaluation.enclosures import Enclosure, enclose
from reluscope.networks.passes.forms import CLEAR, OpenUnit
from reluscope.partitions.driver.best_first import Branch
from reluscope.stopping import Stop
from reluscope.time_limits import if_in_time

# Radii searched before that of the change found, and how they grow.
NUM_RADII = 5
GROWTH = 1.4
# A branch is bounded again, with what its bound says about it, if that gained so much of what was missing.
AGAIN = 0.2


@dataclass(frozen=True)
class EndedSearch:
    """How a search ended."""

    lower: float  # no change of class is nearer, at the resolution
    change: Change | None  # the nearest one found
    stop: Stop | None  # why the search ended early, if it did
    num_branches: int  # sets of regions examined
    num_undecided: int  # changes the network itself did not confirm


def search(
    view: Viewpoint, budget: Budget, places: Float[np.ndarray, "k n"] | None = None, near: NearRegions | None = None
) -> EndedSearch:
    """Return the nearest change of class within a budget; Ctrl-C ends it like one.

    Whatever the budget, a change near the point is sought first, by some hundred forward passes. ``places`` are where
    other classes may be; regions ``near`` are taken first, and as a rule alone.
    """
    with deferred():  # one work: Ctrl-C during the attack ends the search
        until = time.perf_counter() + budget.seconds_allowed
        if near is not None:
            listed = ListedChanges(view, near)
            stopped = listed.run(budget)
            if stopped or listed.is_known:
                return _ended(listed, stopped)
        change = if_in_time(lambda: _attacked(view, until, places), None)
        by_boxes = is_halved(view, np.inf if change is None else change.distance)
        found = (BoxChanges if by_boxes else _NearestChange)(view, change)
        left = max(0.0, until - time.perf_counter())
        stopped = found.run(budget if budget.seconds is None else replace(budget, seconds=left))
        # Readers gave more, of which the attack took its part.
        stopped = stopped and stopped.of_seconds(budget.seconds)
    return _ended(found, stopped)


def _attacked(view: Viewpoint, until: float, places: np.ndarray | None) -> Change | None:
    """Return the nearest change of class that some passes find, on the way to places too."""
    change = nearby_change(view, until)
    return change if places is None or not len(places) else nearer_by(view, places, change)


def _ended(found: "ListedChanges | BoxChanges | _NearestChange", stopped: Stop | None) -> EndedSearch:
    lower = min(found.frontier, found.least_left)
    return EndedSearch(lower, found.change, stopped, found.num_branches, found.num_undecided)


def _radii(limit: float) -> list[float]:
    """Return the radii that are searched one after the other, up to the distance of a change.

    The noise falls faster than the radius, so that the small ones cost little and tell how far nothing changes.
    """
    return [limit / GROWTH**power for power in range(NUM_RADII - 1, -1, -1)] if 0 < limit < np.inf else [limit]


class _RegionSet(NamedTuple):
    """A set of regions and a class that may win there: the first and last pieces of all units.

    Where the class wins, ``cut u >= level``.
    """

    first: Pieces
    last: Pieces
    label: int
    cut: np.ndarray | None
    level: float
    unit: OpenUnit


class _Seen(NamedTuple):
    """An enclosure of a set of regions within a radius."""

    first: Pieces
    radius: float
    enclosure: Enclosure
    cell: StepRegion  # where the enclosure lets steps go
    noise: np.ndarray  # of the cell's rows
    is_exact: bool  # whether the rows are without noise


class _NearestChange(NearestKnown):
    """The search for one point, radius by radius."""

    def __init__(self, view: Viewpoint, change: Change | None) -> None:
        super().__init__()
        self.view, self.change = view, change
        self.num_undecided, self.doubts = 0, []
        # Within which radius is searched; the nearest change that may be in what was passed over.
        self.limit, self.passed = np.inf, np.inf
        self._radii = _radii(np.inf if change is None else change.upper)
        self._whole: _Seen | None = None

    def is_settled(self, key: float) -> bool:
        """Whether regions are beyond the radius within which is searched."""
        return key >= self.limit

    def begin(self) -> bool:
        """Search within the next radius, if no change of class is known within this one."""
        if self.is_begun:
            self.frontier = min(self.limit, self.least_left)
            if not self._radii or (self.change is not None and self.change.upper <= self.limit):
                return self.begin_doubts()
        self.is_begun = True
        self._search_within(self._radii.pop(0))
        return True

    def _search_within(self, radius: float) -> None:
        """Put all regions into the queue as one branch for each class."""
        self.queue, self.limit, self.passed, self.num_undecided, self.doubts = [], radius, np.inf, 0, []
        gates = [stage.gate for stage in self.view.network.stages]
        first = tuple(np.zeros(gate.num_units, dtype=np.int32) for gate in gates)
        last = tuple(np.full(gate.num_units, gate.num_pieces - 1, dtype=np.int32) for gate in gates)
        for label in range(max(2, self.view.network.num_outputs)):
            if label != self.view.label:
                self._bound(first, last, label, 0.0, None, 0.0)

    def split(self, branch: Branch) -> None:
        """Split the regions at the unit that matters most to their bound."""
        if branch.what is DOUBTS:
            self.split_doubt()
            return
        regions: _RegionSet = branch.what
        gate, unit = regions.unit.gate, regions.unit.unit
        for low, high in regions.unit.parts:
            first = with_piece(regions.first, gate, unit, max(low, int(regions.first[gate][unit])))
            last = with_piece(regions.last, gate, unit, min(high, int(regions.last[gate][unit])))
            self._bound(first, last, regions.label, branch.key, regions.cut, regions.level)

    def _bound(self, first: Pieces, last: Pieces, label: int, key: float, cut: np.ndarray | None, level: float) -> None:
        """Bound the nearest change in a branch, and put it into the queue unless that is known, or too far."""
        view = self.view
        self.num_branches += 1
        while True:
            seen = self._seen(first, last, cut, level)
            if seen is None:
                return
            enclosure, cell, noise, is_exact = seen.enclosure, seen.cell, seen.noise, seen.is_exact
            rival: Rival | None = None
            if enclosure.outputs is None:
                found = cell.nearest(self.limit)
                if self._is_passed(cell, None, found, Doubt(key, first, last, (label,))):
                    return
                split = enclosure.open[0]
                break
            rival = cell.rival(label)
            if rival is None or rival.least >= self.limit:
                return
            found = cell.nearest_change(rival, self.limit)
            doubt = Doubt(key, first, last, (label,))
            if self._is_passed(cell, rival, found, doubt):
                return
            lower = cell.proved(rival, found)
            if found.distance >= self.limit - RESOLUTION * view.scale:
                self.pass_over(doubt._replace(key=max(key, lower)))
                return
            if is_exact and np.abs(rival.noise).sum() <= CLEAR * rival.error:
                self.settle(confirm(cell, rival, found), doubt._replace(key=max(key, lower)))
                return
            if not enclosure.open:
                self.doubts.append(doubt._replace(key=max(key, lower)))
                return
            split = enclosure.open[_most_influential(found.multipliers, noise, rival)]
            gain = lower - key
            cut, level = cell.cut(rival, found)
            if gain <= AGAIN * (self.limit - lower):
                break
            key = max(key, lower)
        key = max(key, cell.proved(rival, found))
        self.push(key, _RegionSet(first, last, label, cut, level, split))

    def _is_passed(self, cell: StepRegion, rival: Rival | None, found: NearestPoint, doubt: Doubt) -> bool:
        """Pass over regions in which no change, or none within the limit, can be; leave thin ones in doubt."""
        if found.is_empty:
            if not cell.is_surely_empty(found, rival):
                self.doubts.append(doubt)
            return True
        if not np.isfinite(found.distance):  # none, or too far: as far as that is proved
            self.passed = min(self.passed, max(doubt.key, cell.proved(rival, found)))
            return True
        if cell.is_thin(found.point):
            self.doubts.append(doubt._replace(key=max(doubt.key, cell.proved(rival, found))))
            return True
        return False

    def _seen(self, first: Pieces, last: Pieces, cut: np.ndarray | None, level: float) -> "_Seen | None":
        """Return what an enclosure says about regions, None where none of them is within the radius.

        All classes begin with all regions, and so with one enclosure.
        """
        view = self.view
        radius = max(self.limit, 1e3 * RESOLUTION * view.scale)
        whole = self._whole
        if whole is not None and cut is None and whole.first is first and whole.radius == radius:
            return whole
        steps = CutBall(radius, view.norm, view.lower, view.upper, cut, level)
        enclosure = enclose(view.network, view.x, steps, first, last, rounding=view.rounding)
        if enclosure.is_empty:
            return None
        seen = _Seen(first, radius, enclosure, *enclosed_cell(view, steps, enclosure))
        if cut is None:
            self._whole = seen
        return seen


def _most_influential(multipliers: np.ndarray, noise: np.ndarray, rival: Rival) -> int:
    """Return the noise symbol that moves the bound most; where none does, that loosens rows and rival most."""
    own, last = multipliers[: len(noise)], multipliers[-1]
    score = own @ noise + last * np.abs(rival.noise)
    if not score.any():
        score = noise.sum(axis=0) + np.abs(rival.noise)
    return int(score.argmax())
