"""Which cells become tasks of their own: as many as there is work for, of about as much work each."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from reluscope.partitions.cells.cell_batches import Batch
from reluscope.partitions.driver.walk import Step
from reluscope.time_limits import look_at_clock

# Work is handed out in so many tasks, once there are so many cells for each; where there is far more work in up to so
# many, of about so many regions, with so many cells for each at least.
TASKS, CELLS_PER_TASK = 64, 16
MOST_TASKS, REGIONS_PER_TASK, FEWEST_CELLS = 4096, 200_000, 4
# Cells that are taken to their end to see how much work there is, and regions of each at most.
TRIED, REGIONS_TRIED = 16, 20_000


class NeededCells:
    """How many cells there are to be before some of them go ahead of others."""

    def __init__(self) -> None:
        self.until = TASKS * CELLS_PER_TASK


class CellStepping(Protocol):
    """How cells take steps, and how many there are to be before some go ahead."""

    @property
    def whole(self) -> NeededCells:
        """How many cells there are to be first."""
        ...

    def step(self, batch: Batch, room: float, /) -> Step:
        """Take a batch one step on."""
        ...


class Splitting:
    """Breaks work up into tasks, as many as there is work for, by cells that are taken to their end: counted work."""

    def __init__(self, steps: CellStepping) -> None:
        self._steps = steps
        self._number: int | None = None  # of tasks

    def __call__(self, batches: Sequence[Batch]) -> list[Batch] | None:
        """Return the cells of batches as tasks, once there are enough."""
        number, whole = sum(map(len, batches)), self._steps.whole
        if number < whole.until:
            return None
        if self._number is None:
            regions = self._regions_of_a_cell(batches) * number
            self._number = int(np.clip(regions / REGIONS_PER_TASK, TASKS, MOST_TASKS))
            whole.until = max(whole.until, self._number * FEWEST_CELLS)
            if number < whole.until and batches[0].is_all:
                return None
        return [part.alone() for batch in batches for part in batch.spread(-(-number // self._number))]

    def _regions_of_a_cell(self, batches: Sequence[Batch]) -> float:
        """Return about how many regions a cell has, by some of the largest batch.

        Those that have very many are not taken to their end: what was found counts by the share of the work it took, if
        all cells that one is cut into take as much.
        """
        batch, regions = max(batches, key=len), 0.0
        rows = np.unique(np.linspace(0, len(batch) - 1, TRIED).round().astype(np.int64))
        for row in rows.tolist():
            waiting, found, done = [(batch.take(row, row + 1), 1.0)], 0, 0.0
            while waiting and (found < REGIONS_TRIED or not done):
                look_at_clock()
                cells, share = waiting.pop()
                if cells.is_finished:
                    found, done = found + len(cells), done + share
                    continue
                made = self._steps.step(cells, np.inf).cells
                number = sum(map(len, made))
                waiting += [(some, share * len(some) / number) for some in made]
                done += 0.0 if made else share
            regions += found / done if waiting else found
        return regions / len(rows)
