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

import heapq
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

import numpy as np

from reluscope.analyses.robustness.attack import nearby_change
from reluscope.analyses.robustness.cells import RESOLUTION, Cell, Pieces, Rival, Viewpoint
from reluscope.analyses.robustness.changes import Change, Undecided, confirm
from reluscope.geometry.balls import BallInBox
from reluscope.networks.enclosures import CLEAR, Enclosure, Forms, enclose
from reluscope.networks.graph import Max
from reluscope.partitions.budget import Budget
from reluscope.progress import Count


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
    num_branches : int
        Sets of regions looked into.
    num_undecided : int
        Changes of class that the network itself did not confirm.
    """

    lower: float
    change: Change | None
    stopped: str
    num_branches: int
    num_undecided: int


def search(view: Viewpoint, budget: Budget, report: Count) -> Search:
    """Return the nearest change of class within a budget; Ctrl-C ends it like one.

    Notes
    -----
    Per branch an enclosure, and a nearest-point program for each class that may win in it.
    """
    walk = _Walk(view)
    began = time.time()
    stopped = ""
    try:
        walk.begin()
        while walk.queue and walk.queue[0].key < walk.limit:
            stopped = budget.spent(walk.num_branches, began)
            if stopped:
                break
            before = walk.num_branches
            walk.step()
            report(walk.num_branches - before, 0.0)
    except KeyboardInterrupt:
        stopped = "interrupted"
    lower = min(walk.frontier if stopped else walk.limit, walk.passed)
    return Search(lower, walk.change, stopped, walk.num_branches, walk.num_undecided)


class _Branch(NamedTuple):
    """A set of regions: the first and last pieces of all units, and where it is to be split."""

    key: float
    order: int
    first: Pieces
    last: Pieces
    gate: int
    unit: int
    pieces: tuple[int, int]
    candidates: np.ndarray


class _Walk:
    def __init__(self, view: Viewpoint) -> None:
        self.view = view
        self.queue: list[_Branch] = []
        self.change: Change | None = None
        # How far all is done; how far a change can be and be of interest; the nearest of what was passed over.
        self.frontier, self.limit, self.passed = 0.0, np.inf, np.inf
        self.num_branches, self.num_undecided = 0, 0
        self._order = count()

    def begin(self) -> None:
        """Look for a near change, and put all regions into the queue as one branch."""
        self.change = nearby_change(self.view)
        if self.change is not None:
            self.limit = self.change.distance
        gates = [stage.gate for stage in self.view.network.stages]
        first = tuple(np.zeros(gate.num_units, dtype=np.int32) for gate in gates)
        last = tuple(np.full(gate.num_units, gate.num_pieces - 1, dtype=np.int32) for gate in gates)
        self._open(first, last, 0.0)

    def step(self) -> None:
        """Split the nearest branch."""
        # The frontier first: an interruption from here on still knows how far all is done.
        self.frontier = max(self.frontier, self.queue[0].key)
        branch = heapq.heappop(self.queue)
        for first, last in self._parts(branch):
            self._open(first, last, branch.key)

    def _parts(self, branch: _Branch) -> Iterator[tuple[Pieces, Pieces]]:
        gate, unit = branch.gate, branch.unit
        if isinstance(self.view.network.stages[gate].gate, Max):
            ends = [(candidate, candidate) for candidate in branch.candidates.tolist()]
        else:
            low, high = branch.pieces
            middle = (low + high) // 2
            ends = [(int(branch.first[gate][unit]), middle), (middle + 1, int(branch.last[gate][unit]))]
        for low, high in ends:
            yield _with(branch.first, gate, unit, low), _with(branch.last, gate, unit, high)

    def _open(self, first: Pieces, last: Pieces, key: float) -> None:
        """Bound the nearest change in a branch, and put it into the queue unless that is known, or too far."""
        view = self.view
        self.num_branches += 1
        radius = max(self.limit, 1e3 * RESOLUTION * view.scale)
        steps = BallInBox(radius, view.norm, view.lower, view.upper)
        enclosure = enclose(view.network, view.x, steps, first, last, rounding=view.rounding)
        if enclosure.is_empty:
            return
        cell, noise, is_exact = _cell(view, enclosure)
        best, score = np.inf, None
        if enclosure.outputs is None:
            found = cell.nearest(self.limit)
            if np.isfinite(found.distance) and not cell.is_thin(found.point):
                best, score = found.lower, np.ones(len(enclosure.open.units))
        for rival in cell.rivals if enclosure.outputs is not None else ():
            if rival.distance >= self.limit:
                continue
            found = cell.nearest_change(rival, self.limit)
            if not np.isfinite(found.distance) or cell.is_thin(found.point):
                continue
            if is_exact and np.abs(rival.noise).sum() <= CLEAR * rival.error:
                self._settle(confirm(cell, rival, found))
            elif found.lower < best:
                best, score = found.lower, _influence(found.multipliers, noise, rival)
        key = max(key, best)
        if score is None or key >= self.limit:
            return
        if key >= self.limit - RESOLUTION * view.scale:
            self.passed = min(self.passed, key)
            return
        if MODE: score = MODE(score, enclosure.open)
        which = int(score.argmax())
        (gate, unit), pieces = enclosure.open.units[which].tolist(), tuple(enclosure.open.pieces[which].tolist())
        candidates = enclosure.open.candidates[which]
        heapq.heappush(
            self.queue, _Branch(key, next(self._order), first, last, gate, unit, pieces, candidates)
        )

    def _settle(self, found: Change | Undecided | None) -> None:
        if isinstance(found, Change):
            self.passed = min(self.passed, found.lower)
            if found.distance < self.limit:
                self.change, self.limit = found, found.distance
        elif found is not None:
            self.num_undecided += 1
            self.passed = min(self.passed, found.lower)


def _with(pieces: Pieces, gate: int, unit: int, piece: int) -> Pieces:
    changed = pieces[gate].copy()
    changed[unit] = piece
    return (*pieces[:gate], changed, *pieces[gate + 1 :])


def _cell(view: Viewpoint, enclosure: Enclosure) -> tuple[Cell, np.ndarray, bool]:
    """Return the steps that an enclosure allows, the noise of its rows, and whether they are without noise."""
    dim, symbols = len(view.x), len(enclosure.open.units)
    rows, slack, noise = [np.zeros((0, dim))], [np.zeros(0)], [np.zeros((0, symbols))]
    is_exact = True
    for limit in enclosure.limits:
        lengths = np.linalg.norm(limit.weights, axis=1)
        kept = lengths * view.scale > limit.errors
        limit, lengths = limit[kept], lengths[kept]
        spread = limit.spread
        is_exact = is_exact and bool((spread <= CLEAR * limit.errors).all())
        rows.append(limit.weights / lengths[:, None])
        slack.append((spread - limit.centers) / lengths)
        wide = np.zeros((len(lengths), symbols))
        wide[:, : limit.noise.shape[1]] = np.abs(limit.noise) / lengths[:, None]
        noise.append(wide)
    outputs = enclosure.outputs
    if outputs is None:
        outputs = Forms(np.zeros(0), np.zeros((0, dim)), np.zeros((0, symbols)), np.zeros(0))
    return Cell(view, np.concatenate(rows), np.concatenate(slack), outputs), np.concatenate(noise), is_exact


def _influence(multipliers: np.ndarray, noise: np.ndarray, rival: Rival) -> np.ndarray:
    """Return how much each noise symbol moves the bound; where none does, how much it loosens rows and rival."""
    own, last = multipliers[: len(noise)], multipliers[-1]
    score = own @ noise + last * np.abs(rival.noise)
    return score if score.any() else noise.sum(axis=0) + np.abs(rival.noise)
