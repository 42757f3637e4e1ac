"""Memory that was freed, given back to the system.

The C library keeps what is freed between other things for its own later use. Where many small arrays have become few
large ones, that is as much as they took, and it counts as the process's.
"""

import ctypes
from collections.abc import Callable
from functools import cache


def give_back() -> None:
    """Ask the C library to give back what is free, in some milliseconds; nothing happens where it cannot.

    Examples
    --------
    >>> give_back()
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    try:
        return ctypes.CDLL(None).malloc_trim  # of glibc alone
    except (AttributeError, OSError, TypeError):
        return None
