"""Independent tasks, through any executor or in this process: each counts exactly once, whatever becomes of workers.

What fails elsewhere is tried here, whatever the reason: a worker that was lost, a connection, a pickle, a machine with
less memory. What is tried here and fails for lack of memory, or has killed one worker after the other, is given up, and
said to be. Nobody is waited for without end: where no result comes back for a while, as from a scheduler that was
closed, this process begins with the last tasks itself, and whoever is first counts. It is the caller's part to make
tasks independent, and to put results together by the tasks' numbers, because they come in any order.
"""

import pickle
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeVar

from reluscope.interruption import safe_point
from reluscope.partitions.budget import INTERRUPTED, Budget

# Seconds between two looks at whether Ctrl-C was pressed.
ANSWER = 0.1
# Seconds without a result after which this process begins to do the tasks itself.
SILENCE = 60.0
OUT_OF_MEMORY, WORKERS_DIED = "out of memory", "some tasks killed every worker that tried them"

Result = TypeVar("Result")
Tell = Callable[[int, int], None]


@dataclass(frozen=True)
class Lost:
    """The result of a task that was given up: nothing was found, and what it was to do is still to be done.

    Parameters
    ----------
    stopped : str
        Why.
    """

    stopped: str
    num_regions: int = 0


def run_tasks(
    function: Callable[..., Result],
    tasks: Sequence[tuple[Any, ...]],
    executor: Executor | None = None,
    *,
    tell: Tell | None = None,
) -> Iterator[tuple[int, Result | Lost]]:
    """Yield the number and the result of every task, as they come in.

    Parameters
    ----------
    function : callable
        For processes and other machines, one that can be imported there.
    tasks : sequence of tuples
        Its arguments.
    executor : concurrent.futures.Executor, optional
        Without one, tasks are done in this process, in order.
    tell : callable, optional
        Told how many tasks are done, and how many there are.

    Yields
    ------
    index : int
    result
        What the function returned, or `Lost`.

    Notes
    -----
    Whoever stops asking cancels the tasks that have not begun. What the function raises in a worker and here again is
    raised; a worker that dies, an executor that is shut down, and a connection that breaks only move work into this
    process. A process that is pressed for memory dies without a word: dask's "killed worker" is taken for that.

    Examples
    --------
    >>> list(run_tasks(pow, [(2, 3), (3, 2)]))
    [(0, 8), (1, 9)]
    """
    if tell is not None and tasks:
        tell(0, len(tasks))
    results = _here(function, tasks, range(len(tasks))) if executor is None else _there(function, tasks, executor)
    for done, result in enumerate(results, 1):
        # Told first: once this has been yielded, it may be that nobody asks again.
        if tell is not None:
            tell(done, len(tasks))
        yield result


def _here(
    function: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], which: Iterable[int]
) -> Iterator[tuple[int, Result | Lost]]:
    for index in which:
        safe_point()
        try:
            result = function(*tasks[index])
        except (MemoryError, RuntimeError) as error:
            if not _is_lack_of_memory(error):
                raise
            result = Lost(OUT_OF_MEMORY)
        yield index, result


def _there(
    function: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], executor: Executor
) -> Iterator[tuple[int, Result | Lost]]:
    futures: dict[Future[Result], int] = {}
    done: SimpleQueue[Future[Result]] = SimpleQueue()
    # By their numbers: those that nobody has taken, and those that were asked for and have not come back.
    left, waiting = [], {}
    try:
        for index, arguments in enumerate(tasks):
            try:
                future = executor.submit(_Call(function, arguments))
            except Exception:  # it is broken, was shut down, or cannot send this
                left.append(index)
                continue
            futures[future] = index
            waiting[index] = future
        for future in futures:
            future.add_done_callback(done.put)
        patience = SILENCE
        while waiting:
            future = _next(done, patience)
            if future is None:
                index = next(reversed(waiting))
                waiting.pop(index).cancel()
                yield from _here(function, tasks, [index])
                patience = 0.0
                continue
            patience = SILENCE
            index = futures[future]
            if waiting.pop(index, None) is None:
                continue  # it was done here meanwhile
            try:
                result = future.result()
            except (BrokenExecutor, CancelledError):
                left.append(index)
            except Exception as error:
                if type(error).__name__ == "KilledWorker":  # of dask, which need not be there
                    yield index, Lost(WORKERS_DIED)
                else:
                    yield from _here(function, tasks, [index])
            else:
                yield index, result
        yield from _here(function, tasks, left)
    finally:
        for future in futures:
            future.cancel()


def _next(done: "SimpleQueue[Future[Result]]", patience: float) -> "Future[Result] | None":
    """Wait for a task to come back, and answer Ctrl-C meanwhile; return None if none does for some seconds."""
    until = time.monotonic() + patience
    while True:
        safe_point()
        rest = until - time.monotonic()
        try:
            return done.get(timeout=max(0.0, min(ANSWER, rest)))
        except Empty:
            if rest <= 0:
                return None


def _is_lack_of_memory(error: Exception) -> bool:
    """Whether an error is one about memory; PyTorch's are RuntimeErrors."""
    return isinstance(error, MemoryError) or "allocate memory" in str(error) or "out of memory" in str(error)


class Share(Protocol):
    """What one task has found."""

    @property
    def num_regions(self) -> int:
        """Regions found."""
        ...

    stopped: str


SomeShare = TypeVar("SomeShare", bound=Share)


def hand_out(
    function: Callable[..., SomeShare],
    tasks: Sequence[tuple[Any, ...]],
    executor: Executor | None,
    budget: Budget,
    tell: Tell | None = None,
) -> Iterator[tuple[int, SomeShare | Lost]]:
    """Run the tasks that work was broken into, and yield what they find until there are regions enough.

    Yields nothing if the budget foresees that the work would not end.

    Parameters
    ----------
    function, tasks, executor, tell
        See `run_tasks`. Tasks keep to the budget, too: those that begin when the time is over come back at once.
    budget : Budget
        For the tasks together.
    """
    if budget.foresee():
        return
    num_regions = 0
    for index, share in run_tasks(function, tasks, executor, tell=tell):
        yield index, share
        num_regions += share.num_regions
        if share.stopped == INTERRUPTED or (budget.regions is not None and num_regions >= budget.regions):
            return


def why_stopped(reasons: Iterable[str], budget: Budget, num_regions: int, began: float) -> str:
    """Return why tasks left work behind: what they say, what has run out, or what the budget foresaw."""
    said = set(reasons)
    if INTERRUPTED in said:
        return INTERRUPTED
    return budget.spent(num_regions, began) or max(said, default="") or budget.foresee()


class _Call:
    """A call that becomes bytes only when it is sent.

    Pickled by multiprocessing itself, every tensor would stay behind as an open file as long as its task is kept, and
    hundreds of tasks have more of them than a process may have open.
    """

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self._function = function
        self._arguments = arguments

    def __call__(self) -> Any:
        return self._function(*self._arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return _call_of, (pickle.dumps((self._function, self._arguments), protocol=pickle.HIGHEST_PROTOCOL),)


def _call_of(stored: bytes) -> _Call:
    return _Call(*pickle.loads(stored))
