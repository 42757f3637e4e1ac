"""Where work stops early."""

import time
from dataclasses import dataclass, fields, replace
from typing import Annotated

from reluscope.arguments import Also, Count, ForEach, Natural, Seconds, read_arguments
from reluscope.errors import InputError
from reluscope.stopping import INTERRUPTED, OUT_OF_MEMORY, Stop, StopReason, is_interrupted
from reluscope.time_limits import OutOfTime, is_overdue

# Seconds: no budget counts as shorter.
LEAST_SECONDS = 1e-9
# What lacks of memory are raised as, if `is_lack_of_memory` says so: PyTorch's are RuntimeErrors, and Python raises a
# SystemError where NumPy fails and says nothing.
LACKS = (MemoryError, RuntimeError, SystemError)
# What ends work that keeps what it has, if `why_ended` says so.
ENDS = (KeyboardInterrupt, OutOfTime, *LACKS)


@read_arguments
@dataclass(frozen=True, repr=False)
class Budget:
    """Limits on the effort of a computation: regions, seconds and bytes of memory.

    Limits that are not given do not apply. Every function with a long runtime has a parameter ``budget``. The
    function refuses limits that do not apply to it.

    Parameters
    ----------
    regions : int, optional
        Stop after this many regions. Cells pass through a network in chunks, which become small towards the end, so
        a few dozen more regions may be finished. `certify` takes all cells of a line or plane as one chunk.
    seconds : float, optional
        Stop after this time; ``float("inf")`` for as long as it takes. The current step has a quarter of a second more,
        or 5 % of the limit. BudgetExceededError if there is nothing to return by then.
    memory : int, optional
        Bytes that intermediate arrays may take. Work is done in blocks of this size, with the same results. By
        default each function has its own block size.

    Notes
    -----
    A computation without limits on regions and seconds ends by itself, or stops where it would not end: see
    `reluscope.partitions.ask.patience`. The tasks of an executor keep to the same limits, and regions found beyond
    the requested number are left out. A result cut short by a budget claims LOWER: no region is counted twice, and
    each counted region exists. Only ``regions=0`` gives none.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(3), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))])
    >>> print(rs.count(net, rs.Space(3), budget=rs.Budget(seconds=60)))
    8 (EXACT)
    """

    regions: Natural | None = None
    seconds: Seconds | None = None
    memory: Count | None = None

    def __repr__(self) -> str:
        """Return the limits there are."""
        given = {field.name: getattr(self, field.name) for field in fields(Budget)}
        return f"Budget({', '.join(f'{name}={value!r}' for name, value in given.items() if value is not None)})"

    @property
    def seconds_allowed(self) -> float:
        """How many seconds work may take, infinity if nobody said."""
        return float("inf") if self.seconds is None else self.seconds

    @read_arguments
    def memory_or(self, otherwise: Natural) -> int:
        """Return the bytes that arrays may take, ``otherwise`` if nobody said."""
        return otherwise if self.memory is None else self.memory

    @read_arguments
    def spent(self, num_regions: int, began: float) -> Stop | None:
        """Return which limit has run out; None if none has.

        Parameters
        ----------
        num_regions : int
            Regions found.
        began : float
            Start of the computation by `time.time`, a clock that other processes share.

        Examples
        --------
        >>> import reluscope as rs
        >>> import time
        >>> print(rs.Budget(regions=10).spent(12, time.time()), rs.Budget(seconds=60.0).spent(12, time.time()))
        budget of 10 regions None
        """
        if self.regions is not None and num_regions >= self.regions:
            return Stop(StopReason.REGIONS, self.regions)
        if is_overdue() or (self.seconds is not None and time.time() - began >= self.seconds):
            return Stop(StopReason.SECONDS, self.seconds)
        return None

    @read_arguments
    def share_spent(self, num_regions: Natural, began: float) -> float:
        """Return how much of the budget is spent, from 0 to 1; 0 without a limit.

        Examples
        --------
        >>> import reluscope as rs
        >>> import time
        >>> rs.Budget(regions=10).share_spent(4, time.time()), rs.Budget().share_spent(4, time.time())
        (0.4, 0.0)
        """
        shares = [0.0]
        if self.regions is not None:
            shares.append(num_regions / max(1, self.regions))
        if self.seconds is not None:
            shares.append((time.time() - began) / max(self.seconds, LEAST_SECONDS))
        return min(1.0, max(shares))

    @read_arguments
    def after(self, num_regions: Natural) -> "Budget":
        """Return what is left of the budget when some regions have been found."""
        return self if self.regions is None else replace(self, regions=max(0, self.regions - num_regions))

    @read_arguments
    def room(self, num_regions: Natural) -> float:
        """Return how many regions more are asked for, infinity if there is no limit.

        Examples
        --------
        >>> import reluscope as rs
        >>> rs.Budget(regions=10).room(8), rs.Budget().room(8)
        (2, inf)
        """
        return float("inf") if self.regions is None else max(0, self.regions - num_regions)

    @read_arguments
    def first_is_due(self, num_regions: Natural, stop: Stop | None) -> bool:
        """Tell whether work that stopped for some reason has to go on to its first region."""
        if is_interrupted(stop) or is_overdue():
            return False
        return stop is not None and num_regions == 0 and self.regions != 0

    def foresee(self) -> Stop | None:
        """Return why work should not be handed out in parts at all, None if nothing speaks against it."""
        return None


def limits(*meaningful: str) -> Also:
    """Return a check that refuses a budget with other limits than those meaningful for the work."""

    def read(budget: Budget, name: str) -> Budget:
        given = [field.name for field in fields(Budget) if getattr(budget, field.name) is not None]
        if foreign := [limit for limit in given if limit not in meaningful]:
            raise InputError(
                f"{name} must limit {' or '.join(meaningful)} only, got {budget}: leave out {' and '.join(foreign)}"
            )
        return budget

    return Also(read)


# What a function's budget may limit, as the annotation of its parameter; for each, where it is no limit of the whole.
RegionBudget = Annotated[Budget, limits("regions", "seconds")]
RegionBudgetForEach = Annotated[Budget, limits("regions", "seconds"), ForEach()]
BudgetForEach = Annotated[Budget, ForEach()]
TimeBudget = Annotated[Budget, limits("seconds")]
MemoryBudget = Annotated[Budget, limits("memory")]
BlockBudget = Annotated[Budget, limits("seconds", "memory")]


def why_ended(error: BaseException) -> Stop:
    """Return why work ended with one of ``ENDS``.

    What is neither Ctrl-C nor a lack of time or memory is raised again.
    """
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, OutOfTime):
        return Stop(StopReason.SECONDS, error.seconds)
    if is_lack_of_memory(error):
        return OUT_OF_MEMORY
    raise error


def end_again(stop: Stop | None) -> BaseException:
    """Return what ends work as a part of it was ended: out of time, out of memory, or by Ctrl-C if nothing else."""
    if stop is not None and stop.reason is StopReason.SECONDS:
        return OutOfTime(stop.limit or 0.0)
    return MemoryError() if stop == OUT_OF_MEMORY else KeyboardInterrupt()


# How PyTorch's message of a lack of memory begins; without memory it is not written to its end either.
_TORCH_ON_THE_CPU = "[enforce fail at alloc_cpu"
# What Python says where an extension fails and sets no exception: NumPy's indexing does without memory.
_WITHOUT_EXCEPTION = "without exception set"


def is_lack_of_memory(error: BaseException) -> bool:
    """Whether an error is one about memory, see ``LACKS``."""
    said = str(error)
    if isinstance(error, MemoryError) or "allocate memory" in said or "out of memory" in said:
        return True
    if isinstance(error, SystemError):
        return _WITHOUT_EXCEPTION in said
    start = _TORCH_ON_THE_CPU
    return isinstance(error, RuntimeError) and (said.startswith(start) or (len(said) > 3 and start.startswith(said)))


@dataclass(frozen=True)
class Interrupted(Budget):
    """What is left after Ctrl-C: nothing."""

    def spent(self, num_regions: int, began: float) -> Stop:
        """Return that work was interrupted."""
        del num_regions, began
        return INTERRUPTED


@dataclass(frozen=True)
class Remainder(Budget):
    """What is left of a budget of seconds for one part of the work; the whole budget is what ran out."""

    whole: float = float("inf")

    @classmethod
    def of(cls, budget: Budget, until: float) -> "Remainder":
        """Return what is left of a budget that ends at a time, by `time.time`."""
        seconds = max(0.0, until - time.time())
        return cls(regions=budget.regions, seconds=seconds, memory=budget.memory, whole=budget.seconds_allowed)

    def spent(self, num_regions: int, began: float) -> Stop | None:
        """Return which limit has run out."""
        stop = super().spent(num_regions, began)
        return stop and stop.of_seconds(self.whole)
