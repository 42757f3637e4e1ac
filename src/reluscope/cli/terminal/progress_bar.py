"""One bar for all of a command's work, on standard error; it vanishes at the end, and is not there in a pipe."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from reluscope.cli.terminal.common_options import Common


class Bar:
    """Shows what is being done, how much of it, and how long it will take."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("", total=None, left="")

    def say(self, what: str, share: float | None = None, remaining: float | None = None) -> None:
        """Show what is being done.

        `share` is from 0 to 1, and the bar swings without it; `remaining` is in seconds.
        """
        left = "" if remaining is None else time_left(remaining)
        total = None if share is None else 1.0
        self._progress.update(self._task, description=what, completed=share or 0.0, total=total, left=left)

    def telling(self, what: str) -> Callable[[float], None]:
        """Show what is being done, and return what is told the share of it that is done."""
        self.say(what)
        return lambda share: self.say(what, share)


def time_left(seconds: float) -> str:
    """Say how long something still takes, no more precisely than an estimate deserves."""
    if seconds < 7.5:
        return "a few s left"
    if seconds < 90:
        return f"about {5 * round(seconds / 5)} s left"
    if seconds < 5400 * 0.9:
        return f"about {round(seconds / 60)} min left"
    return f"about {seconds / 3600:.1f} h left"


def taking(seconds: float) -> str:
    """Say how long something will take, no more precisely than an estimate deserves."""
    return time_left(seconds).removesuffix(" left")


def is_watched(common: Common) -> bool:
    """Whether somebody sees progress: on a terminal, unless options hide it."""
    return Console(stderr=True).is_terminal and not common.quiet


@contextmanager
def show_progress(*, hidden: bool = False) -> Iterator[Bar]:
    """Yield a bar; it shows on a terminal only, and never if hidden."""
    console = Console(stderr=True)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[left]}", style="dim"),
    )
    quiet = hidden or not console.is_terminal
    progress = Progress(*columns, console=console, transient=True, disable=quiet)
    with nullcontext() if quiet else progress:  # what is disabled ends with an empty line before Rich 14.3
        yield Bar(progress)
