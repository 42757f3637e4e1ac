"""Commands that show a network to look at: on a page of this machine, and in a file."""

from pathlib import Path
from typing import Annotated

import typer

from reluscope.cli.reading.loading_options import LoadingOptions
from reluscope.cli.reading.model_arguments import ModelArguments, check_data
from reluscope.cli.reading.parsing import complete_data
from reluscope.cli.reading.shared_options import (
    DATA_HELP,
    MODEL_HELP,
    Force,
    Labels,
    Samples,
    path_of,
)
from reluscope.cli.terminal import BEGAN
from reluscope.cli.terminal.application import app
from reluscope.cli.terminal.common_options import Common, command
from reluscope.cli.terminal.progress_bar import show_progress

STARTING = 2.0  # seconds that imports take

AnyModel = Annotated[str | None, typer.Argument(metavar="MODEL", help=MODEL_HELP, show_default=False)]
AnyData = Annotated[str | None, typer.Option("--data", metavar="DATA", help=DATA_HELP, autocompletion=complete_data)]
Demo = Annotated[bool, typer.Option("--demo", help="Look at the embedded network of digits, without MODEL and --data.")]
Training = Annotated[
    str | None,
    typer.Option("--tracker", metavar="FILE", help="The file of a reluscope.Tracker that kept weights: its epochs."),
]


@command(app, "Look at a network's regions on a page of this machine.", without=("as_json", "quiet"))
def explore(
    model: AnyModel = None,
    data: AnyData = None,
    labels: Labels = None,
    demo: Demo = False,
    tracker: Training = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, metavar="N", help="Port of the page; 0 for any that is free.")
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page, or only print its address.")
    ] = True,
    samples: Samples = None,
    *,
    loading: LoadingOptions,
    common: Common,
) -> int:
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
      reluscope explore net.onnx --data x.npy --no-browser --port 8765
    """  # noqa: D301
    given = _model(model, data, labels, demo, loading, samples)
    with show_progress(hidden=common.quiet) as bar:
        bar.say("Starting", None, STARTING)
        from reluscope.cli.reports.explore import explore as run
        from reluscope.cli.reports.looked_at import Looked

    looked = Looked(given, data, path_of(labels), path_of(tracker), samples)
    return run(looked, port=port, browser=browser, common=common, began=BEGAN)


@command(app, "Write one plane as a page to keep and to zoom into.")
def snapshot(
    model: AnyModel = None,
    data: AnyData = None,
    labels: Labels = None,
    demo: Demo = False,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="The page (.html). By default reluscope-MODEL.html."),
    ] = None,
    samples: Samples = None,
    force: Force = False,
    *,
    loading: LoadingOptions,
    common: Common,
) -> int:
    """Write the plane that `reluscope explore` shows first as one page that needs nothing else.

    It can be pointed at, coloured and zoomed into wherever there is a browser: without reluscope, a server or the
    internet. What is not on the plane is not in it. To share, to embed, to keep beside a result.

    \b
    Examples:
      reluscope snapshot --demo -o digits.html
      reluscope snapshot net.onnx --data x.npy --labels y.npy
      reluscope snapshot small.onnx -o plane.html --force
    """  # noqa: D301
    given = _model(model, data, labels, demo, loading, samples)
    with show_progress(hidden=common.quiet) as bar:
        bar.say("Starting", None, STARTING)
        from reluscope.cli.reports.looked_at import Looked
        from reluscope.cli.reports.snapshot_command import snapshot as run

    looked = Looked(given, data, path_of(labels), None, samples)
    page = Path(output or f"reluscope-{'demo' if looked.model is None else looked.model.stem}.html")
    return run(looked, output=page, force=force, common=common, began=BEGAN)


def _model(
    model: str | None,
    data: str | None,
    labels: str | None,
    demo: bool,
    loading: LoadingOptions,
    samples: int | None,
) -> ModelArguments | None:
    """Return the model that is to be looked at, or refuse what makes no sense together."""
    others = {"MODEL": model, "--data": data, "--labels": labels}
    if demo and (given := [*(name for name, value in others.items() if value is not None), *loading.given]):
        raise typer.BadParameter(f"the embedded network brings its own data: leave {given[0]} out", param_hint="--demo")
    if not demo and model is None:
        raise typer.BadParameter("expected a model: name one, or add --demo", param_hint="MODEL")
    if data is None and not demo:
        for name, value in (("--labels", labels), ("--samples", samples)):
            if value is not None:
                raise typer.BadParameter("this is about --data, which is missing", param_hint=name)

    check_data(data, labels)
    return None if model is None else loading.read(model)
