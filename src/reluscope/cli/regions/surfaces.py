"""Commands about sets in input space that outputs decide: where one equals a level."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from reluscope.cli.reading.domain_options import DomainOptions
from reluscope.cli.reading.loading_options import LoadingOptions
from reluscope.cli.reading.parsing import read_difference
from reluscope.cli.reading.shared_options import Force, Model, path_of
from reluscope.cli.terminal.application import app
from reluscope.cli.terminal.common_options import Common, command
from reluscope.cli.terminal.executor_options import ExecutorOptions


class PieceColor(StrEnum):
    """Meaning of the colours of a surface."""

    REGION = "region"
    NORMAL = "normal"
    CLASS = "class"


class Side(StrEnum):
    """A side of a level."""

    BELOW = "below"
    ABOVE = "above"


@command(app, "Find where an output equals a level, exactly.")
def surface(
    model: Model,
    loading: LoadingOptions,
    where: DomainOptions,
    workers: ExecutorOptions,
    level: Annotated[float, typer.Option("--level", metavar="VALUE", help="The level.")] = 0.0,
    of: Annotated[
        str,
        typer.Option(
            "--of", metavar="I[-J]", help="Which output, counted from 0, or the first of two less the second."
        ),
    ] = "0",
    plateaus: Annotated[
        Side,
        typer.Option("--plateaus", help="On which side regions count on which the output equals the level everywhere."),
    ] = Side.BELOW,
    cells: Annotated[
        int | None,
        typer.Option("--regions", min=1, metavar="N", help="Stop after so many cells around the level, with a part."),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", min=0.0, metavar="S", help="Stop after this time, with a part.")
    ] = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--checkpoint", metavar="DIR", help="Keep there what was found, part by part; the same command goes on."
        ),
    ] = None,
    color: Annotated[
        PieceColor | None,
        typer.Option(
            "--color", help="What the colours of polygons mean: region, normal (not in pictures), or class beside them."
        ),
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="A mesh (.ply, .obj, .glb, .stl), a picture (.svg, .png, .pdf), all of it for rs.LevelSet.load "
            "(.arrow), or what --json prints (.json); may be given several times.",
        ),
    ] = None,
    force: Force = False,
    *,
    common: Common,
) -> int:
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
    chosen = read_difference(of, "--of")
    given = loading.read(model)
    place = where.read()
    shared = workers.read()

    from reluscope.budget import Budget
    from reluscope.cli.regions.surface import surface as run

    return run(
        given,
        place,
        output=chosen,
        level=level,
        plateaus=plateaus.value,
        budget=Budget(regions=cells, seconds=seconds),
        workers=shared,
        checkpoint=path_of(checkpoint),
        color=None if color is None else color.value,
        files=[Path(one) for one in output or ()],
        force=force,
        common=common,
    )
