"""Commands that repeat what papers report."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from reluscope.cli.reading.shared_options import path_of
from reluscope.cli.terminal.application import app
from reluscope.cli.terminal.common_options import Common, command

if TYPE_CHECKING:
    from reluscope.studies import Change


class StudySize(StrEnum):
    """How much of a study is done."""

    SMALL = "small"
    MEDIUM = "medium"
    FULL = "full"


@command(app, "List the studies of papers, or run them.")
def reproduce(
    study: Annotated[
        str | None,
        typer.Argument(
            metavar="[STUDY]",
            help="Key of a paper, for all its studies, or one as the list names it. Without it: the list.",
            show_default=False,
        ),
    ] = None,
    size: Annotated[
        StudySize,
        typer.Option(
            "--size",
            help="full is the paper's; medium has its data and networks, fewer of them, for two hours; small shows the "
            "same in about a minute.",
        ),
    ] = StudySize.SMALL,
    replicates: Annotated[
        int | None, typer.Option("--replicates", min=1, metavar="N", help="Networks of a kind, for those of the size.")
    ] = None,
    points: Annotated[
        int | None, typer.Option("--points", min=1, metavar="N", help="Samples that are asked about, for the size's.")
    ] = None,
    epochs: Annotated[
        int | None, typer.Option("--epochs", min=1, metavar="N", help="Epochs of training, for those of the size.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="PART", help="Parts of a study that are done, * for anything: '4+*'."),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(
            "--data",
            metavar="DATA",
            help="mnist:DIR or cifar10:DIR, each where it is needed, or digits, which the small size takes by itself.",
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="DIR", help="Folder of the results. By default reluscope-STUDY."),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds",
            min=0.0,
            metavar="S",
            help="Time for a count, or a question about points.",
        ),
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option(
            "--compare",
            metavar="DIR",
            help="Folder of an earlier run, or a book of results: says which numbers differ. Exit code 1 if any does.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Begin a study that is there already anew.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a study that is there.")] = False,
    *,
    common: Common,
) -> int:
    """List the studies of papers, or run them: networks, numbers with their claims, and the papers' figures.

    The studies are a package of their own: pip install reluscope-studies.

    Whatever is finished is kept in the folder at once. After Ctrl-C, or a crash, the same command with --resume goes
    on; with more --seconds it counts again where the time was not enough.

    \b
    Examples:
      reluscope reproduce
      reluscope reproduce serra2018 --size small -o serra2018
      reluscope reproduce serra2018/splits --size full --data mnist:data/mnist --seconds 600 -o splits
      reluscope reproduce serra2018/splits --size full --data mnist:data/mnist --seconds 3600 -o splits --resume
      reluscope reproduce sattelberg2026-ch4/hyperparameters --replicates 5 --epochs 50 -o few
      reluscope reproduce serra2018/one_input --compare studies/results
      reluscope reproduce zhang2020 --size full --data mnist:data/mnist --data cifar10:data/cifar10 -o zhang2020
    """  # noqa: D301
    if force and resume:
        raise typer.BadParameter("begin anew with --force, or go on with --resume: leave one out")

    from reluscope.cli.studies.reproduce import reproduce as run

    given: dict[Change, int | None] = {"replicates": replicates, "points": points, "epochs": epochs}
    changes: dict[Change, int] = {name: number for name, number in given.items() if number is not None}
    return run(
        study,
        size=size.value,
        changes=changes,
        only=only or [],
        data=data or [],
        output=path_of(output),
        seconds=seconds,
        compare_with=path_of(compare),
        force=force,
        resume=resume,
        common=common,
    )
