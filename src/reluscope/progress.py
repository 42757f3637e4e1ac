"""How far long work is: one line on standard error that goes away when the work is done."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Count = Callable[[int, float], None]


@contextmanager
def counting(work: str, things: str, *, shown: bool, total: float | None = None) -> Iterator[Count]:
    """Yield a callable that is told how many more things were found, and how much of the total is done by that.

    Parameters
    ----------
    work : str
        What is done; begins the line.
    things : str
        What is counted, in the plural.
    shown : bool
        Without it the callable does nothing, and nothing is imported.
    total : float, optional
        All there is to do, where that is known: then there is a bar, and the time that remains.

    Examples
    --------
    >>> with counting("partition", "regions", shown=False) as report:
    ...     report(3, 0.0)
    """
    if not shown:
        yield lambda number, done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    how_far = [SpinnerColumn()] if total is None else [BarColumn(bar_width=24)]
    found = TextColumn("{task.fields[found]:,} " + things)
    when = TimeElapsedColumn() if total is None else TimeRemainingColumn()
    columns = TextColumn("{task.description}"), *how_far, found, when
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(work, total=total, found=0)
        so_far = 0

        def report(number: int, done: float) -> None:
            nonlocal so_far
            so_far += number
            bar.update(task, advance=done, found=so_far)

        yield report
