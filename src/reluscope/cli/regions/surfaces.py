"""Commands about sets in input space that outputs decide: where one equals a level."""

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from reluscope.cli.reading.domain_options import DomainOptions
from reluscope.cli.reading.model_arguments import ModelArguments
from reluscope.cli.reading.parsing import read_difference
from reluscope.cli.terminal.application import app
from reluscope.cli.terminal.common_options import Common, Force, command
from reluscope.cli.terminal.executors import ExecutorOptions


@command(app, "Find where an output equals a level, exactly.")
@dataclass(frozen=True)
class SurfaceOptions:
    """Find where an output equals a level: a surface in three dimensions, a curve in two.

    Nothing is sampled and nothing interpolated: the surface is made of the polygons in which the level cuts linear
    regions, with shared vertices. It is closed where the box does not cut it. Ctrl-C, or the end of a budget, keeps
    what was found so far.

    \b
    Examples:
      reluscope surface distance.onnx --box -1,1 -o body.ply
      reluscope surface distance.onnx --box -1,1 --level 0.01 -o body.stl -o body.png
      reluscope surface net.onnx --box -1,1 --of 2-5 --color class -o boundary.glb
      reluscope surface net.onnx --data x.npy --samples 3,17,42 -o curve.svg
      reluscope surface net.onnx --inputs 0,4,7 --box 0,1 --json | jq .findings
    """  # noqa: D301

    model: ModelArguments
    where: DomainOptions
    workers: ExecutorOptions
    level: Annotated[float, typer.Option("--level", metavar="VALUE", help="The level.")] = 0.0
    of: Annotated[
        str,
        typer.Option(
            "--of", metavar="I[-J]", help="Which output, counted from 0, or the first of two less the second."
        ),
    ] = "0"
    plateaus: Annotated[
        Literal["below", "above"],
        typer.Option("--plateaus", help="On which side regions count on which the output equals the level everywhere."),
    ] = "below"
    regions: Annotated[
        int | None,
        typer.Option("--regions", min=1, metavar="N", help="Stop after so many cells around the level, with a part."),
    ] = None
    seconds: Annotated[
        float | None, typer.Option("--seconds", min=0.0, metavar="S", help="Stop after this time, with a part.")
    ] = None
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint", metavar="DIR", help="Keep there what was found, part by part; the same command goes on."
        ),
    ] = None
    color: Annotated[
        Literal["region", "normal", "class"] | None,
        typer.Option(
            "--color", help="What the colours of polygons mean: region, normal (not in pictures), or class beside them."
        ),
    ] = None
    output: Annotated[
        tuple[Path, ...],
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="A mesh (.ply, .obj, .glb, .stl), a picture (.svg, .png, .pdf), all of it for rs.LevelSet.load "
            "(.arrow), or what --json prints (.json); may be given several times.",
        ),
    ] = ()
    force: Force = False
    _: KW_ONLY
    common: Common

    @property
    def outputs(self) -> int | tuple[int, int]:
        """The output, or the two whose difference is meant."""
        return read_difference(self.of, "--of")

    def run(self) -> int:
        """Find the level set, print its numbers, write what is asked for, and return the exit code."""
        _ = self.outputs  # refused, if that is what it is, before any work
        self.model.check()
        self.where.check()
        self.workers.check()

        from reluscope.cli.regions.surface import surface

        return surface(self)
