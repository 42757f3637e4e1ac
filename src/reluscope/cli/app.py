"""Commands and their options, with help that teaches."""

from pathlib import Path
from typing import Annotated, Optional

import typer

from reluscope.cli.failures import reporting
from reluscope.version import __version__

app = typer.Typer(
    name="reluscope",
    add_completion=True,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

MODEL_HELP = "A .onnx or .pt2 file, or package.module:factory (a function or class that makes a torch.nn.Module)."
WEIGHTS_HELP = "Weights for package.module:factory: .safetensors, or a state dict. Nothing is unpickled."
SHAPE_HELP = "Shape of one input, for instance 1,28,28, where neither the model nor the data say it."
DATA_HELP = "A .npy, .npz, .csv or .parquet file, or digits, digits:test, mnist:DIR, mnist-train:DIR."


def _shape(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    try:
        shape = tuple(int(part) for part in text.replace("x", ",").split(","))
    except ValueError as error:
        raise typer.BadParameter(
            f"give whole numbers with commas, as in 1,28,28, not {text!r}", param_hint="--input-shape"
        ) from error
    if not all(part > 0 for part in shape):
        raise typer.BadParameter(f"all sizes must be positive, got {text!r}", param_hint="--input-shape")
    return shape


def _version(wanted: bool) -> bool:
    if wanted:
        print(f"reluscope {__version__}")
        raise typer.Exit
    return wanted


Model = Annotated[str, typer.Argument(help=MODEL_HELP, show_default=False)]
Weights = Annotated[Optional[Path], typer.Option("--weights", metavar="FILE", help=WEIGHTS_HELP)]  # noqa: UP045
Shape = Annotated[Optional[str], typer.Option("--input-shape", metavar="SIZES", help=SHAPE_HELP)]  # noqa: UP045
AsJson = Annotated[bool, typer.Option("--json", help="Print the numbers as JSON, and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a report that is there already.")]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="Decides which samples are chosen.")]
Segments = Annotated[
    int, typer.Option(min=1, metavar="N", help="Segments within classes, and as many between classes.")
]
Margin = Annotated[float, typer.Option(min=0.0, metavar="SHARE", help="How far the plane reaches beyond the samples.")]
Seconds = Annotated[
    float, typer.Option(min=0.1, metavar="S", help="Time for the plane, and for the segments; bounds after.")
]
Regions = Annotated[int, typer.Option(min=1, metavar="N", help="Most regions of the plane; a bound after.")]
Samples = Annotated[Optional[int], typer.Option(min=1, metavar="N", help="Use only so many samples, the first ones.")]  # noqa: UP045


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Find the exact linear regions of neural networks, and say what every number claims.

    \b
    Start with:
      reluscope demo                                  a report on an embedded network
      reluscope analyze net.onnx --data x.npy         a report on yours
      reluscope info net.onnx                         what is in a model
    """  # noqa: D301
    del version


@app.command(short_help="Write a report on a model and data.")
@reporting
def analyze(
    model: Model,
    data: Annotated[str, typer.Option("--data", metavar="DATA", help=DATA_HELP, show_default=False)],
    labels: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--labels", metavar="FILE", help="Class numbers, one per sample, if the data have none."),
    ] = None,
    output: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--output", "-o", metavar="DIR", help="Folder of the report. By default reluscope-MODEL."),
    ] = None,
    input_shape: Shape = None,
    weights: Weights = None,
    samples: Samples = None,
    seed: Seed = 0,
    segments: Segments = 50,
    margin: Margin = 0.25,
    seconds: Seconds = 60.0,
    regions: Regions = 300_000,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Write a report on a model and data: one HTML page, and its numbers as JSON.

    The page shows the network as it was loaded and checked, accuracy, distinct codes, the exact regions on a plane
    through three samples, and how many regions lie between samples. Every number carries its claim.

    \b
    Examples:
      reluscope analyze net.onnx --data x.npy --labels y.npy
      reluscope analyze net.pt2 --data mnist:data/mnist -o report
      reluscope analyze models:make --weights net.safetensors --data x.csv --input-shape 1,28,28
      reluscope analyze net.onnx --data x.npz --json | jq .sections.plane.findings
    """  # noqa: D301
    from reluscope.cli.analyze import analyze as run
    from reluscope.report.subject import Settings

    settings = Settings(seed=seed, margin=margin, num_segments=segments, seconds=seconds, regions=regions)
    return run(
        model,
        data,
        labels=labels,
        output=output,
        input_shape=_shape(input_shape),
        weights=weights,
        samples=samples,
        settings=settings,
        force=force,
        as_json=as_json,
        quiet=quiet,
    )


@app.command(short_help="Write a report on an embedded network.")
@reporting
def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder of the report; an earlier demo is replaced.")
    ] = Path("reluscope-demo"),
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Write a report on an embedded network: a small convolutional classifier of scikit-learn's digits.

    The samples are 360 digits that it was not trained on.

    \b
    Example:
      reluscope demo && xdg-open reluscope-demo/report.html
    """  # noqa: D301
    from reluscope.cli.analyze import demo as run
    from reluscope.report.subject import Settings

    return run(output, settings=Settings(seed=seed), as_json=as_json, quiet=quiet)


@app.command(short_help="Show what is in a model.")
@reporting
def info(model: Model, input_shape: Shape = None, weights: Weights = None, as_json: AsJson = False) -> int:
    """Show what is in a model: shapes, gates, units, and how the load was checked.

    \b
    Examples:
      reluscope info net.onnx
      reluscope info models:make --weights net.safetensors --input-shape 1,28,28 --json
    """  # noqa: D301
    from reluscope.cli.info import info as run

    return run(model, input_shape=_shape(input_shape), weights=weights, as_json=as_json)
