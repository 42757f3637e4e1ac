"""Ctrl-C ends the program at once while there are no results, and raises an exception where there are some to keep.

Python's own way, an exception anywhere, ends in tracebacks when it strikes within an import, and in death by the signal
when it strikes code that was compiled from a string.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130
SENTENCE = b"reluscope: interrupted; nothing was written.\n"
CLEAR_LINE_AND_SHOW_CURSOR = b"\r\x1b[2K\x1b[?25h"

_struck = False


def leave_at_once() -> None:
    """From now on Ctrl-C ends the program with one sentence and code 130, unless signals are ignored on purpose."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


@contextmanager
def keeping_results() -> Iterator[None]:
    """Within, Ctrl-C raises KeyboardInterrupt, so that what was found so far can be kept."""
    if signal.getsignal(signal.SIGINT) is not _leave:
        yield
        return
    signal.signal(signal.SIGINT, _raise)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, _leave)


def has_struck() -> bool:
    """Whether Ctrl-C was raised as an exception, whatever libraries made of it on the way."""
    return _struck


def _leave(signum: int, frame: FrameType | None) -> NoReturn:
    del signum, frame
    if os.isatty(2):
        os.write(2, CLEAR_LINE_AND_SHOW_CURSOR)
    os.write(2, SENTENCE)
    os._exit(INTERRUPTED)


def _raise(signum: int, frame: FrameType | None) -> NoReturn:
    global _struck
    del signum, frame
    _struck = True
    raise KeyboardInterrupt
