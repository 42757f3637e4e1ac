"""How far long work is: one line on standard error, or in a notebook, that goes away when the work is done.

Of a long call that nobody limits or watches a warning tells, once.
"""

import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from html import escape
from pathlib import Path
from types import TracebackType
from typing import Any

# A function that is told the share of the work that is done, from 0 to 1.
ProgressFunction = Callable[[float], None]
# What users pass as ``progress``: whether to show a line, or such a function.
Progress = bool | ProgressFunction
# A bar in a notebook is drawn at most so often, in seconds: each time is a message to the browser.
INTERVAL = 0.1
# Nobody waits longer without a word, in seconds.
SILENCE = 10.0
PACKAGE = str(Path(__file__).parent)


class RegionProgress:
    """The number of regions so far, and the share of the work that is done.

    The share, from 0 to 1, is passed to ``report_share``; ``bar`` (at ``task``) and ``notebook`` show both.
    """

    def __init__(
        self,
        report_share: Callable[[float], None] | None = None,
        bar: Any = None,
        task: Any = None,
        notebook: "NotebookBar | None" = None,
    ) -> None:
        self._report_share, self._bar, self._task, self._notebook = report_share, bar, task, notebook
        self._found, self._done = 0, 0.0

    def __call__(self, number: int, share: float) -> None:
        """Say how many more things were found, and what share of the work is done by that."""
        self._found += number
        self._done += share
        if self._report_share is not None:
            self._report_share(min(1.0, self._done))
        if self._bar is not None:
            self._bar.update(self._task, advance=share, found=self._found)
        if self._notebook is not None:
            self._notebook.update(min(1.0, self._done), f"{self._found:,} regions")

    def show_tasks(self, done: int, tasks: int) -> None:
        """Say how many of the tasks that work was broken into are done."""
        if self._bar is not None:
            self._bar.update(self._task, tasks=f"{done:,} of {tasks:,} tasks")


@contextmanager
def counting_regions(work: str, progress: Progress) -> Iterator[RegionProgress | None]:
    """Yield a count that is told of regions found, and of the share of the work that they make.

    ``work`` begins the line. True shows a bar, a function is told the share done, from 0 to 1; with False there is no
    count.
    """
    if callable(progress):
        yield RegionProgress(progress)
        return
    if not progress:
        yield None
        return
    if in_notebook():
        with notebook_bar(work) as line:
            yield RegionProgress(notebook=line)
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    found = TextColumn("{task.fields[found]:,} regions")
    tasks = TextColumn("{task.fields[tasks]}", style="dim")
    columns = TextColumn("{task.description}"), BarColumn(bar_width=24), found, TimeRemainingColumn(), tasks
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        yield RegionProgress(bar=bar, task=bar.add_task(work, total=1.0, found=0, tasks=""))


@contextmanager
def share_done(work: str, progress: Progress) -> Iterator[Callable[[float], None]]:
    """Yield a function to tell the share of the work that is done, from 0 to 1.

    ``work`` begins the line. True shows a bar, False nothing, and a function is told the share itself.
    """
    if callable(progress):
        yield progress
        return
    if not progress:
        yield _say_nothing
        return
    if in_notebook():
        with notebook_bar(work) as line:
            yield line.update
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = TextColumn("{task.description}"), BarColumn(bar_width=24), TimeRemainingColumn()
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(work, total=1.0)
        yield lambda share: bar.update(task, completed=share)


def _say_nothing(share: float) -> None:
    del share


class _ToldCalls(threading.local):
    """How many calls at work in a thread are told of, by a line, by a warning, or by whoever made them."""

    calls = 0


_told = _ToldCalls()


class told(AbstractContextManager[None]):  # noqa: N801 (read as a word: with told())
    """Work that somebody tells of, or that is not to be told of: calls within it are silent."""

    def __enter__(self) -> None:
        _told.calls += 1

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        del kind, error, trace
        _told.calls -= 1


def is_told() -> bool:
    """Whether this thread is at work that somebody tells of."""
    return _told.calls > 0


class LongCall:
    """Warns once, when a call has taken ten seconds: how long the rest will take, and how to limit or to watch it."""

    def __init__(self, asked: str, *, has_budget: bool) -> None:
        self._asked, self._has_budget = asked, has_budget
        self._began, self._is_silent = time.perf_counter(), True

    def __call__(self, share: float) -> None:
        """Take the share of the work that is done, from 0 to 1."""
        took = time.perf_counter() - self._began
        if took < SILENCE or not self._is_silent:
            return
        self._is_silent = False
        left = f"takes about {_in_words(took * (1 - share) / share)} more" if share > 0 else "is at its beginning"
        limit = "budget=rs.Budget(seconds=60) limits it, " if self._has_budget else ""
        warnings.warn(
            f"{self._asked} has taken {took:.0f} s and {left}: {limit}progress=True shows how far it is, and "
            "progress=False leaves this warning out",
            stacklevel=_frames_within(),
        )


def _in_words(seconds: float) -> str:
    for unit, length in (("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(1.0, seconds):.0f} s"


def _frames_within() -> int:
    """Return how many frames up the code stands that called the library, as `warnings.warn` of the caller counts."""
    frame, number = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, number = frame.f_back, number + 1
    return number


def in_notebook() -> bool:
    """Return whether a kernel runs this process, so that a browser shows what is displayed."""
    running = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(running, "kernel")


class NotebookBar:
    """A bar in a notebook: a line of HTML under the cell, redrawn in place when enough time has passed.

    It needs IPython alone, which runs notebooks; other bars there ask for widgets.
    """

    def __init__(self, work: str, handle: Any) -> None:
        self._work, self._handle = work, handle
        self._began, self._drawn = time.perf_counter(), -INTERVAL

    def update(self, share: float, said: str = "") -> None:
        """Draw a share from 0 to 1, what else is to be said, and how long the rest will take."""
        now = time.perf_counter()
        if now - self._drawn < INTERVAL:
            return
        self._drawn = now
        left = (now - self._began) * (1 - share) / share if share > 0 else None
        words = [said, "" if left is None else f"{left:.0f} s left"]
        text = ", ".join(escape(one) for one in words if one)
        self._handle.update(_html(f'{escape(self._work)} <progress value="{share:.4f}" max="1"></progress> {text}'))


@contextmanager
def notebook_bar(work: str) -> Iterator[NotebookBar]:
    """Yield a bar in the output of the cell at work; afterwards nothing is left of it."""
    from IPython.display import display  # pyright: ignore[reportMissingImports]

    handle = display(_html(escape(work)), display_id=True)
    try:
        yield NotebookBar(work, handle)
    finally:
        handle.update(_html(""))


def _html(markup: str) -> Any:
    from IPython.display import HTML  # pyright: ignore[reportMissingImports]

    return HTML(markup)
