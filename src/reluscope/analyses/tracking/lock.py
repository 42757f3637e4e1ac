"""A lock on a file for as long as its holder lives: the system gives it back when the process dies."""

import contextlib
import os
import weakref
from pathlib import Path

from reluscope.errors import InputError


class Lock:
    """One holder at a time for a path, in this process and in others.

    The lock is a hidden file beside the path, removed with the lock. InputError if the lock is held already, or the
    folder cannot be written to.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(f".{path.name}.lock")
        while True:
            try:
                file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
            except OSError as error:
                raise InputError(
                    f"could not lock {path} ({error.strerror or error}): name a file in a folder that can be written to"
                ) from error
            if not _take(file):
                os.close(file)
                raise InputError(
                    f"expected {path.name} to be free, but another tracker is open on it, here or in another process: "
                    "close that one first, or name another file"
                )
            # Whoever held it before may have removed the file between our two steps.
            if _is_at(file, self._path):
                break
            os.close(file)
        self._close = weakref.finalize(self, os.close, file)

    def release(self) -> None:
        """Give the lock back, once."""
        if self._close.alive:
            if os.name != "nt":  # there an open file cannot be removed, and stays
                with contextlib.suppress(OSError):
                    os.unlink(self._path)
            self._close()


def _take(file: int) -> bool:
    """Whether the lock was free; it ends with the last descriptor of the open file."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # pyright: ignore[reportAttributeAccessIssue]
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_at(file: int, path: Path) -> bool:
    try:
        there = os.stat(path)
    except OSError:
        return False
    return os.path.samestat(os.fstat(file), there)
