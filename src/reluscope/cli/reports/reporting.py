"""Commands that write reports."""

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from reluscope.cli.reading.model_arguments import ModelArguments, ReadingOptions, check_data
from reluscope.cli.reading.shared_options import MODEL_HELP, WEIGHTS_HELP, Data, Labels, Samples
from reluscope.cli.terminal.application import app
from reluscope.cli.terminal.common_options import Common, command
from reluscope.cli.terminal.executors import ExecutorOptions, open_executor, start_processes
from reluscope.cli.terminal.threads import count_helpers, share_threads

STARTING = 2.0  # seconds that imports take


@command(app, "Write a report on a model and data.")
@dataclass(frozen=True)
class AnalyzeOptions:
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

    model: Annotated[
        tuple[str, ...],
        typer.Argument(metavar="MODEL...", help=MODEL_HELP + " Several: side by side.", show_default=False),
    ]
    data: Data
    labels: Labels = None
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Folder of the report. By default reluscope-MODEL."),
    ] = None
    weights: Annotated[
        tuple[Path, ...],
        typer.Option("--weights", metavar="FILE", help=WEIGHTS_HELP + " Once for each model."),
    ] = ()
    samples: Samples = None
    task: Annotated[
        Literal["auto", "classification", "regression"],
        typer.Option("--task", help="What the network is for; auto decides by the labels."),
    ] = "auto"
    segments: Annotated[
        int,
        typer.Option("--segments", min=1, metavar="N", help="Segments within classes, and as many between classes."),
    ] = 50
    margin: Annotated[
        float, typer.Option("--margin", min=0.0, metavar="SHARE", help="How far the plane reaches beyond the samples.")
    ] = 0.25
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds",
            min=0.1,
            metavar="S",
            help="End work after this time for the plane, for the segments, and in shares for the rest. Without it "
            "every machine does the same work, planned for 60.",
        ),
    ] = None
    regions: Annotated[
        int, typer.Option("--regions", min=1, metavar="N", help="Most regions of the plane; a bound after.")
    ] = 300_000
    force: Annotated[bool, typer.Option("--force", help="Replace a report that is there already.")] = False
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a report that was interrupted.")] = False
    _: KW_ONLY
    reading: ReadingOptions
    common: Common

    @property
    def models(self) -> list[ModelArguments]:
        """The models, each with its weights."""
        weights = self.weights or (None,) * len(self.model)
        return [self.reading.of(name, one) for name, one in zip(self.model, weights, strict=True)]

    def run(self) -> int:
        """Write a report on one model or several and data, and return the exit code."""
        if self.weights and len(self.weights) != len(self.model):
            raise typer.BadParameter(f"expected one file for each of {len(self.model)} models", param_hint="--weights")
        for model in self.models:
            model.check()
        check_data(self.data, self.labels)
        from reluscope.cli.terminal.progress_bar import show_progress

        with show_progress(hidden=self.common.quiet) as bar:
            bar.say("Starting", None, STARTING)
            share_threads(self.common.threads)
            from reluscope.cli.reports.analyze import analyze

        return analyze(self)


@command(app, "Write a report on an embedded network.")
@dataclass(frozen=True)
class DemoOptions:
    """Write a report on an embedded network: a small convolutional classifier of scikit-learn's digits.

    The samples are 360 digits that it was not trained on.

    \b
    Example:
      reluscope demo && xdg-open reluscope-demo/report.html
    """  # noqa: D301

    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="DIR", help="Folder of the report; an earlier demo is replaced."),
    ] = Path("reluscope-demo")
    force: Annotated[bool, typer.Option("--force", help="Replace a report that is no demo.")] = False
    _: KW_ONLY
    common: Common

    def run(self) -> int:
        """Write the report of the embedded network, and return the exit code."""
        from reluscope.cli.terminal.progress_bar import show_progress

        share_threads(self.common.threads)
        number = count_helpers(self.common.threads) if self.common.device == "cpu" else 0
        with open_executor(ExecutorOptions(workers=number or None)) as executor:
            with show_progress(hidden=self.common.quiet) as bar:
                bar.say("Starting", None, STARTING)
                if executor is not None:  # others start while this process does
                    start_processes(executor, number)
                from reluscope.cli.reports.analyze import demo

            return demo(self, executor)
