"""Commands about numbers of regions: how many there can be, and how many there are."""

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from reluscope.cli.reading.domain_options import DomainOptions
from reluscope.cli.reading.model_arguments import LoadingOptions, ModelArguments
from reluscope.cli.reading.parsing import read_sizes
from reluscope.cli.reading.shared_options import MODEL_HELP, Box, Seconds
from reluscope.cli.terminal.application import app
from reluscope.cli.terminal.common_options import Common, JsonFile, command
from reluscope.cli.terminal.executors import ExecutorOptions


@command(app, "Show how many regions there can be.", without=("seed", "device"))
@dataclass(frozen=True)
class BoundsOptions:
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

    model: Annotated[str | None, typer.Argument(metavar="[MODEL]", help=MODEL_HELP, show_default=False)] = None
    arch: Annotated[
        tuple[int, ...] | None,
        typer.Option(
            "--arch",
            metavar="N0,N1,...",
            help="In place of a model: numbers of inputs and of the units of each layer, without the affine output.",
            parser=read_sizes,
        ),
    ] = None
    rank: Annotated[
        int, typer.Option("--rank", min=2, metavar="K", help="Pieces of every unit of --arch: more than 2 for maxout.")
    ] = 2
    box: Box = ()
    _: KW_ONLY
    file: JsonFile
    loading: LoadingOptions
    common: Common

    @property
    def loaded(self) -> ModelArguments | None:
        """The model, if there is one."""
        return None if self.model is None else self.loading.of(self.model, self.loading.weights)

    def run(self) -> int:
        """Print the bounds of an architecture or of a model, and return the exit code."""
        if (self.model is None) == (self.arch is None):
            raise typer.BadParameter("give a MODEL, or its numbers of units as in --arch 784,11,11")
        if self.arch is not None and (unfit := [*(["--box"] if self.box else []), *self.loading.given]):
            raise typer.BadParameter(f"{unfit[0]} is about a model, and --arch has no weights")
        if self.arch is None and self.rank != 2:
            raise typer.BadParameter("a model has its own pieces: leave it out", param_hint="--rank")
        if self.loaded is not None:
            self.loaded.check()

        from reluscope.cli.regions.bounds_command import bounds

        return bounds(self)


@command(app, "Count regions exactly, in any number of dimensions.")
@dataclass(frozen=True)
class CountOptions:
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

    where: DomainOptions
    workers: ExecutorOptions
    space: Annotated[bool, typer.Option("--space", help="Everywhere: all inputs, without bounds.")] = False
    definition: Annotated[
        Literal["activation", "proper_activation", "convex", "open_connected", "closed_connected", "affine"],
        typer.Option(
            "--definition",
            help="What counts as one region. activation: one code, however thin; proper_activation: one code, with an "
            "interior; convex: a cell of the smallest complex on whose cells the function is affine; open_connected, "
            "closed_connected: a largest connected set on which it is affine; affine: one affine map.",
        ),
    ] = "proper_activation"
    method: Annotated[
        Literal["auto", "cells", "partition", "tree", "mip", "probes"],
        typer.Option(
            "--method",
            help="cells and partition work on vertices, for few dimensions, and cells keeps no region; tree solves "
            "linear programs, for many inputs or few units, and counts activation regions in rational "
            "arithmetic; mip solves a mixed-integer program for each activation region found, and gives a lower "
            "bound; probes goes down random ways of the tree, as many as take ten seconds on an ordinary "
            "machine, or for --seconds, and estimates; auto chooses.",
        ),
    ] = "auto"
    regions: Annotated[
        int | None, typer.Option("--regions", min=1, metavar="N", help="Stop after so many, with a lower bound.")
    ] = None
    seconds: Seconds = None
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            metavar="DIR",
            help="Keep there what was counted, part by part; the same command goes on from it. For --method "
            "cells and tree.",
        ),
    ] = None
    _: KW_ONLY
    file: JsonFile
    model: ModelArguments
    common: Common

    def run(self) -> int:
        """Count, print the finding, and return the exit code."""
        if not self.space:
            self.where.check(or_else="--space")
        elif self.where != DomainOptions():
            raise typer.BadParameter("everywhere is one place to look: leave the others out", param_hint="--space")
        self.workers.check()
        self.model.check()

        from reluscope.cli.regions.count_command import count

        return count(self)
