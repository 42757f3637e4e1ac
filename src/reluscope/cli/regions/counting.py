"""Commands about numbers of regions: how many there can be, and how many there are."""

from enum import StrEnum
from typing import Annotated

import typer

from reluscope.cli.reading.domain_options import DomainOptions
from reluscope.cli.reading.loading_options import LoadingOptions
from reluscope.cli.reading.parsing import read_box, read_sizes
from reluscope.cli.reading.shared_options import (
    MODEL_HELP,
    Box,
    Force,
    JsonFile,
    Model,
    Seconds,
    path_of,
)
from reluscope.cli.terminal.application import app
from reluscope.cli.terminal.common_options import Common, command
from reluscope.cli.terminal.executor_options import ExecutorOptions


class Method(StrEnum):
    """How regions are counted."""

    AUTO = "auto"
    PARTITION = "partition"
    TREE = "tree"
    MIP = "mip"
    PROBES = "probes"


class CountedAs(StrEnum):
    """What counts as one region, from the most to the fewest."""

    ACTIVATION = "activation"
    PROPER_ACTIVATION = "proper_activation"
    CONVEX = "convex"
    OPEN_CONNECTED = "open_connected"
    CLOSED_CONNECTED = "closed_connected"
    AFFINE = "affine"


@command(app, "Show how many regions there can be.", without=("seed", "device"))
def bounds(
    model: Annotated[str | None, typer.Argument(metavar="[MODEL]", help=MODEL_HELP, show_default=False)] = None,
    arch: Annotated[
        str | None,
        typer.Option(
            "--arch",
            metavar="N0,N1,...",
            help="In place of a model: numbers of inputs and of the units of each layer, without the affine output.",
        ),
    ] = None,
    rank: Annotated[
        int, typer.Option("--rank", min=2, metavar="K", help="Pieces of every unit of --arch: more than 2 for maxout.")
    ] = 2,
    box: Box = None,
    output: JsonFile = None,
    force: Force = False,
    *,
    loading: LoadingOptions,
    common: Common,
) -> int:
    """Show upper and lower bounds on the number of linear regions, with their conditions and sources.

    Bounds that know the architecture are about the best weights: no network has more regions than an upper bound, and
    some network has as many as a lower one. A model's weights give one bound more, within a box of inputs: by default
    from 0 to 1, or --box.

    \b
    Examples:
      reluscope bounds --arch 784,11,11
      reluscope bounds --arch 2,8,8 --rank 3
      reluscope bounds net.onnx --box -1,1
      reluscope bounds net.onnx --json | jq '.bounds[] | {name, bound: .finding.value}'
    """  # noqa: D301
    if (model is None) == (arch is None):
        raise typer.BadParameter("give a MODEL, or its numbers of units as in --arch 784,11,11")
    sizes = read_sizes(arch)
    ranges = tuple(read_box(one) for one in box or ())
    if sizes is not None and (unfit := [*(["--box"] if box else []), *loading.given]):
        raise typer.BadParameter(f"{unfit[0]} is about a model, and --arch has no weights")
    if sizes is None and rank != 2:
        raise typer.BadParameter("a model has its own pieces: leave it out", param_hint="--rank")

    given = None if model is None else loading.read(model)

    from reluscope.cli.regions.bounds import bounds as run

    return run(given, sizes, rank=rank, box=ranges, output=path_of(output), force=force, common=common)


@command(app, "Count regions exactly, in any number of dimensions.")
def count(
    model: Model,
    where: DomainOptions,
    workers: ExecutorOptions,
    space: Annotated[bool, typer.Option("--space", help="Everywhere: all inputs, without bounds.")] = False,
    definition: Annotated[
        CountedAs,
        typer.Option(
            "--definition",
            help="What counts as one region. activation: one code, however thin; proper_activation: one code, with an "
            "interior; convex: a cell of the smallest complex on whose cells the function is affine; open_connected, "
            "closed_connected: a largest connected set on which it is affine; affine: one affine map.",
        ),
    ] = CountedAs.PROPER_ACTIVATION,
    method: Annotated[
        Method,
        typer.Option(
            "--method",
            help="partition works on vertices, for few dimensions; tree solves linear programs, for many inputs or few "
            "units, and counts activation regions in rational arithmetic; mip solves a mixed-integer program for each "
            "activation region found, and gives a lower bound; probes goes down random ways of the tree, as many as "
            "take ten seconds on an ordinary machine, or for --seconds, and estimates; auto chooses.",
        ),
    ] = Method.AUTO,
    regions: Annotated[
        int | None, typer.Option("--regions", min=1, metavar="N", help="Stop after so many, with a lower bound.")
    ] = None,
    seconds: Seconds = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--checkpoint",
            metavar="DIR",
            help="Keep there what was counted, part by part; the same command goes on from it. For --method tree.",
        ),
    ] = None,
    output: JsonFile = None,
    force: Force = False,
    *,
    loading: LoadingOptions,
    common: Common,
) -> int:
    """Count the exact linear regions of a network in a box, on a plane or a segment, or everywhere.

    Nothing is sampled. EXACT means that every region is counted once. Ctrl-C, or the end of a budget, leaves a LOWER
    bound: those found so far, and one for every cell that was not finished. Without a budget or a checkpoint, so does a
    count that would not end. Regions have six published definitions,
    of which each counts at most as many as the one before; by default they are sets with one code and an interior.

    \b
    Examples:
      reluscope count net.onnx --box 0,1                     all inputs between 0 and 1
      reluscope count net.onnx --box 0,1 --seconds 60
      reluscope count net.onnx --box 0,1 --method probes     about how many, in seconds
      reluscope count net.onnx --box 0,1 --workers 4 --checkpoint counted
      reluscope count net.onnx --space
      reluscope count net.onnx --data x.npy --samples 3,17,21
      reluscope count net.onnx --data x.npy --samples 3,17,21 --definition affine
      reluscope count net.onnx --box -1,1 --json | jq .findings[0].value
    """  # noqa: D301
    if space and any(one is not None for one in vars(where).values()):
        raise typer.BadParameter("everywhere is one place to look: leave the others out", param_hint="--space")
    place = None if space else where.read(or_else="--space")
    shared = workers.read()
    given = loading.read(model)

    from reluscope.budget import Budget
    from reluscope.cli.regions.count_command import count as run

    return run(
        given,
        place,
        definition=definition.value,
        method=method.value,
        budget=Budget(regions=regions, seconds=seconds),
        workers=shared,
        checkpoint=path_of(checkpoint),
        output=path_of(output),
        force=force,
        common=common,
    )
