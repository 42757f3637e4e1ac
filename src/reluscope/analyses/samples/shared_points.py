"""Work that is done point by point, shared by an executor, with results in the order of the points."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import closing, contextmanager
from typing import Any, TypeVar

from reluscope.partitions.driver.parallel import Lost, run_tasks

Result = TypeVar("Result")


@contextmanager
def shared(
    function: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], executor: Executor
) -> Iterator[Callable[[int], Result]]:
    """Yield a function that returns the result of a task by its number, as soon as that is there.

    Other processes must be able to import ``function``. Tasks that have not begun are cancelled at the end. MemoryError
    where a task that is asked for was given up for lack of memory.
    """
    done: dict[int, Result | Lost] = {}
    with closing(run_tasks(function, tasks, executor)) as coming:  # pyright: ignore[reportArgumentType]

        def result(index: int) -> Result:
            while index not in done:
                number, found = next(coming)
                done[number] = found
            found = done.pop(index)
            if isinstance(found, Lost):
                raise MemoryError(f"point {index} was given up: {found.stop}")
            return found

        yield result
