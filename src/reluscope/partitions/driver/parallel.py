"""Independent tasks, through any executor or in this process: each counts exactly once, whatever becomes of workers.

What fails elsewhere is tried here, whatever the reason: a worker that was lost, a connection, a pickle, a machine with
less memory. What is tried here and fails for lack of memory, or has killed one worker after the other, is given up, and
said to be. Nobody is waited for without end: dask's futures stay pending for ever when a scheduler is closed or its
last worker leaves; where no result comes back for a while and nobody is at work, this process does the tasks itself,
the last ones first, and whoever is first counts. It is the caller's part to make tasks independent, and to put results
together by the tasks' numbers, because they come in any order.
"""

import pickle
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from reluscope.budget import LACKS, is_lack_of_memory
from reluscope.interruption import safe_point
from reluscope.stopping import OUT_OF_MEMORY, Stop, StopReason

# Seconds between two checks whether Ctrl-C was pressed.
SECONDS_BETWEEN_CHECKS = 0.1
# Seconds without a result after which a scheduler is asked whether it is there, and seconds that its reply may take.
# That it has no workers is believed at the fifth time: a nanny starts new ones.
SECONDS_OF_SILENCE, SECONDS_OF_REPLY, MAX_TIMES_WITHOUT_WORKERS = 30.0, 15.0, 5
# Tasks sent before results are there: so many for each worker, no fewer in all. Seconds between two counts of workers.
AHEAD_OF_EACH, FEWEST_AHEAD, SECONDS_OF_COUNT = 4, 64, 10.0

Result = TypeVar("Result")
Report = Callable[[int, int], None]


@dataclass(frozen=True)
class Lost:
    """The result of a task that was given up: nothing was found, and its work is still to be done."""

    stop: Stop


def run_tasks(
    function: Callable[..., Result],
    tasks: Sequence[tuple[Any, ...]],
    executor: Executor | None = None,
    *,
    report: Report | None = None,
) -> Iterator[tuple[int, Result | Lost]]:
    """Yield the number and the result, or `Lost`, of every task, as they come in.

    Closing the iterator cancels tasks not begun. What the function raises in a worker and here again is raised; dead
    workers, executors that are shut down and broken connections move work into this process.
    """
    if report is not None and tasks:
        report(0, len(tasks))
    results = _here(function, tasks, range(len(tasks))) if executor is None else _there(function, tasks, executor)
    for done, result in enumerate(results, 1):
        # Reported first: once this has been yielded, it may be that nobody asks again.
        if report is not None:
            report(done, len(tasks))
        yield result


def _here(
    function: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], which: Iterable[int]
) -> Iterator[tuple[int, Result | Lost]]:
    for index in which:
        safe_point()
        try:
            result = function(*tasks[index])
        except LACKS as error:
            if not is_lack_of_memory(error):
                raise
            result = Lost(OUT_OF_MEMORY)
        yield index, result


def _there(
    function: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], executor: Executor
) -> Iterator[tuple[int, Result | Lost]]:
    done: SimpleQueue[Future[Result]] = SimpleQueue()
    # By their numbers: those that nobody has taken, and those that were asked for and have not come back.
    left: list[int] = []
    waiting: dict[int, Future[Result]] = {}
    numbers: dict[Future[Result], int] = {}
    coming, ahead, watch = iter(range(len(tasks))), _Ahead(executor), _Watch(executor)

    def send() -> None:
        """Ask for tasks as long as there is room for them."""
        while not watch.is_alone and ahead.has_room(len(waiting)) and (index := next(coming, None)) is not None:
            try:
                future = executor.submit(_Call(function, tasks[index]))
            except Exception:  # it is broken, was shut down, or cannot send this
                left.append(index)
                continue
            numbers[future], waiting[index] = index, future
            future.add_done_callback(done.put)

    try:
        send()
        while waiting:
            future = _next(done, 0.0 if watch.is_alone else SECONDS_OF_SILENCE)
            if future is None:
                if watch.is_alone or watch.nobody_is_there():
                    index = next(reversed(waiting))
                    waiting.pop(index).cancel()
                    yield from _here(function, tasks, [index])
                continue
            index = numbers.pop(future)
            if waiting.pop(index, None) is None:
                continue  # it was done here meanwhile
            watch = _Watch(executor)
            send()
            try:
                result = future.result()
            except (BrokenExecutor, CancelledError):
                left.append(index)
            except Exception as error:
                if type(error).__name__ == "KilledWorker":  # of dask, which need not be there
                    yield index, Lost(Stop(StopReason.WORKERS_DIED))
                else:
                    yield from _here(function, tasks, [index])
            else:
                yield index, result
        yield from _here(function, tasks, [*left, *coming])
    finally:
        for future in waiting.values():
            future.cancel()


class _Ahead:
    """How many tasks are sent before results are there: enough that no worker waits.

    All of thousands at once would fill the memory of dask's scheduler, and come back in any order, so that much of what
    was done would not be kept when work is stopped. Workers may come later, so that they are counted anew.
    """

    def __init__(self, executor: Executor) -> None:
        self._executor, self._number, self._counted = executor, FEWEST_AHEAD, -SECONDS_OF_COUNT

    def has_room(self, number: int) -> bool:
        """Return whether another task may be sent when so many have not come back."""
        if number >= self._number and time.monotonic() - self._counted > SECONDS_OF_COUNT:
            self._number = max(FEWEST_AHEAD, AHEAD_OF_EACH * self._num_workers())
            self._counted = time.monotonic()
        return number < self._number

    def _num_workers(self) -> int:
        client = getattr(self._executor, "_client", None)
        if client is None:
            return getattr(self._executor, "_max_workers", None) or 0
        try:
            workers = client.sync(client.scheduler.identity, callback_timeout=SECONDS_OF_REPLY)["workers"]
            return sum(int(one["nthreads"]) for one in workers.values())
        except Exception:  # it is closed, cut off, or does not reply: others find that out
            return 0


class _Watch:
    """Whether anybody does an executor's tasks, since the last result came back.

    Pools of processes say themselves that they are broken; dask's client does not.
    """

    def __init__(self, executor: Executor) -> None:
        self._client = getattr(executor, "_client", None)
        self._times_without_workers = 0
        self.is_alone = False

    def nobody_is_there(self) -> bool:
        """Ask the scheduler, if there is one."""
        if self._client is None:
            return False
        try:
            workers = self._client.sync(self._client.scheduler.identity, callback_timeout=SECONDS_OF_REPLY)["workers"]
        except Exception:  # it is closed, cut off, or does not reply
            self.is_alone = True
        else:
            self._times_without_workers = 0 if workers else self._times_without_workers + 1
            self.is_alone = self._times_without_workers >= MAX_TIMES_WITHOUT_WORKERS
        return self.is_alone


def _next(done: "SimpleQueue[Future[Result]]", patience: float) -> "Future[Result] | None":
    """Wait for a task to come back, and answer Ctrl-C meanwhile; return None if none does for some seconds."""
    until = time.monotonic() + patience
    while True:
        safe_point()
        rest = until - time.monotonic()
        try:
            return done.get(timeout=max(0.0, min(SECONDS_BETWEEN_CHECKS, rest)))
        except Empty:
            if rest <= 0:
                return None


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
