"""Seconds that hold within long steps too: the one clock that passes, programs and bounds look at.

Loops that drive work look at their budget between two steps. A step that takes long is work under a `time_limit`, and
ends by `OutOfTime`, which its driver takes like Ctrl-C: what the steps before have found is kept. So a step may be left
wherever nothing is lost by it: within what a driver drives, and before anything was found. What comes after, where
results are put together, is not left.
"""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from math import inf
from time import time
from types import TracebackType
from typing import TypeVar

Found = TypeVar("Found")

# Beyond its seconds a step has so many more, or this share of them: most end by themselves, and nothing is thrown away.
LEAST_GRACE, GRACE = 0.25, 0.05


# What one thread does in a second, at most, in a decomposition of a large matrix.
PER_SECOND = 2e10


class OutOfTime(BaseException):
    """The seconds that a step had are over; no error, like KeyboardInterrupt. ``seconds`` is what the budget gave."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"out of time after {seconds:g} s")
        self.seconds = seconds


class _Thread(threading.local):
    """What a thread works within, the innermost last."""

    def __init__(self) -> None:
        self.parts: list[WorkPart] = []


_thread = _Thread()


class WorkPart(AbstractContextManager[None]):
    """A part of a thread's work, and whether it has found something that leaving would lose."""

    has_found = False
    keeps = False  # whether the part returns what it has found, whatever ends it
    is_driven = False  # whether a driver takes what ends it, and keeps what was found before
    until, seconds = inf, inf
    is_over = False  # whether its limit of time has ended work

    def __enter__(self) -> None:
        _thread.parts.append(self)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        del kind, error, trace
        _thread.parts.remove(self)
        if _thread.parts and (self.has_found or self.is_driven):
            _thread.parts[-1].has_found = not _thread.parts[-1].is_driven


class driven(WorkPart):  # noqa: N801 (read as a word: with driven())
    """Work that may be left at any time: its driver keeps what there is."""

    is_driven = True


class time_limit(WorkPart):  # noqa: N801 (read as a word: with time_limit(3.0))
    """Work that ends by `OutOfTime` some grace after its seconds are over; once, so that what is there is kept.

    So many of them are ``spent`` already. Of nested limits the first to come counts. ``asked`` is the function that was
    given the limit.
    """

    def __init__(self, seconds: float, spent: float = 0.0, asked: str = "") -> None:
        self.seconds, self.asked = seconds, asked
        self.until = time() - spent + seconds + max(LEAST_GRACE, GRACE * seconds)


def first_asked() -> time_limit | None:
    """Return the limit that a user's own call was given, None if there is none."""
    return next((part for part in _thread.parts if isinstance(part, time_limit) and part.asked), None)


def may_leave() -> bool:
    """Tell whether leaving this thread's work here loses no more than a step."""
    num_keeping = 0
    for part in reversed(_thread.parts):
        if part.has_found or part.is_driven:
            return not part.has_found
        num_keeping += part.keeps
    # Of what is part of other work that keeps what it has, nobody knows what leaving it would lose.
    return num_keeping < 2


def look_at_clock() -> None:
    """Raise `OutOfTime` if a limit is over and work may be left here."""
    look_ahead(0.0)


def look_ahead(operations: float) -> None:
    """Raise `OutOfTime` where so many floating-point operations, which nothing can end, take more time than is left."""
    if not _thread.parts:
        return
    ready = time() + operations / PER_SECOND
    over = [part for part in _thread.parts if ready >= part.until]
    if over and may_leave():
        for part in over:
            part.until = inf
            part.is_over = True
        raise OutOfTime(over[0].seconds)


def is_driven() -> bool:
    """Tell whether this thread's work is a step of something that takes what ends it."""
    return any(part.is_driven for part in _thread.parts)


def is_overdue() -> bool:
    """Tell whether a limit of time has ended this thread's work: what is left to do is to come back."""
    return any(part.is_over for part in _thread.parts)


def if_in_time(work: Callable[[], Found], otherwise: Found) -> Found:
    """Return what some work finds, something else if its time is over before."""
    try:
        with driven():
            return work()
    except OutOfTime:
        return otherwise


def seconds_left() -> float:
    """Return how long a step of this thread's work may take, infinity if nobody said."""
    return min((part.until - time() for part in _thread.parts), default=inf) if may_leave() else inf
