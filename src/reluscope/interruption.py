"""Ctrl-C where nothing is lost by it: a strike is noted at once, and answered where work is safe to leave.

Python raises KeyboardInterrupt wherever the main thread happens to be: between two lines that belong together it leaves
half of something behind. So long work runs ``deferred``: a strike
only leaves a note, and the loop that drives the work asks for it between two steps, at a `safe_point`, which does what
the strike would have done before, as a rule by raising KeyboardInterrupt. Functions that keep what they have found are
`held`. Passes through a network and programs have safe points too, which look at the clock (`reluscope.time_limits`)
and answer nothing where results are put together.

Nothing of this happens outside the main thread, where no signal arrives, nor where SIGINT is ignored on purpose.
"""

import signal
import threading
import time
from collections.abc import Callable
from functools import wraps
from types import FrameType, TracebackType
from typing import Any, TypeVar, cast

from reluscope.time_limits import WorkPart, look_at_clock, may_leave

# Whoever strikes again after so many seconds without an answer wants to leave, whatever becomes of the work.
PATIENCE = 5.0

Function = TypeVar("Function", bound=Callable[..., Any])
Handler = Callable[[int, FrameType | None], Any]


class _Deferred:
    """What Ctrl-C did before it was deferred, when it struck first without an answer, and how many blocks are open."""

    before: Handler | None = None
    struck: float | None = None
    depth: int = 0


class deferred(WorkPart):  # noqa: N801 (read as a verb: with deferred())
    """Within, Ctrl-C takes effect at a `safe_point` or at the end, and nowhere else.

    Nested blocks are one block, the outermost. The handler from before decides what Ctrl-C does; a second one acts like
    the first, but at once if that got no answer for five seconds.
    """

    keeps = True

    def __enter__(self) -> None:
        super().__enter__()
        self._is_outermost = _begin()
        self._is_counted = threading.current_thread() is threading.main_thread()
        _Deferred.depth += self._is_counted

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        super().__exit__(kind, error, trace)
        _Deferred.depth -= self._is_counted
        if self._is_outermost:
            _end()


class left_from_within(deferred):  # noqa: N801 (read as words: with left_from_within())
    """Within, Ctrl-C is noted as in ``deferred``, for a step that asks `would_leave` and keeps nothing itself."""

    keeps = False


def safe_point() -> None:
    """Answer Ctrl-C if it has struck: as a rule by raising KeyboardInterrupt."""
    if _Deferred.struck is not None and threading.current_thread() is threading.main_thread():
        before, _Deferred.struck = _Deferred.before, None
        if before is not None:
            before(signal.SIGINT, None)


def step_point() -> None:
    """Answer Ctrl-C and look at the clock, unless results are put together here: for whatever takes long in a step."""
    look_at_clock()
    if would_leave():
        safe_point()


def would_leave() -> bool:
    """Tell whether Ctrl-C has struck and a step point would answer it here: for steps that are left from within."""
    return is_struck() and threading.current_thread() is threading.main_thread() and may_leave()


def has_struck() -> bool:
    """Tell, once, whether Ctrl-C has struck since it was deferred: for work that comes to its end all the same."""
    struck, _Deferred.struck = _Deferred.struck is not None and _Deferred.before is not None, None
    return struck


def is_struck() -> bool:
    """Tell whether Ctrl-C has struck since it was deferred, and leave the answer to others."""
    return _Deferred.struck is not None and _Deferred.before is not None


def pass_on() -> None:
    """Strike once more: what was within has answered Ctrl-C and returned, and what it is part of is to hear of it."""
    if _Deferred.before is not None and threading.current_thread() is threading.main_thread():
        _Deferred.struck = time.monotonic()


def is_part() -> bool:
    """Tell whether this block is within another one, whose results say what became of Ctrl-C."""
    return _Deferred.depth > 1 and threading.current_thread() is threading.main_thread()


def held(function: Function) -> Function:
    """Return a function that Ctrl-C does not interrupt before it returns, except where it asks for it."""

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        with deferred():
            return function(*arguments, **named)

    return cast(Function, call)


def _begin() -> bool:
    """Take note of strikes from now on; return whether nobody did before."""
    if _Deferred.before is not None or threading.current_thread() is not threading.main_thread():
        return False
    before = signal.getsignal(signal.SIGINT)
    if not callable(before):
        return False  # ignored, or the end of the process, on purpose
    _Deferred.struck = None
    # In this order: a strike before the handler changes takes effect here, where nothing has begun.
    signal.signal(signal.SIGINT, _note)
    _Deferred.before = before
    return True


def _end() -> None:
    """Give Ctrl-C back, and answer a strike that nobody asked for."""
    before = _Deferred.before
    if before is None:
        return  # given back already, to somebody without patience
    # In this order: once the handler has changed, it may raise.
    _Deferred.before = None
    signal.signal(signal.SIGINT, before)
    struck, _Deferred.struck = _Deferred.struck, None
    if struck is not None:
        before(signal.SIGINT, None)


def _note(signum: int, frame: FrameType | None) -> None:
    now = time.monotonic()
    if _Deferred.struck is None:
        _Deferred.struck = now
    elif now - _Deferred.struck > PATIENCE and _Deferred.before is not None:
        before, _Deferred.before, _Deferred.struck = _Deferred.before, None, None
        signal.signal(signal.SIGINT, before)
        before(signum, frame)
