"""Independent tasks, through any executor or in this process: each is done exactly once, whatever becomes of workers.

A task whose worker was lost is done here. It is the caller's part to make tasks independent, and to put results
together by the tasks' numbers, because they come in any order.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeVar

from reluscope.interruption import safe_point
from reluscope.partitions.budget import INTERRUPTED, Budget

# Seconds between two looks at whether Ctrl-C was pressed.
ANSWER = 0.1

Result = TypeVar("Result")
Tell = Callable[[int, int], None]


def run_tasks(
    function: Callable[..., Result],
    tasks: Sequence[tuple[Any, ...]],
    executor: Executor | None = None,
    *,
    tell: Tell | None = None,
) -> Iterator[tuple[int, Result]]:
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

    Notes
    -----
    Whoever stops asking cancels the tasks that have not begun. What the function raises in a worker is raised here; a
    worker that dies, an executor that is shut down, and a connection that breaks only move work into this process.

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
    function: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], which: Sequence[int]
) -> Iterator[tuple[int, Result]]:
    for index in which:
        safe_point()
        yield index, function(*tasks[index])


def _there(
    function: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], executor: Executor
) -> Iterator[tuple[int, Result]]:
    futures: dict[Future[Result], int] = {}
    done: SimpleQueue[Future[Result]] = SimpleQueue()
    lost = []
    try:
        for index, arguments in enumerate(tasks):
            try:
                futures[executor.submit(_Call(function, arguments))] = index
            except RuntimeError:  # it is broken, or was shut down
                lost.append(index)
        for future in futures:
            future.add_done_callback(done.put)
        for _ in futures:
            future = _next(done)
            try:
                result = future.result()
            except (BrokenExecutor, CancelledError):
                lost.append(futures[future])
            else:
                yield futures[future], result
        yield from _here(function, tasks, lost)
    finally:
        for future in futures:
            future.cancel()


def _next(done: "SimpleQueue[Future[Result]]") -> "Future[Result]":
    """Wait for a task to come back, and answer Ctrl-C meanwhile."""
    while True:
        safe_point()
        try:
            return done.get(timeout=ANSWER)
        except Empty:
            continue


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
) -> Iterator[tuple[int, SomeShare]]:
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
