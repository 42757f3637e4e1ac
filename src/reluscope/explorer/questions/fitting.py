"""The partition of a window, and what a budget suffices for where that is too much.

A window without a size that a reader has chosen is made smaller, about the same centre, until it comes to its end; one
that a reader has chosen stays, and where it is not finished the lines of the first gates say what there is.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from reluscope.budget import Budget
from reluscope.explorer.exchange.listening import Listener, ListeningBudget
from reluscope.explorer.scene.planes import PlaneFrame
from reluscope.geometry.polyhedra.domains import Box, Slice
from reluscope.networks.network import Network
from reluscope.partitions.ask.coarse_partitions import coarse_partition
from reluscope.partitions.ask.dispatch import partition
from reluscope.partitions.ask.finishing_windows import window_within
from reluscope.partitions.partition_in_memory import Partition
from reluscope.stopping import is_interrupted

# Seconds after which it is plain how much of a window would be done in time: below the first share it is hopeless,
# below the second it is not tried to the end.
TRIED, HOPELESS, DOUBTFUL = 1.0, 0.1, 0.5
# Where it is not, a smaller one is tried so often, of what share of the area that was done in time.
MOST_TRIES, CAUTION, LEAST_SHARE = 3, 0.5, 1e-4
# Of the seconds of a picture those for its first gates, and what these may have.
COARSE, COARSE_REGIONS = 0.2, 100_000


@dataclass(frozen=True, eq=False)
class Wanted:
    """A picture that was asked for."""

    network: Network
    frame: PlaneFrame
    center: Float[np.ndarray, "2"]
    reach: Float[np.ndarray, "2"]
    epoch: int | None
    budget: Budget
    certify: bool
    fits: bool


def partition_of(
    wanted: Wanted, listener: Listener, *, reach: Float[np.ndarray, "2"] | None = None, seconds: float | None = None
) -> Partition:
    """Partition the window that is wanted, or one of another reach about the same centre."""
    limit = _limit(wanted, listener, wanted.budget.seconds if seconds is None else seconds)
    window = wanted.frame.window(wanted.center, wanted.reach if reach is None else reach)
    part = partition(wanted.network, window, budget=limit, progress=listener.share)
    if is_interrupted(part.stop) and not listener.cancelled():
        raise KeyboardInterrupt  # by Ctrl-C, and not by whoever asks: there is nothing to show
    return part


def fitted(wanted: Wanted, listener: Listener) -> tuple[Partition, Float[np.ndarray, "2"], str]:
    """Return the partition of a window that is finished in time, how large it is, and words if it is a smaller one."""
    allowed, share, part = wanted.budget.seconds_allowed, 1.0, None
    if allowed > 2 * TRIED:
        part = partition_of(wanted, listener, seconds=TRIED)
        if not part.num_open or listener.cancelled():
            return part, wanted.reach, ""
        # What would be done of it within the budget.
        used = max(TRIED / allowed, len(part) / max(1.0, wanted.budget.room(0)))
        share = listener.share_done / min(1.0, used)
        if share < HOPELESS:
            return _within(wanted, listener, part.note)
    if part is None or share >= DOUBTFUL:
        part = partition_of(wanted, listener)
        share = listener.share_done
    whole, reach = part, wanted.reach
    for _ in range(MOST_TRIES):
        if not part.num_open or listener.cancelled():
            break
        reach = reach * np.sqrt(CAUTION * max(share, LEAST_SHARE))
        part = partition_of(wanted, listener, reach=reach)
        share = listener.share_done
    is_smaller = part is not whole and not part.num_open
    return (part, reach, _smaller(whole.note)) if is_smaller else (whole, wanted.reach, "")


def coarse_of(wanted: Wanted, part: Partition, listener: Listener) -> Partition | None:
    """Return a window by as many of the first gates as there is time for, where that by all is not finished."""
    if not part.num_open or not wanted.network.gates or listener.cancelled():
        return None
    seconds = None if wanted.budget.seconds is None else COARSE * wanted.budget.seconds
    found = coarse_partition(wanted.network, part.domain, Budget(regions=COARSE_REGIONS, seconds=seconds))
    return None if found.num_open else found


def _within(wanted: Wanted, listener: Listener, why: str) -> tuple[Partition, Float[np.ndarray, "2"], str]:
    """Return the largest window about the same centre that comes to its end."""
    window = wanted.frame.window(wanted.center, wanted.reach)
    part = window_within(
        wanted.network, window, _limit(wanted, listener, wanted.budget.seconds), progress=listener.share
    )
    assert isinstance(part.domain, Slice)
    assert isinstance(part.domain.window, Box)
    return part, part.domain.window.hi, _smaller(why)


def _limit(wanted: Wanted, listener: Listener, seconds: float | None) -> ListeningBudget:
    return ListeningBudget(regions=wanted.budget.regions, seconds=seconds, listener=listener)


def _smaller(why: str) -> str:
    return f"the whole window takes longer ({why}): this is the part around its centre"
