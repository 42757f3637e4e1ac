"""Who waits for an answer: is told how far it is, and may end it early."""

from collections.abc import Callable
from dataclasses import dataclass, field

from reluscope.budget import Budget
from reluscope.stopping import Stop, StopReason

CANCELLED = Stop(StopReason.CANCELLED)


def never() -> bool:
    """Return False: nobody cancels."""
    return False


def nobody(share: float, regions: int) -> None:
    """Tell nobody how far work is."""
    del share, regions


@dataclass(eq=False)
class Listener:
    """Receives the progress of an answer, and says whether to stop."""

    progress: Callable[[float, int], None] = nobody  # told the share from 0 to 1, and the regions found
    cancelled: Callable[[], bool] = never  # asked, often, whether to stop
    _share: float = field(default=0.0, init=False)

    def share(self, share: float) -> None:
        """Take note of the share of the work that is done."""
        self._share = share

    def found(self, regions: int) -> None:
        """Say how many regions there are so far."""
        self.progress(self._share, regions)

    @property
    def share_done(self) -> float:
        """The share that is done."""
        return self._share


@dataclass(frozen=True, repr=False)
class ListeningBudget(Budget):
    """A budget that is also spent when its listener has cancelled.

    The listener is asked between any two steps of the work, so that what has been found is whole.
    """

    listener: Listener = field(default_factory=Listener)

    def spent(self, num_regions: int, began: float) -> Stop | None:
        """Return which limit has run out, or that the listener has cancelled; None if work may go on."""
        self.listener.found(num_regions)
        return CANCELLED if self.listener.cancelled() else super().spent(num_regions, began)

    def first_is_due(self, num_regions: int, stop: Stop | None) -> bool:
        """Tell whether work that stopped has to go on to its first region: not when nobody waits for it."""
        return stop != CANCELLED and super().first_is_due(num_regions, stop)
