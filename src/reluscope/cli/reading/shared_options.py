"""Arguments that several commands have, each declared once."""

from pathlib import Path
from typing import Annotated

import typer

from reluscope.cli.reading.parsing import complete_data

MODEL_HELP = "A .onnx or .pt2 file, or package.module:factory (a function or class that makes a torch.nn.Module)."
WEIGHTS_HELP = "Weights for package.module:factory: .safetensors, or a state dict. Nothing is unpickled."
SHAPE_HELP = "Shape of one input, for instance 1,28,28, where neither the model nor the data say it."
DATA_HELP = "A .npy, .npz, .csv or .parquet file, or digits, digits:test, mnist:DIR, mnist-train:DIR."

Model = Annotated[str, typer.Argument(metavar="MODEL", help=MODEL_HELP, show_default=False)]
Data = Annotated[
    str, typer.Option("--data", metavar="DATA", help=DATA_HELP, show_default=False, autocompletion=complete_data)
]
Labels = Annotated[
    str | None, typer.Option("--labels", metavar="FILE", help="Class numbers, one per sample, if the data have none.")
]
Samples = Annotated[
    int | None, typer.Option("--samples", min=1, metavar="N", help="Use only so many samples, the first ones.")
]
Regions = Annotated[
    int, typer.Option("--regions", min=1, metavar="N", help="Stop after so many regions, with a lower bound.")
]
Seconds = Annotated[
    float | None, typer.Option("--seconds", min=0.0, metavar="S", help="Stop after this time, with a lower bound.")
]
Box = Annotated[
    list[str] | None,
    typer.Option("--box", metavar="LO,HI", help="Inputs between two values; once, or once for each input."),
]
JsonFile = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FILE", help="Write what --json prints to a .json file.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that are there already.")]


def path_of(text: str | None) -> Path | None:
    """Return a path, where one was given."""
    return None if text is None else Path(text)
