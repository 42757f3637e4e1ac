"""Standard output holds a command's results; whatever else a library prints there goes to standard error."""

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TextIO

_results: TextIO | None = None


def results() -> TextIO:
    """Return the stream of results: while a command works that of `only_results`, else `sys.stdout`."""
    return sys.stdout if _results is None else _results


@contextlib.contextmanager
def only_results() -> Iterator[None]:
    """Within, standard output takes what is written to `results` alone.

    ``print`` and the descriptor 1, which libraries in C and child processes write to, lead to standard error. The
    descriptor stays there: C's buffers are flushed when the process ends.
    """
    global _results
    before = sys.stdout
    _results = _on_its_own_descriptor(before)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        if _results is not before:
            with contextlib.suppress(OSError):
                _results.close()
        _results = None


def _on_its_own_descriptor(stream: TextIO | None) -> TextIO:
    """Return a stream to where descriptor 1 leads if ``stream`` writes to it; then lead 1 to standard error."""
    if stream is None:  # standard output is closed
        return open(os.devnull, "w", encoding="utf-8")
    try:
        if stream.fileno() != 1:
            return stream
    except (OSError, ValueError):  # a buffer in memory
        return stream
    stream.flush()
    elsewhere = os.open(os.devnull, os.O_WRONLY) if sys.stderr is None else 2
    own = os.dup(1)
    os.dup2(elsewhere, 1)
    return open(own, "w", encoding=stream.encoding, errors=stream.errors, buffering=1 if stream.isatty() else -1)
