"""Points of a decision boundary that chords of a domain meet."""

from collections.abc import Callable

import numpy as np

from reluscope.budget import ENDS, Budget, why_ended
from reluscope.interruption import safe_point
from reluscope.partitions.decisions.decision_pieces import (
    BoundaryPieces,
    blocks_of,
    pieces_of,
    scores_by_block,
    tie_error,
)
from reluscope.partitions.decisions.touching_ties import TouchingTies
from reluscope.partitions.partition_in_memory import Partition
from reluscope.stopping import Stop, is_interrupted
from reluscope.time_limits import driven


class ChordSearch:
    """The pieces of the first regions, as far as work has come."""

    def __init__(self, part: Partition, budget: Budget, began: float) -> None:
        self.part, self.budget, self.began = part, budget, began
        self.found: list[tuple[BoundaryPieces, BoundaryPieces, BoundaryPieces]] = []
        self.num_done, self.doubtful = 0, 0.0
        self.values = np.zeros((0, 2))
        self.touching = TouchingTies(part)

    def run(self, count: Callable[[int, float], None] | None) -> Stop | None:
        """Search until all is done; return why it is not."""
        try:
            with driven():
                return self._blocks(count)
        except ENDS as end:
            note = why_ended(end)
            if is_interrupted(note) and not self.num_done:
                raise
            return note

    def _blocks(self, count: Callable[[int, float], None] | None) -> Stop | None:
        part, values, known, stopped = self.part, self.values, 0, None
        offsets, ids = part.region_vertices
        first = int(ids[: offsets[1]].max())  # whatever the time, one region is looked at
        for found_so_far, known in scores_by_block(part):
            self.values = values = found_so_far
            safe_point()
            if known > first and (stopped := self.budget.spent(0, self.began)):
                break
        error = tie_error(values[:known])
        for start, stop in blocks_of(part, values.shape[1], known):
            safe_point()
            if self.num_done and (stopped := self.budget.spent(0, self.began)):
                return stopped
            *found, doubtful = pieces_of(part, values, start, stop, error, self.touching)
            # One assignment for the pieces, one for their number: Ctrl-C is answered above alone.
            self.found, self.num_done = [*self.found, tuple(found)], stop
            self.doubtful += doubtful
            if count is not None:
                count(stop - start, (stop - start) / len(part))
        return stopped if self.num_done < len(part) else None
