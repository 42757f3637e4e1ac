"""Commands that write reports."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from reluscope.cli.reading.loading_options import ReadingOptions
from reluscope.cli.reading.model_arguments import check_data
from reluscope.cli.reading.shared_options import (
    MODEL_HELP,
    WEIGHTS_HELP,
    Data,
    Labels,
    Samples,
    path_of,
)
from reluscope.cli.terminal import BEGAN
from reluscope.cli.terminal.application import app
from reluscope.cli.terminal.common_options import Common, command
from reluscope.cli.terminal.executors import ExecutorArguments, open_executor, start_processes
from reluscope.cli.terminal.progress_bar import show_progress
from reluscope.cli.terminal.threads import count_helpers, share_threads

STARTING = 2.0  # seconds that imports take


class Task(StrEnum):
    """What the outputs of a network are."""

    AUTO = "auto"
    CLASSIFICATION = "classification"
    REGRESSION = "regression"


@command(app, "Write a report on a model and data.")
def analyze(
    model: Annotated[
        list[str], typer.Argument(metavar="MODEL...", help=MODEL_HELP + " Several: side by side.", show_default=False)
    ],
    data: Data,
    labels: Labels = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="DIR", help="Folder of the report. By default reluscope-MODEL."),
    ] = None,
    weights: Annotated[
        list[str] | None, typer.Option("--weights", metavar="FILE", help=WEIGHTS_HELP + " Once for each model.")
    ] = None,
    samples: Samples = None,
    task: Annotated[
        Task, typer.Option("--task", help="What the network is for; auto decides by the labels.")
    ] = Task.AUTO,
    segments: Annotated[
        int,
        typer.Option("--segments", min=1, metavar="N", help="Segments within classes, and as many between classes."),
    ] = 50,
    margin: Annotated[
        float, typer.Option("--margin", min=0.0, metavar="SHARE", help="How far the plane reaches beyond the samples.")
    ] = 0.25,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds",
            min=0.1,
            metavar="S",
            help="End work after this time for the plane, for the segments, and in shares for the rest. Without it "
            "every machine does the same work, planned for 60.",
        ),
    ] = None,
    regions: Annotated[
        int, typer.Option("--regions", min=1, metavar="N", help="Most regions of the plane; a bound after.")
    ] = 300_000,
    force: Annotated[bool, typer.Option("--force", help="Replace a report that is there already.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a report that was interrupted.")] = False,
    *,
    reading: ReadingOptions,
    common: Common,
) -> int:
    """Write a report on a model and data: one HTML page, and its numbers as JSON.

    The page shows the network as it was loaded and checked, how well it fits the labels, distinct codes, the exact
    regions on a plane through three samples, how many regions lie between samples, how large regions at samples are,
    what lies around them, which classes live in them, and how far another class is. Every number carries its claim.

    \b
    Examples:
      reluscope analyze net.onnx --data x.npy --labels y.npy
      reluscope analyze net.pt2 --data mnist:data/mnist -o report
      reluscope analyze models:make --weights net.safetensors --data x.csv --input-shape 1,28,28
      reluscope analyze net.onnx --data x.npz --json | jq .sections.plane.findings
      reluscope analyze before.onnx after.onnx --data x.npz     two models in columns
      reluscope analyze net.onnx --data x.npz --resume          after Ctrl-C
    """  # noqa: D301
    given = weights or []
    if given and len(given) != len(model):
        raise typer.BadParameter(f"expected one file for each of {len(model)} models", param_hint="--weights")
    models = [reading.of(name, given[place] if given else None) for place, name in enumerate(model)]
    check_data(data, labels)
    with show_progress(hidden=common.quiet) as bar:
        bar.say("Starting", None, STARTING)
        share_threads(common.threads)
        from reluscope.cli.reports.analyze import analyze as run
        from reluscope.report.parts.subject import Settings

    return run(
        models,
        data,
        labels=path_of(labels),
        output=path_of(output),
        samples=samples,
        settings=Settings(
            seed=common.seed, margin=margin, num_segments=segments, seconds=seconds, regions=regions, task=task.value
        ),
        force=force,
        resume=resume,
        common=common,
        began=BEGAN,
    )


@command(app, "Write a report on an embedded network.")
def demo(
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="DIR", help="Folder of the report; an earlier demo is replaced."),
    ] = "reluscope-demo",
    force: Annotated[bool, typer.Option("--force", help="Replace a report that is no demo.")] = False,
    *,
    common: Common,
) -> int:
    """Write a report on an embedded network: a small convolutional classifier of scikit-learn's digits.

    The samples are 360 digits that it was not trained on.

    \b
    Example:
      reluscope demo && xdg-open reluscope-demo/report.html
    """  # noqa: D301
    share_threads(common.threads)
    number = count_helpers(common.threads) if common.device == "cpu" else 0
    with open_executor(ExecutorArguments(workers=number or None)) as executor:
        with show_progress(hidden=common.quiet) as bar:
            bar.say("Starting", None, STARTING)
            if executor is not None:  # others start while this process does
                start_processes(executor, number)
            from reluscope.cli.reports.analyze import demo as run
            from reluscope.report.parts.subject import Settings

        settings = Settings(seed=common.seed)
        return run(Path(output), settings=settings, force=force, common=common, began=BEGAN, executor=executor)
