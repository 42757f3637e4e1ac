"""The command ``reluscope``. Each command imports what it needs, so that help is printed without loading PyTorch."""

import gc
import os
from typing import TYPE_CHECKING, Any

from reluscope.cli.terminal.ctrl_c import INTERRUPTED, leave_at_once

if TYPE_CHECKING:
    from reluscope.cli.all_commands import app

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line."""
    leave_at_once()
    from reluscope.cli.all_commands import app
    from reluscope.cli.terminal.failures import flush

    try:
        app()
    except SystemExit as stop:
        if stop.code != INTERRUPTED:
            raise
    else:
        return
    # Semaphores of processes go with what holds them; where Ctrl-C struck code compiled from a string, Python would now
    # kill itself by the signal.
    gc.collect()
    flush()
    os._exit(INTERRUPTED)


def __getattr__(name: str) -> Any:
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from reluscope.cli.all_commands import app

    globals()[name] = app
    return app
