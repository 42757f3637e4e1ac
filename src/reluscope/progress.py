"""How far long work is: one line on standard error that goes away when the work is done."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Count:
    """What there is so far; shown on a bar, if there is one.

    Parameters
    ----------
    bar : rich.progress.Progress, optional
    task : int, optional
        Of that bar.
    """

    def __init__(self, bar: Any = None, task: Any = None) -> None:
        self._bar, self._task = bar, task
        self._found = 0

    def __call__(self, number: int, done: float) -> None:
        """Say how many more things were found, and how much of the total is done by that."""
        if self._bar is not None:
            self._found += number
            self._bar.update(self._task, advance=done, found=self._found)

    def tell(self, done: int, tasks: int) -> None:
        """Say how many of the tasks that work was broken into are done."""
        if self._bar is not None:
            self._bar.update(self._task, tasks=f"{done:,} of {tasks:,} tasks")


@contextmanager
def counting(work: str, things: str, *, shown: bool, total: float | None = None) -> Iterator[Count]:
    """Yield a count that is told how many more things were found, and how much of the total is done by that.

    Parameters
    ----------
    work : str
        What is done; begins the line.
    things : str
        What is counted, in the plural.
    shown : bool
        Without it the count does nothing, and nothing is imported.
    total : float, optional
        All there is to do, where that is known: then there is a bar, and the time that remains.

    Examples
    --------
    >>> with counting("partition", "regions", shown=False) as report:
    ...     report(3, 0.0)
    """
    if not shown:
        yield Count()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    how_far = [SpinnerColumn()] if total is None else [BarColumn(bar_width=24)]
    found = TextColumn("{task.fields[found]:,} " + things)
    when = TimeElapsedColumn() if total is None else TimeRemainingColumn()
    tasks = TextColumn("{task.fields[tasks]}", style="dim")
    columns = TextColumn("{task.description}"), *how_far, found, when, tasks
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield Count(bar, bar.add_task(work, total=total, found=0, tasks=""))
