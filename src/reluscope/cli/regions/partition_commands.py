"""The command that finds all regions of a domain."""

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from reluscope.cli.reading.domain_options import DomainOptions
from reluscope.cli.reading.model_arguments import ModelArguments
from reluscope.cli.reading.shared_options import Seconds
from reluscope.cli.terminal.application import app
from reluscope.cli.terminal.common_options import Common, Force, command
from reluscope.cli.terminal.executors import ExecutorOptions

# What a shell completes; quantities of regions are known when the model is loaded.
COLORS = ("activation_rate", "class", "area", "random", "gate")


@command(app, "Count, draw and save the exact regions of a plane, a segment or a box.")
@dataclass(frozen=True)
class PartitionOptions:
    """Count the exact regions of a network on a plane, a segment or a box; draw them and save them.

    Inside a region the network is one affine map. Nothing is sampled: EXACT means that every region is there. Ctrl-C,
    or the end of a budget, keeps those found so far, and the count is then a LOWER bound.

    \b
    Examples, for a plane through three samples:
      reluscope partition net.onnx --data x.npy -o plane.svg
      reluscope partition net.onnx --data x.npy --samples 3,17,42 --margin 0.5 --color class -o plane.png
    For a segment between two samples:
      reluscope partition net.onnx --data x.npy --samples 3,17
    For a box of a network with one or two inputs, or of two inputs of any network:
      reluscope partition small.onnx --box -1,1 -o folder
      reluscope partition net.onnx --inputs 0,4 --box -1,1 --box 0,10
    For three points of your own:
      reluscope partition net.onnx --plane points.npy -o plane.svg -o plane.arrow --seconds 10
    For a box of more inputs, to be saved and not drawn:
      reluscope partition net.onnx --box 0,1 --method tree -o regions.arrow
    With quantities of every region, in the results and in the table:
      reluscope partition net.onnx --box -1,1 --measure inradius --measure map_norm -o regions.parquet
    For more regions than memory holds:
      reluscope partition net.onnx --box -1,1 --stream regions.parquet --regions 20000000
    With four processes:
      reluscope partition net.onnx --data x.npy --workers 4
    """  # noqa: D301

    where: DomainOptions
    workers: ExecutorOptions
    method: Annotated[
        Literal["auto", "incidence", "cellwise", "tree"] | None,
        typer.Option(
            "--method",
            help="Allows boxes of more than two inputs, without a picture: incidence and cellwise keep corners, for "
            "few dimensions; tree solves linear programs, for any number; auto chooses.",
            show_default=False,
        ),
    ] = None
    regions: Annotated[
        int, typer.Option("--regions", min=1, metavar="N", help="Stop after so many regions, with a lower bound.")
    ] = 1_000_000
    seconds: Seconds = None
    certify: Annotated[
        bool,
        typer.Option(
            "--certify",
            help="Decide every doubtful sign in rational arithmetic, and check a certificate; for small networks.",
        ),
    ] = False
    color: Annotated[
        str | None,
        typer.Option(
            "--color",
            metavar="NAME",
            help="What the colours of the picture mean: class, area, random, gate, or a quantity as for --measure; by "
            "default activation_rate, the share of active units.",
            autocompletion=lambda: list(COLORS),
        ),
    ] = None
    measure: Annotated[
        tuple[str, ...],
        typer.Option(
            "--measure",
            metavar="NAME",
            help="A quantity of every region for the table of regions, and its median: volume, inradius, map_norm or "
            "another, also one that is declared beside the model; all for every one there is; may be given several "
            "times.",
        ),
    ] = ()
    output: Annotated[
        tuple[Path, ...],
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="A picture (.svg, .png, .pdf), the partition (.arrow), a table of regions (.parquet), what --json "
            "prints (.json), or a folder for all of them; with --certify also what proves it (.certificate); may be "
            "given several times.",
        ),
    ] = ()
    stream: Annotated[
        Path | None,
        typer.Option(
            "--stream",
            metavar="FILE",
            help="A table of regions (.parquet) that they go to as they are found, for more of them than memory holds; "
            "without a picture.",
        ),
    ] = None
    force: Force = False
    _: KW_ONLY
    model: ModelArguments
    common: Common

    def run(self) -> int:
        """Partition into memory or into a file, and return the exit code."""
        self.model.check()
        self.where.check()
        self.workers.check(certify=self.certify)

        if self.stream is not None:
            from reluscope.cli.regions.streamed_command import stream_partition

            return stream_partition(self, self.stream)
        from reluscope.cli.regions.partition_command import partition

        return partition(self)
