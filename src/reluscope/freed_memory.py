"""Memory that was freed, given back to the system.

The C library keeps what is freed between other things for its own later use. Where many small arrays have become few
large ones, that is as much as they took, and it counts as the process's.
"""

import ctypes
from collections.abc import Callable
from functools import cache

# Less than this is left for later use: what the system takes back it has to clear when it is asked for again.
WORTHWHILE = 32 * 2**20


def give_back(freed: int = WORTHWHILE) -> None:
    """Ask the C library to give back free memory, in some milliseconds; do nothing where it cannot.

    ``freed`` is about how many bytes were let go of; fewer than `WORTHWHILE` are not asked for.
    """
    if freed < WORTHWHILE:
        return
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    try:
        return ctypes.CDLL(None).malloc_trim  # of glibc alone
    except (AttributeError, OSError, TypeError):
        return None
