"""The options for the executor, shared by all commands that can use several processes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from reluscope.cli.terminal.executors import ExecutorArguments


@dataclass(frozen=True)
class ExecutorOptions:
    """An executor: this process alone, several processes, or a cluster."""

    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, metavar="N", help="Share the work between so many processes of one thread."),
    ] = None
    dask: Annotated[
        str | None,
        typer.Option(
            "--dask", metavar="SCHEDULER", help="Share it between the workers of a dask scheduler: tcp://HOST:PORT."
        ),
    ] = None

    def read(self, *, certify: bool = False) -> "ExecutorArguments":
        """Return the options for the executor, for `reluscope.cli.terminal.executors.open_executor`.

        `certify` says that signs are decided in rational arithmetic, which is not shared. Two options, or one that
        would do nothing, raise BadParameter.
        """
        if self.workers is not None and self.dask is not None:
            raise typer.BadParameter("there is one way to share the work: leave --workers or --dask out")
        if certify and (self.workers or self.dask):
            raise typer.BadParameter("--certify works in one process: leave --workers and --dask out")

        from reluscope.cli.terminal.executors import ExecutorArguments

        return ExecutorArguments(self.workers, self.dask)
