"""The stack of a tree search: one step after another, what was counted on the way, and tasks that are independent.

Cells of a gate do not overlap, and each is searched by itself: so tasks are some cells each, and their counts add up.
"""

import copy
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import torch

from reluscope.budget import INTERRUPTED, OUT_OF_MEMORY, Budget
from reluscope.interruption import safe_point
from reluscope.partitions.tree_coordinates import Coordinates
from reluscope.partitions.tree_items import Block, GatePart, Search

# Regions of one batch, and the memory that its cells may need.
BATCH, BATCH_BYTES = 1024, 2**26
# How many cells there are to be before a search is broken up, how many there may be, and how many tasks they become.
# Whoever changes these, or the order of the search, changes SPLIT: what was kept of older counts fits no longer.
FEWEST_CELLS, MOST_CELLS, MOST_TASKS = 96, 8192, 512
SPLIT = 1

COUNTERS = ("programs", "pivots", "corners", "nodes", "by_point", "by_clause")

Item = Block | GatePart | Search


@dataclass
class Tally:
    """What a search has counted.

    Parameters
    ----------
    num_regions : int
    num_undecided : int
        Questions "does this unit cut this cell?" that rounding left open; they were taken as no.
    num_open : int
        Cells that were not finished when work stopped; each holds at least one region more.
    stopped : str
        Why work stopped early, empty if it did not.
    work : dict
        Linear programs, their pivots, nodes, decisions without a program.
    """

    num_regions: int = 0
    num_undecided: int = 0
    num_open: int = 0
    stopped: str = ""
    work: dict[str, float] = field(default_factory=lambda: dict.fromkeys(COUNTERS, 0))

    def include(self, other: "Tally") -> None:
        """Add what another search of other cells has counted."""
        self.num_regions += other.num_regions
        self.num_undecided += other.num_undecided
        self.num_open += other.num_open
        self.stopped = self.stopped or other.stopped
        for name, amount in other.work.items():
            self.work[name] = self.work.get(name, 0) + amount


class TreeSearch:
    """A search under way.

    Parameters
    ----------
    coordinates : Coordinates
    budget : Budget
        Where to stop early.
    began : float
        When work began, by `time.time`.
    item : Block, GatePart or Search
        The cells to search.
    """

    def __init__(self, coordinates: Coordinates, budget: Budget, began: float, item: Item) -> None:
        self.coordinates = coordinates
        self.budget = budget
        self.began = began
        if isinstance(item, Search):  # it shares room with the searches of the thread that began it
            item = copy.deepcopy(item, {id(item.gate.coordinates): item.gate.coordinates})
        self.items: list[Item] = [item]
        self.tally = Tally()

    @property
    def num_open(self) -> int:
        """Cells that are not finished."""
        return sum(item.num_open for item in self.items)

    def blocks(self) -> Iterator[Block]:
        """Search depth first, to the end or to that of the budget, and yield what is finished."""
        while self.items and not self.is_spent():
            yield from self._step(int(np.clip(self.budget.room(self.tally.num_regions), 1, BATCH)))

    def first(self) -> Iterator[Block]:
        """If work stopped before there was a region, search on to the first one."""
        stopped = self.tally.stopped
        if self.items and self.budget.first_is_due(self.tally.num_regions, stopped):
            budget, self.budget, self.tally.stopped = self.budget, Budget(regions=1), ""
            yield from self.blocks()
            self.budget, self.tally.stopped = budget, stopped

    def broken_up(self) -> Iterator[Block]:
        """Search level by level until there are cells enough for tasks, and yield what is finished on the way.

        Where work is broken up depends on the network, the domain and the tolerance, and on no budget.
        """
        while self.items and self.num_open < FEWEST_CELLS:
            level, deeper = self.items[0].position, []
            num_deeper = 0
            while self.items and self.items[0].position == level and num_deeper < MOST_CELLS and not self.is_spent():
                if self.items[-1].position == level:
                    yield from self._step(BATCH)
                    continue
                item = self.items.pop()
                if item.is_finished:
                    yield self._finished(item)
                else:
                    deeper.append(item)
                    num_deeper += item.num_open
            self.items += deeper
            if self.tally.stopped:
                return

    def tasks(self) -> list[Item]:
        """Return the cells that are left in parts for independent searches; the search then holds these parts."""
        size = max(1, -(-self.num_open // MOST_TASKS))
        parts: list[Item] = []
        for item in self.items:
            parts += [item] if isinstance(item, Search) else item.parts(size)
        self.items = list(parts)
        return parts

    def is_spent(self) -> bool:
        """Whether the budget has run out; here Ctrl-C is answered."""
        safe_point()
        self.tally.stopped = self.tally.stopped or self.budget.spent(self.tally.num_regions, self.began)
        return bool(self.tally.stopped)

    def end(self) -> Tally:
        """Return what was counted, and count the cells that are left."""
        self.tally.num_open += self.num_open
        if not self.tally.num_open and self.tally.stopped not in (INTERRUPTED, OUT_OF_MEMORY):
            self.tally.stopped = ""  # the last region was found just in time
        return self.tally

    def _step(self, room: int) -> Iterator[Block]:
        """Take the last item one step further; where memory does not suffice for that, it stays."""
        top = self.items.pop()
        if top.is_finished:
            yield self._finished(top)
            return
        try:
            with torch.no_grad():
                if not isinstance(top, Search):
                    self.items += top.opened()
                    return
                before = top.tree.counters.copy()
                found = top.take(int(np.clip(BATCH_BYTES // top.cell_bytes, 1, room)))
        except (MemoryError, RuntimeError):
            self.items.append(top)
            raise
        *amounts, undecided = (top.tree.counters - before).tolist()
        self.tally.num_undecided += undecided
        for name, amount in zip(COUNTERS, amounts, strict=True):
            self.tally.work[name] += amount
        if not top.tree.is_done:
            self.items.append(top)
        if found is not None:
            self.items.append(found)

    def _finished(self, item: Item) -> Block:
        assert isinstance(item, Block)
        self.tally.num_regions += len(item.cells)
        return item


def split_mark(tasks: list[Item]) -> str:
    """Return what tells one way of breaking up work from another: a hash of the tasks' codes so far."""
    total = hashlib.sha256(f"{SPLIT} {len(tasks)}".encode())
    for task in tasks:
        gate = None if isinstance(task, Block) else task.gate
        pieces = task.pieces if isinstance(task, Block) else task.gate.pieces
        signs = np.zeros(0) if isinstance(task, Block) else task.signs
        total.update(f"{task.position} {task.num_open} {gate is None} {signs.shape}".encode())
        for part in (*pieces, signs):
            total.update(np.ascontiguousarray(part, dtype=np.int64).tobytes())
    return total.hexdigest()
