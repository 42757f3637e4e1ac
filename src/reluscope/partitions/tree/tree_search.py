"""The search of a tree of linear programs, with tasks that are independent.

Cells of a gate do not overlap, and each is searched by itself: so tasks are some cells each, and their counts add up.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reluscope.effort import Effort
from reluscope.partitions.driver.walk import Checkpoint, Step, Store, Walked, walk
from reluscope.partitions.tree.tree_coordinates import Coordinates
from reluscope.partitions.tree.tree_items import Block, GatePart, Level, Search

# How many cells there are to be before a search is broken up, how many there may be, and how many tasks they become.
# Whoever changes these, or the order of the search, changes SPLIT: what was kept of older counts fits no longer.
MIN_CELLS, MAX_CELLS, MAX_TASKS = 96, 8192, 512
SPLIT = 1

Item = Block | GatePart | Search


def search_tree(
    coordinates: Coordinates,
    *,
    finish: Callable[[Block], Any] | None = None,
    store: Store | None = None,
    effort: Effort,
    checkpoint: Checkpoint | None = None,
) -> Walked:
    """Search the domain for regions, depth first; arguments are those of `walk`."""
    return walk(
        [Block.first(coordinates)],
        _step,
        split=_split,
        finish=finish,
        store=store,
        effort=effort,
        checkpoint=checkpoint,
    )


@dataclass(frozen=True)
class SearchTask:
    """A search as a task, which may be begun more than once: it is left as it is, and done in a copy."""

    search: Search

    is_finished = False

    @property
    def level(self) -> Level:
        """How far the cell has come."""
        return self.search.level

    def __len__(self) -> int:
        return len(self.search)

    def step(self, room: float) -> Step:
        """Return the copy."""
        del room
        return Step([self.search.again()])


def _step(item: Item | SearchTask, room: float) -> Step:
    return item.step(room)


def _split(items: Sequence[Item]) -> list[Block | GatePart | SearchTask] | None:
    """Return the cells of a level as tasks, once there are enough or the next level has too many.

    Where work is broken up depends on the network, the domain and the tolerance, and on no budget.
    """
    number, lowest = sum(map(len, items)), min(item.level for item in items)
    is_whole_level = all(item.level == lowest for item in items)
    beyond = sum(len(item) for item in items if item.level != lowest)
    if not (is_whole_level and number >= MIN_CELLS) and beyond < MAX_CELLS:
        return None
    size = max(1, -(-number // MAX_TASKS))
    tasks: list[Block | GatePart | SearchTask] = []
    for item in items:
        tasks += [SearchTask(item)] if isinstance(item, Search) else item.parts(size)
    return tasks


def split_mark(tasks: Sequence[Any]) -> str:
    """Return what tells one way of breaking up work from another: a hash of the tasks' codes so far."""
    total = hashlib.sha256(f"{SPLIT} {len(tasks)}".encode())
    for task in tasks:
        item = task.search if isinstance(task, SearchTask) else task
        pieces = item.pieces if isinstance(item, Block) else item.gate.pieces
        signs = np.zeros(0) if isinstance(item, Block) else item.signs
        total.update(f"{item.level} {len(item)} {isinstance(item, Block)} {signs.shape}".encode())
        for part in (*pieces, signs):
            total.update(np.ascontiguousarray(part, dtype=np.int64).tobytes())
    return total.hexdigest()
