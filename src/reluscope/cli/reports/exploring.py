"""Commands that show a network to look at: on a page of this machine, and in a file."""

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

import typer

from reluscope.cli.reading.model_arguments import LoadingOptions, ModelArguments, check_data, is_factory
from reluscope.cli.reading.parsing import complete_problem
from reluscope.cli.reading.shared_options import MODEL_HELP, AnyData, Labels, Samples
from reluscope.cli.terminal.application import app
from reluscope.cli.terminal.common_options import Common, Force, command

STARTING = 2.0  # seconds that imports take


@dataclass(frozen=True)
class SceneOptions:
    """The model and data that a command shows; without a model, the embedded network."""

    model: Annotated[str | None, typer.Argument(metavar="MODEL", help=MODEL_HELP, show_default=False)] = None
    data: AnyData = None
    labels: Labels = None
    demo: Annotated[
        bool, typer.Option("--demo", help="Look at the embedded network of digits, without MODEL and --data.")
    ] = False
    _: KW_ONLY
    loading: LoadingOptions
    common: Common

    @property
    def loaded(self) -> ModelArguments | None:
        """The model, if there is one."""
        return None if self.model is None else self.loading.of(self.model, self.loading.weights)

    def check(self, samples: int | None) -> None:
        """Refuse what makes no sense together, and files that are not there."""
        others = {"MODEL": self.model, "--data": self.data, "--labels": self.labels}
        given = [*(name for name, value in others.items() if value is not None), *self.loading.given]
        if self.demo and given:
            raise typer.BadParameter(
                f"the embedded network brings its own data: leave {given[0]} out", param_hint="--demo"
            )
        if not self.demo and self.model is None:
            raise typer.BadParameter("expected a model: name one, or add --demo", param_hint="MODEL")
        if self.data is None and not self.demo:
            for name, value in (("--labels", self.labels), ("--samples", samples)):
                if value is not None:
                    raise typer.BadParameter("this is about --data, which is missing", param_hint=name)
        check_data(self.data, self.labels)
        if self.loaded is not None:
            self.loaded.check()


@command(app, "Look at a network's regions on a page of this machine.", without=("as_json", "quiet"))
@dataclass(frozen=True)
class ExploreOptions(SceneOptions):
    """Look at a network: the exact regions of a plane through three samples, to zoom into without end.

    The page is served to this machine alone, until Ctrl-C. Point at a region to learn what the network is there; drag
    and turn the wheel to move; drop other samples on A, B and C to turn the plane; a fourth, D, shows the space that it
    cuts. Of a large network the window is shown that comes to its end in some seconds.

    \b
    Examples:
      reluscope explore --demo
      reluscope explore net.onnx --data x.npy --labels y.npy
      reluscope explore small.onnx                               a network of two inputs: its own plane
      reluscope explore models:make --weights net.safetensors --data digits:test
      reluscope explore net.onnx --data x.npz --tracker run.parquet
      reluscope explore --train spirals                          watch a network learn: play, pause, move its weights
      reluscope explore net.onnx --data x.npy --no-browser --port 8765
    """  # noqa: D301

    tracker: Annotated[
        Path | None,
        typer.Option(
            "--tracker", metavar="FILE", help="The file of a reluscope.Tracker that kept weights: its epochs."
        ),
    ] = None
    train: Annotated[
        str | None,
        typer.Option(
            "--train",
            metavar="NAME|FILE",
            help="Watch a network learn spirals, circles, moons, xor, or a file of samples with labels (a .csv). MODEL "
            "may be package.module:factory; without it the layers are chosen on the page.",
            autocompletion=complete_problem,
        ),
    ] = None
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, metavar="N", help="Port of the page; 0 for any that is free.")
    ] = 0
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page, or only print its address.")
    ] = True
    samples: Samples = None

    def run(self) -> int:
        """Serve the explorer until Ctrl-C, and return the exit code."""
        if self.train is None:
            self.check(self.samples)
        else:
            self.check_training()
        from reluscope.cli.terminal.progress_bar import show_progress

        with show_progress(hidden=self.common.quiet) as bar:
            bar.say("Starting", None, STARTING)
            from reluscope.cli.reports.explore import explore

        return explore(self)

    def check_training(self) -> None:
        """Refuse what makes no sense beside --train, and models that cannot be trained."""
        for name, value in (
            ("--data", self.data),
            ("--labels", self.labels),
            ("--samples", self.samples),
            ("--tracker", self.tracker),
            ("--demo", self.demo or None),
        ):
            if value is not None:
                raise typer.BadParameter(
                    f"it names the data to learn by itself: leave {name} out", param_hint="--train"
                )
        for name in self.loading.given:
            if self.loaded is None or name != "--weights":
                why = "this is about MODEL, which is missing" if self.loaded is None else "a model in training has none"
                raise typer.BadParameter(why, param_hint=name)
        if self.loaded is None:
            return
        if not is_factory(self.loaded.model):
            raise typer.BadParameter(
                f"only PyTorch modules are trained, and {self.loaded.name} is a file: leave MODEL out, or name the "
                "function that makes the module, as in package.module:factory",
                param_hint="--train",
            )
        self.loaded.check()


@command(app, "Write one plane as a page to keep and to zoom into.")
@dataclass(frozen=True)
class SnapshotOptions(SceneOptions):
    """Write the plane that `reluscope explore` shows first as one page that needs nothing else.

    It can be pointed at, coloured and zoomed into wherever there is a browser: without reluscope, a server or the
    internet. What is not on the plane is not in it. To share, to embed, to keep beside a result.

    \b
    Examples:
      reluscope snapshot --demo -o digits.html
      reluscope snapshot net.onnx --data x.npy --labels y.npy
      reluscope snapshot small.onnx -o plane.html --force
    """  # noqa: D301

    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The page (.html). By default reluscope-MODEL.html."),
    ] = None
    samples: Samples = None
    force: Force = False
    tracker = None
    train = None

    def run(self) -> int:
        """Write one plane as a page, and return the exit code."""
        self.check(self.samples)
        from reluscope.cli.terminal.progress_bar import show_progress

        with show_progress(hidden=self.common.quiet) as bar:
            bar.say("Starting", None, STARTING)
            from reluscope.cli.reports.snapshot_command import snapshot

        return snapshot(self)
