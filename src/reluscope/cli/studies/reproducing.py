"""Commands that repeat what papers report."""

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from reluscope.cli.terminal.application import app
from reluscope.cli.terminal.common_options import Common, command

if TYPE_CHECKING:
    from reluscope.studies import Change


@command(app, "List the studies of papers, or run them.")
@dataclass(frozen=True)
class ReproduceOptions:
    """List the studies of papers, or run them: networks, numbers with their claims, and the papers' figures.

    The studies are a package of their own: pip install reluscope-studies.

    Whatever is finished is kept in the folder at once. After Ctrl-C, or a crash, the same command with --resume goes
    on; with more --seconds it counts again where the time was not enough.

    \b
    Examples:
      reluscope reproduce
      reluscope reproduce --kick-the-tires                  short studies of every paper, in a few minutes
      reluscope reproduce serra2018 --size small -o serra2018
      reluscope reproduce zhang2020 "Figure 3"
      reluscope reproduce serra2018/splits --size full --data mnist:data/mnist --seconds 600 -o splits
      reluscope reproduce serra2018/splits --size full --data mnist:data/mnist --seconds 3600 -o splits --resume
      reluscope reproduce sattelberg2026-ch4/hyperparameters --replicates 5 --epochs 50 -o few
      reluscope reproduce serra2018/one_input --compare studies/results
      reluscope reproduce zhang2020 --size full --data mnist:data/mnist --data cifar10:data/cifar10 -o zhang2020
    """  # noqa: D301

    study: Annotated[
        str | None,
        typer.Argument(
            metavar="[STUDY]",
            help="Key of a paper, for all its studies, or one as the list names it. Without it: the list.",
            show_default=False,
        ),
    ] = None
    figure: Annotated[
        str | None,
        typer.Argument(
            metavar="[FIGURE]",
            help="Figure or table of the paper, as the list names it: what it needs is run, and nothing else.",
            show_default=False,
        ),
    ] = None
    size: Annotated[
        Literal["small", "medium", "full"],
        typer.Option(
            "--size",
            help="full is the paper's; medium has its data and networks, fewer of them, for two hours; small shows the "
            "same in about a minute.",
        ),
    ] = "small"
    replicates: Annotated[
        int | None, typer.Option("--replicates", min=1, metavar="N", help="Networks of a kind, for those of the size.")
    ] = None
    points: Annotated[
        int | None, typer.Option("--points", min=1, metavar="N", help="Samples that are asked about, for the size's.")
    ] = None
    epochs: Annotated[
        int | None, typer.Option("--epochs", min=1, metavar="N", help="Epochs of training, for those of the size.")
    ] = None
    only: Annotated[
        tuple[str, ...],
        typer.Option("--only", metavar="PART", help="Parts of a study that are done, * for anything: '4+*'."),
    ] = ()
    data: Annotated[
        tuple[str, ...],
        typer.Option(
            "--data",
            metavar="DATA",
            help="mnist:DIR or cifar10:DIR, each where it is needed, or digits, which the small size takes by itself.",
        ),
    ] = ()
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Folder of the results. By default reluscope-STUDY-FIGURE."),
    ] = None
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds",
            min=0.0,
            metavar="S",
            help="Time for a count, or a question about points.",
        ),
    ] = None
    compare: Annotated[
        Path | None,
        typer.Option(
            "--compare",
            metavar="DIR",
            help="Folder of an earlier run, or a book of results: says which numbers differ. Exit code 1 if any does.",
        ),
    ] = None
    kick_the_tires: Annotated[
        bool,
        typer.Option(
            "--kick-the-tires", help="Run the short studies of all papers, one after the other, in a few minutes."
        ),
    ] = False
    force: Annotated[bool, typer.Option("--force", help="Begin a study that is there already anew.")] = False
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a study that is there.")] = False
    _: KW_ONLY
    common: Common

    @property
    def changes(self) -> "dict[Change, int]":
        """The numbers of the size that are to be others."""
        given: dict[Change, int | None]
        given = {"replicates": self.replicates, "points": self.points, "epochs": self.epochs}
        return {what: number for what, number in given.items() if number is not None}

    @property
    def _chooses(self) -> bool:
        """Whether something is given that chooses studies, or how large they are."""
        chosen = (self.study, self.data, self.compare, self.only, self.changes)
        return any(chosen) or self.size != "small"

    def run(self) -> int:
        """List the studies, or run those of a name, and return the exit code."""
        if self.force and self.resume:
            raise typer.BadParameter("begin anew with --force, or go on with --resume: leave one out")

        if self.kick_the_tires and self._chooses:
            raise typer.BadParameter(
                "--kick-the-tires chooses what is run: leave out STUDY and options that choose others"
            )

        from reluscope.cli.studies.reproduce import reproduce, try_out

        return try_out(self) if self.kick_the_tires else reproduce(self)
