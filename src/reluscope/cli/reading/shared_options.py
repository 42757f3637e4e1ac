"""Arguments and options that several commands have, each declared once."""

from pathlib import Path
from typing import Annotated

import typer

from reluscope.cli.reading.parsing import complete_data, read_box

MODEL_HELP = "A .onnx or .pt2 file, or package.module:factory (a function or class that makes a torch.nn.Module)."
WEIGHTS_HELP = "Weights for package.module:factory: .safetensors, or a state dict. Nothing is unpickled."
SHAPE_HELP = (
    "Shape of one input, for instance 1,28,28, where neither the model nor the data say it. Several inputs are joined "
    "by name: state=3,action=2x2."
)
DATA_HELP = "A .npy, .npz, .csv or .parquet file, or digits, digits:test, mnist:DIR, mnist-train:DIR."

Data = Annotated[
    str, typer.Option("--data", metavar="DATA", help=DATA_HELP, show_default=False, autocompletion=complete_data)
]
AnyData = Annotated[str | None, typer.Option("--data", metavar="DATA", help=DATA_HELP, autocompletion=complete_data)]
Labels = Annotated[
    Path | None,
    typer.Option("--labels", metavar="FILE", help="Class numbers, one per sample, if the data have none."),
]
Samples = Annotated[
    int | None, typer.Option("--samples", min=1, metavar="N", help="Use only so many samples, the first ones.")
]
Seconds = Annotated[
    float | None, typer.Option("--seconds", min=0.0, metavar="S", help="Stop after this time, with a lower bound.")
]
Box = Annotated[
    tuple[tuple[float, float], ...],
    typer.Option(
        "--box",
        metavar="LO,HI",
        help="Inputs between two values; once, or once for each input.",
        parser=read_box,
    ),
]
