"""Commands about models in training."""

from pathlib import Path
from typing import Annotated

import typer

from reluscope.cli.reading.shared_options import Force
from reluscope.cli.terminal.application import app
from reluscope.cli.terminal.common_options import Common, command


@command(app, "Write a report on a run that a Tracker recorded.", without=("seed", "device"))
def track_report(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The .parquet file of a reluscope.Tracker.", show_default=False)
    ],
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="The page (.html), or what --json prints (.json); may be given several times. By default the page, "
            "beside FILE.",
        ),
    ] = None,
    force: Force = False,
    *,
    common: Common,
) -> int:
    """Write a report on a run that a Tracker recorded: one HTML page with pictures, numbers and their claims.

    It shows codes and their changes, activation rates, regions on segments, norms of Jacobians and accuracy over
    epochs, the plane at a few epochs where one was tracked, and what recording took. The run may still be going on.

    \b
    Examples:
      reluscope track-report run.parquet
      reluscope track-report run.parquet -o run.html --force
      reluscope track-report run.parquet --json | jq '.records[-1].findings[] | {name, value, claim}'
    """  # noqa: D301
    from reluscope.cli.reports.tracking_command import track_report as run

    return run(Path(file), output=[Path(one) for one in output or ()], force=force, common=common)
