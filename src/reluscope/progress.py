"""How far long work is: one line on standard error, or in a notebook, that goes away when the work is done."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

# A function that is told the share of the work that is done, from 0 to 1.
ProgressFunction = Callable[[float], None]
# What users pass as ``progress``: whether to show a line, or such a function.
Progress = bool | ProgressFunction
# A bar in a notebook is drawn at most so often, in seconds: each time is a message to the browser.
INTERVAL = 0.1


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
