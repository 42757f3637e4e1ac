"""Where work stops early."""

import time
from dataclasses import dataclass

from reluscope.arguments import Natural, Seconds, read_arguments


@read_arguments
@dataclass(frozen=True)
class Budget:
    """Where work on a partition stops.

    Without either number it stops only where it would not end: see `reluscope.partitions.patience`.

    Parameters
    ----------
    regions : int, optional
        Stop after this many regions (a few more may be finished).
    seconds : float, optional
        Stop after this time; ``float("inf")`` for as long as it takes.
    """

    regions: Natural | None = None
    seconds: Seconds | None = None

    @read_arguments
    def spent(self, num_regions: int, began: float) -> str:
        """Return what has run out, in words; empty if nothing has.

        Parameters
        ----------
        num_regions : int
            Found so far.
        began : float
            When work began, by `time.time`: other processes have to know, too.

        Examples
        --------
        >>> Budget(regions=10).spent(12, time.time()), Budget(seconds=60.0).spent(12, time.time())
        ('budget of 10 regions', '')
        """
        if self.regions is not None and num_regions >= self.regions:
            return f"budget of {self.regions:,} regions"
        if self.seconds is not None and time.time() - began >= self.seconds:
            return f"budget of {self.seconds:g} s"
        return ""

    def foresee(self) -> str:
        """Return why work should not be handed out in parts at all, empty if nothing speaks against it."""
        return ""
