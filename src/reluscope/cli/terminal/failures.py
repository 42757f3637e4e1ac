"""Failures as one sentence and an exit code: 0 done, 1 something was wrong, 2 wrong usage, 130 interrupted."""

import contextlib
import errno
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import typer

from reluscope.cli.terminal.ctrl_c import INTERRUPTED, has_struck
from reluscope.cli.terminal.standard_output import only_results, results
from reluscope.progress import told

FAILED = 1


@only_results()
def finish(work: Callable[[], int | None], *, debug: bool = False) -> NoReturn:
    """Do the work of a command and exit with the code it returns, 0 for None.

    `debug` prints the traceback of a failure before its sentence.
    """
    try:
        with told():
            code = work() or 0
        results().flush()
    except (typer.BadParameter, typer.Exit):
        raise  # wrong usage
    except KeyboardInterrupt:
        fail("interrupted; nothing was written", INTERRUPTED)
    except BrokenPipeError:
        _forget_output()  # whoever read it has gone; Python would complain once more at the end
        sys.exit(FAILED)
    except Exception as error:
        if has_struck():
            fail("interrupted; nothing was written", INTERRUPTED)
        if debug:
            traceback.print_exc()
        fail(sentence(error))
    sys.exit(code)


@contextlib.contextmanager
def about(path: Path) -> Iterator[None]:
    """Within, an error of reluscope's begins with the file that it is about."""
    from reluscope.errors import ReluscopeError

    try:
        yield
    except ReluscopeError as error:
        error.args = (f"{path}: {error}",)
        raise


def sentence(error: Exception) -> str:
    """Say what went wrong: what was expected, what came, and what to do."""
    from reluscope.errors import ReluscopeError

    if isinstance(error, ReluscopeError):
        return str(error)
    if isinstance(error, MemoryError):
        return "this machine has too little memory: use fewer samples (--samples) or fewer regions (--regions)"
    if isinstance(error, OSError):
        if error.errno == errno.ENOSPC:
            _forget_output()
            return "the disk is full: free some space, or write somewhere else with -o"
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or error}: check that it is there and that you may read or write it"
    first = (str(error).strip().splitlines() or [""])[0].rstrip(".")
    return (
        f"{type(error).__name__}{': ' * bool(first)}{first}, which should not happen: run it again with --debug and "
        "report the traceback"
    )


def warn(what: str) -> None:
    """Print a sentence to standard error."""
    print(f"reluscope: {what}{'' if what.endswith('.') else '.'}", file=sys.stderr)


def interrupted(what: str, num_open: int = 0) -> int:
    """Say that Ctrl-C ended the work, with how many cells unfinished, and what there is; return the exit code."""
    cells = f" with {num_open:,} {'cell' if num_open == 1 else 'cells'} unfinished" if num_open else ""
    warn(f"interrupted{cells}; {what}")
    return INTERRUPTED


def fail(what: str, code: int = FAILED) -> NoReturn:
    """Print a sentence to standard error and exit."""
    warn(what)
    sys.exit(code)


def flush() -> None:
    """Flush standard output, and go on if its reader is gone."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()


def _forget_output() -> None:
    """Discard what is still to be printed."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), results().fileno())
