"""The nearest change of class of one point, by a best-first search over neighbouring regions.

Regions that meet an open ball around the point hang together by facets that meet it (what the ball loses with all faces
of lower dimension is still connected). So facets are crossed in the order of their distance, and when the nearest facet
not yet crossed is no nearer than a change of class already found, no region with a nearer one is left.

Distances are found lazily. A hyperplane enters the queue with its own distance, a lower bound for the facet on it; when
that comes up, the facet's distance takes its place; when that comes up, the region behind is opened. Rivals of the
point's class in a region go the same way, as half-spaces instead of hyperplanes.
"""

import heapq
import time
from collections import OrderedDict
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from reluscope.analyses.classification import classes_of_outputs
from reluscope.analyses.robustness.cells import Cell, Pieces, Rival, Viewpoint
from reluscope.analyses.rounding import rounded_forward
from reluscope.geometry.norms import Norm, steepest
from reluscope.partitions.budget import Budget
from reluscope.progress import Count

CACHE = 512 * 2**20
# How far beyond a change of class it is looked for, in the scale of the point.
BEYOND = (1e-10, 1e-9, 1e-8, 1e-7)
# The same as shares of the way to a point deep inside.
SHARES = (1e-9, 1e-7, 1e-5, 1e-3, 0.1, 1.0)


@dataclass(frozen=True)
class Change:
    """A change of class: the step to it, its distance, a step right beyond, and what the class is there.

    ``lower`` bounds the distance of this region's change from below, ``error`` what rounding makes of it.
    """

    distance: float
    lower: float
    error: float
    step: Float[np.ndarray, " n"]
    beyond: Float[np.ndarray, " n"]
    label: int


@dataclass(frozen=True)
class Search:
    """How a search ended.

    Parameters
    ----------
    lower : float
        No change of class is nearer, at the resolution.
    change : Change, optional
        The nearest one found.
    stopped : str
        Why the search ended early; empty if it did not.
    num_regions : int
        Regions opened.
    num_undecided : int
        Changes of class that the network itself did not confirm.
    """

    lower: float
    change: Change | None
    stopped: str
    num_regions: int
    num_undecided: int


def search(view: Viewpoint, budget: Budget, report: Count) -> Search:
    """Return the nearest change of class within a budget; Ctrl-C ends it like one.

    Notes
    -----
    Per region one pass of derivatives and a nearest-point problem per hyperplane that is nearer than the change.
    """
    walk = _Walk(view)
    began = time.time()
    stopped = ""
    try:
        walk.open(view.first_pieces(), 0.0)
        report(1, 0.0)
        while walk.queue and walk.queue[0][0] < walk.limit:
            stopped = budget.spent(walk.num_regions, began)
            if stopped:
                break
            before = walk.num_regions
            walk.step()
            report(walk.num_regions - before, 0.0)
    except KeyboardInterrupt:
        stopped = "interrupted"
    lower = walk.frontier if stopped else walk.limit
    if walk.change is not None and not stopped:
        lower = min(lower, walk.change.lower)
    lower = min(lower, walk.doubt)
    return Search(lower, walk.change, stopped, walk.num_regions, walk.num_undecided)


class _Item(NamedTuple):
    """A facet (``rival`` below 0) or a rival of a region, with a lower bound on its distance."""

    key: float
    order: int
    cell: int
    row: int
    rival: int
    norm: Norm | None  # in which norm the distance to the region's part is known; None: only that of the plane


class _Walk:
    def __init__(self, view: Viewpoint) -> None:
        self.view = view
        self.queue: list[_Item] = []
        self.codes: list[Pieces] = []
        self.seen: set[bytes] = set()
        self.change: Change | None = None
        self.frontier, self.limit, self.doubt = 0.0, np.inf, np.inf
        self.num_undecided = 0
        self._order = count()
        self._cells: OrderedDict[int, Cell] = OrderedDict()
        self._ways: dict[int, list[int]] = {}  # hyperplanes of a region that were not in the queue yet, nearest last
        self._behind: dict[int, dict[int, Pieces | None]] = {}  # of facets in the queue, where it is known

    @property
    def num_regions(self) -> int:
        return len(self.codes)

    def open(self, pieces: Pieces, key: float) -> None:
        """Put the hyperplanes and the rivals of a region into the queue."""
        name = b"".join(piece.tobytes() for piece in pieces)
        if name in self.seen:
            return
        self.seen.add(name)
        number = len(self.codes)
        self.codes.append(pieces)
        cell = self._cell(number)
        if cell.held.is_empty:
            return
        for which, rival in enumerate(cell.rivals):
            self._push(max(key, rival.distance), number, -1, which, None)
        self._ways[number] = np.argsort(cell.distances, kind="stable").tolist()[::-1]
        self._next_way(number, cell, key)

    def _next_way(self, number: int, cell: Cell, key: float) -> None:
        """Put the nearest hyperplane of a region that has not been in the queue into it."""
        ways = self._ways[number]
        if ways:
            row = ways.pop()
            self._push(max(key, float(cell.distances[row])), number, row, -1, None)

    def step(self) -> None:
        """Take the nearest item, and find out more about it."""
        # The frontier first: an interruption from here on still knows how far all is done.
        self.frontier = max(self.frontier, self.queue[0].key)
        item = heapq.heappop(self.queue)
        cell = self._cell(item.cell)
        if item.rival >= 0:
            self._rival(item, cell)
        else:
            self._facet(item, cell)

    def _facet(self, item: _Item, cell: Cell) -> None:
        norm = self.view.norm
        if item.norm == norm:
            self.open(self._across(item, cell), item.key)
            return
        if item.norm is None:
            self._next_way(item.cell, cell, item.key)
        # The shortest vector is quickly found, and says whether the facet is there at all.
        quick: Norm = norm if item.norm == "l2" else "l2"
        found = cell.nearest_facet(item.row, quick, self._limit_in(quick))
        if not np.isfinite(found.distance):
            return
        key = max(item.key, found.lower / self._factor(quick))
        if key >= self.limit:
            return
        if quick == norm:
            if not cell.is_facet(item.row, found.point):
                return
            self._behind.setdefault(item.cell, {})[item.row] = None
        self._push(key, item.cell, item.row, -1, quick)

    def _across(self, item: _Item, cell: Cell) -> Pieces:
        """Return the code behind a facet, found together with those behind other facets of the region."""
        behind = self._behind[item.cell]
        if behind[item.row] is None:
            rows = [row for row, pieces in behind.items() if pieces is None]
            behind.update(zip(rows, cell.pieces_across(rows), strict=True))
        pieces = behind.pop(item.row)
        assert pieces is not None
        return pieces

    def _rival(self, item: _Item, cell: Cell) -> None:
        rival, norm = cell.rivals[item.rival], self.view.norm
        quick: Norm = norm if item.norm == "l2" else "l2"
        found = cell.nearest_change(rival, quick, self._limit_in(quick))
        if not np.isfinite(found.distance):
            return
        if quick != norm:
            self._push(max(item.key, found.lower / self._factor(quick)), item.cell, -1, item.rival, quick)
            return
        if found.distance >= self.limit:
            return
        beyond, depth = self._beyond(cell, rival, found.point)
        if beyond is None:
            if depth > 0:  # the region goes beyond, and the network does not confirm it within rounding
                self.num_undecided += 1
                self.doubt = min(self.doubt, found.lower)
            return
        step, label = beyond
        error = rival.error / rival.length if rival.length > 0 else 0.0
        self.change = Change(found.distance, found.lower, error, found.point, step, label)
        self.limit = found.distance

    def _beyond(self, cell: Cell, rival: Rival, step: np.ndarray) -> tuple[tuple[np.ndarray, int] | None, float]:
        """Return a step right beyond a change of class with the class there, and how deep the region goes beyond.

        Without such a step the depth is 0 where the region only touches the rival's half-space.
        """
        if rival.length > 0:
            way = steepest(-rival.row[None], self.view.norm)[0]
            tries = step + np.outer(np.array(BEYOND) * max(self.view.scale, rival.distance), way)
            if (found := self._first_other_class(tries[cell.in_domain(tries)], ties=False)) is not None:
                return found, np.inf
        deep = cell.deepest(rival)
        if deep is None:
            return None, 0.0
        inner, depth = deep
        return self._first_other_class(step + np.outer(SHARES, inner - step), ties=rival.length == 0), depth

    def _first_other_class(self, steps: np.ndarray, *, ties: bool) -> tuple[np.ndarray, int] | None:
        """Return the first step to where the class is another one beyond rounding, or by a tie if ties count."""
        if not len(steps):
            return None
        forward = rounded_forward(self.view.network, self.view.x + steps, tolerance=self.view.tolerance)
        outputs, errors, own = forward.outputs, forward.errors, self.view.label
        labels = classes_of_outputs(outputs)
        if outputs.shape[1] == 1:
            outputs, errors = (np.column_stack([np.zeros(len(table)), table]) for table in (outputs, errors))
        rows = np.arange(len(steps))
        sure = outputs[rows, labels] - outputs[:, own] > errors[rows, labels] + errors[:, own]
        other = (labels != own) & (sure | ties)
        if not other.any():
            return None
        first = int(other.argmax())
        return steps[first], int(labels[first])

    def _factor(self, norm: Norm) -> float:
        """Return how many times the distance asked for a distance in a norm can be."""
        if norm == self.view.norm or self.view.norm == "l1":
            return 1.0
        return float(np.sqrt(len(self.view.x)))

    def _limit_in(self, norm: Norm) -> float:
        return self.limit * self._factor(norm)

    def _push(self, key: float, cell: int, row: int, rival: int, norm: Norm | None) -> None:
        if key < self.limit:
            heapq.heappush(self.queue, _Item(key, next(self._order), cell, row, rival, norm))

    def _cell(self, number: int) -> Cell:
        """Return a region, computed again if it had to make room."""
        cell = self._cells.get(number)
        if cell is None:
            cell = self._cells[number] = self.view.cell(self.codes[number])
            while len(self._cells) > max(8, CACHE // max(1, cell.num_bytes)):
                self._cells.popitem(last=False)
        self._cells.move_to_end(number)
        return cell
