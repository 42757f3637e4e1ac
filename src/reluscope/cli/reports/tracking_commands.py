"""Commands about models in training."""

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

import typer

from reluscope.cli.terminal.application import app
from reluscope.cli.terminal.common_options import Common, Force, command


@command(app, "Write a report on a run that a Tracker recorded.", without=("seed", "device"))
@dataclass(frozen=True)
class TrackReportOptions:
    """Write a report on a run that a Tracker recorded: one HTML page with pictures, numbers and their claims.

    It shows codes and their changes, activation rates, regions on segments, norms of Jacobians and accuracy over
    epochs, the plane at a few epochs where one was tracked, and what recording took. The run may still be going on.

    \b
    Examples:
      reluscope track-report run.parquet
      reluscope track-report run.parquet -o run.html --force
      reluscope track-report run.parquet --json | jq '.records[-1].findings[] | {name, value, claim}'
    """  # noqa: D301

    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="The .parquet file of a reluscope.Tracker.", show_default=False),
    ]
    output: Annotated[
        tuple[Path, ...],
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="The page (.html), or what --json prints (.json); may be given several times. By default the page, "
            "beside FILE.",
        ),
    ] = ()
    force: Force = False
    _: KW_ONLY
    common: Common

    def run(self) -> int:
        """Write the page, print the last record, and return the exit code."""
        from reluscope.cli.reports.tracking_command import track_report

        return track_report(self)
