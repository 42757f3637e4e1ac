"""Work on samples in blocks, for as long as there is time: what is done when it ends is a share of the samples.

The number of samples alone decides how they are cut into blocks, so that every run makes the same ones. A limit on time
makes blocks smaller near its end only.

Between blocks, and within them, Ctrl-C is an exception as everywhere; compiled code is never left by it. What one block
found is kept by one statement, or by several that are `deferred`, so that there is never half of a block.
"""

import time
from collections.abc import Callable, Iterator, Sized
from math import ceil, inf

from reluscope.arguments import Range, read_whole
from reluscope.budget import ENDS, why_ended
from reluscope.stopping import Stop, StopReason
from reluscope.time_limits import driven, is_overdue

# Each block has twice the samples of the one before, up to this number or this share of all samples: what Ctrl-C in a
# block loses is little.
FEW, SHARE = 8, 1 / 16
# Share of the time left that a block is to take at most: samples may differ in what they take.
PLANNED = 0.5


class Pace:
    """Blocks of samples to work on, one after another.

    No block begins after ``seconds``, except the first; ``most`` is samples in a block, ``done`` how many are done
    already. ``progress`` is told the share done, from 0 to 1, after every block.
    """

    def __init__(
        self,
        number: int,
        *,
        seconds: float,
        most: int = 4096,
        done: int = 0,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        self.number, self.seconds, self.most, self.progress = number, seconds, most, progress
        self.done, self.stop = done, None

    def blocks(self) -> Iterator[slice]:
        """Yield blocks, of one sample at first; ``done`` is where the last one ends."""
        began = last = time.perf_counter()
        # Where samples were done before, nothing is known yet of what one takes.
        first, affordable = self.done, 1.0 if self.done and self.seconds < inf else inf
        for end in self._ends():
            while self.done < end:
                if self.done > first and (last - began > self.seconds or is_overdue()):
                    self.stop = Stop(StopReason.SECONDS)
                    return
                stop = int(min(self.done + max(1.0, affordable), end))
                yield slice(self.done, stop)
                number, now = stop - self.done, time.perf_counter()
                self.done = stop
                left = began + self.seconds - now
                affordable = PLANNED * left * number / (now - last) if now > last else inf
                last = now
                if self.progress is not None:
                    share = max(stop / self.number, min(1.0, (now - began) / self.seconds) if self.seconds else 1.0)
                    self.progress(min(1.0, share))

    def _ends(self) -> Iterator[int]:
        """Yield where blocks end, wherever work begins."""
        end, size, largest = 0, 1, min(self.most, max(FEW, ceil(SHARE * self.number)))
        while end < self.number:
            end, size = min(end + size, self.number), min(2 * size, largest)
            if end > self.done:
                yield end


def until_interrupted(work: Callable[[], None], done: Sized) -> Stop | None:
    """Work until it ends; return what stopped it: Ctrl-C, or a lack of time or memory.

    These are passed on if there is nothing to show.
    """
    try:
        with driven():
            work()
    except ENDS as end:
        if not len(done):
            raise
        return why_ended(end)
    return None


def read_population(population: int | None, num_samples: int) -> int:
    """Return how many points the samples stand for: as many as they are by default.

    InputError if the population is smaller than the number of samples.
    """
    return num_samples if population is None else read_whole(population, "population", Range(least=num_samples))
