"""Failures as one sentence and an exit code: 0 done, 1 something was wrong, 2 wrong usage, 130 interrupted."""

import errno
import sys
from collections.abc import Callable
from functools import wraps
from typing import NoReturn, ParamSpec

FAILED, INTERRUPTED = 1, 130

P = ParamSpec("P")


def reporting(command: Callable[P, int | None]) -> Callable[P, None]:
    """Make a command print what went wrong without a traceback, and exit with the code that it returns.

    Parameters
    ----------
    command : callable
        Returns an exit code, or None for 0.
    """

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        from reluscope.errors import ReluscopeError

        try:
            code = command(*args, **kwargs)
        except ReluscopeError as error:
            fail(str(error))
        except KeyboardInterrupt:
            fail("interrupted; nothing was written", INTERRUPTED)
        except MemoryError:
            fail("this machine has too little memory: use fewer samples (--samples) or a smaller plane (--margin)")
        except BrokenPipeError:
            sys.stderr.close()  # whoever read the output has gone; Python would complain once more
            sys.exit(FAILED)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            fail("the disk is full: free some space, or write somewhere else with -o DIR")
        sys.exit(code or 0)

    return run


def fail(sentence: str, code: int = FAILED) -> NoReturn:
    """Print a sentence to standard error and exit."""
    print(f"reluscope: {sentence}{'' if sentence.endswith('.') else '.'}", file=sys.stderr)
    sys.exit(code)
