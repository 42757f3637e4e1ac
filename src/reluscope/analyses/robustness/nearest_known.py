"""The nearest change of class that a search knows, and how far it has proved that there is none."""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from reluscope.analyses.robustness.cells_of_classes import RESOLUTION, StepRegion
from reluscope.analyses.robustness.class_changes import Change, Undecided, confirm
from reluscope.analyses.robustness.exact_cells import ExactCells
from reluscope.analyses.robustness.viewpoints import Pieces, Viewpoint
from reluscope.geometry.polyhedra.cut_balls import CutBall
from reluscope.networks.evaluation.enclosures import enclose
from reluscope.partitions.driver.best_first import BestFirst

# Changes whose ends are as near to each other, relative to the distance, need no fractions.
CLOSE = 1e-7
# In the queue in place of regions: what is in doubt is to be decided.
DOUBTS = "doubts"


class Doubt(NamedTuple):
    """A set of regions in which floats leave open whether the class changes.

    These are thin regions, and ties that are not confirmed.
    """

    key: float  # no change is nearer
    first: Pieces  # first pieces that units may have
    last: Pieces  # last pieces that units may have
    labels: tuple[int, ...]  # the classes that may win there


class NearestKnown(BestFirst):
    """What searches for the nearest change of class share.

    Fractions decide about ``doubts`` at the end, as far as they may be nearer than the change found.
    """

    view: Viewpoint
    change: Change | None  # the nearest one found
    limit: float  # radius of the search
    passed: float  # nearest change possible in what was passed over
    doubts: list[Doubt]  # what floats leave open
    num_undecided: int  # changes that neither network nor fractions decided

    @cached_property
    def exact(self) -> ExactCells:
        """Fractions, seen from the point."""
        return ExactCells(self.view)

    @property
    def least_left(self) -> float:
        """The nearest change that may be in what was passed over, or is in doubt."""
        return min([self.passed, *(doubt.key for doubt in self.doubts)])

    def settle(self, found: Change | Undecided, doubt: Doubt) -> None:
        """Take what the network says of a point where outputs tie, in regions that are in doubt if it says little."""
        if isinstance(found, Undecided):
            self.doubts.append(doubt)
            return
        lower = found.lower
        if found.upper - lower > CLOSE * (found.upper + RESOLUTION * self.view.scale):
            self.doubts.append(doubt._replace(key=max(0.0, min(doubt.key, lower))))
        else:
            self.passed = min(self.passed, lower)
        self.take(found)

    def take(self, found: Change) -> None:
        """Take a change of class that is certain."""
        if self.change is None or found.upper < self.change.upper:
            self.change, self.limit = found, min(self.limit, found.upper)

    def settle_cell(self, cell: StepRegion, key: float, code: Pieces) -> None:
        """Find the nearest change of class in the region of a code, whose changes are no nearer than a bound."""
        for rival in sorted(cell.rivals, key=lambda rival: rival.distance):
            if rival.least >= self.limit:
                continue
            found = cell.nearest_change(rival, self.limit)
            lower = max(key, cell.proved(rival, found))
            doubt = Doubt(lower, code, code, (rival.label,))
            if found.is_empty and not cell.is_surely_empty(found, rival):
                self.doubts.append(doubt._replace(key=key))
            elif not np.isfinite(found.distance):  # none, or too far: as far as that is proved
                self.passed = min(self.passed, lower)
            elif found.distance >= self.limit - RESOLUTION * self.view.scale:
                self.pass_over(doubt)
            elif cell.is_thin(found.point):
                self.doubts.append(doubt)
            else:
                self.settle(confirm(cell, rival, found), doubt)

    def pass_over(self, doubt: Doubt) -> None:
        """Leave out changes no nearer than what is known, or leave in doubt what floats do not tell apart from it."""
        if self.limit < RESOLUTION * self.view.scale and doubt.key < self.limit * (1 - CLOSE) and self.exact.is_small:
            self.doubts.append(doubt)
        else:
            self.passed = min(self.passed, doubt.key)

    def begin_doubts(self) -> bool:
        """Put what is in doubt and nearer than the change found into the queue; False where nothing is."""
        nearest = np.inf if self.change is None else self.change.upper
        near = nearest - CLOSE * (nearest + RESOLUTION * self.view.scale) if np.isfinite(nearest) else nearest
        far = [doubt.key for doubt in self.doubts if doubt.key >= near]
        self.passed = min([self.passed, *far])
        self.doubts = sorted((one for one in self.doubts if one.key < near), key=lambda one: -one.key)
        if not self.doubts:
            return False
        self.push(-1.0, DOUBTS)
        return True

    def split_doubt(self) -> None:
        """Decide in fractions about the nearest regions in doubt, or split them."""
        doubt = self.doubts.pop()
        self.num_branches += 1
        view = self.view
        radius = max(self.limit, 1e3 * RESOLUTION * view.scale)
        steps = CutBall(radius, view.norm, view.lower, view.upper)
        enclosure = enclose(view.network, view.x, steps, doubt.first, doubt.last, rounding=view.rounding)
        if enclosure.is_empty:
            return
        changes = self.exact.changes(enclosure.pieces, doubt.labels)
        if changes is not None:
            for change in changes:
                self.passed = min(self.passed, max(min(doubt.key, change.upper), change.lower))
                self.take(change)
        elif enclosure.open and self.exact.left > 0 and self.exact.is_small:
            gate, unit, parts = enclosure.open[0]
            for low, high in parts:
                first = with_piece(doubt.first, gate, unit, max(low, int(doubt.first[gate][unit])))
                last = with_piece(doubt.last, gate, unit, min(high, int(doubt.last[gate][unit])))
                self.doubts.append(doubt._replace(first=first, last=last))
        else:
            self.num_undecided += 1
            self.passed = min(self.passed, doubt.key)


def with_piece(pieces: Pieces, gate: int, unit: int, piece: int) -> Pieces:
    """Return a code, or an end of a range of codes, with another piece of one unit."""
    changed = pieces[gate].copy()
    changed[unit] = piece
    return (*pieces[:gate], changed, *pieces[gate + 1 :])
