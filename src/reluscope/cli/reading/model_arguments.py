"""How the command line names a model and data, and what can be said about them before PyTorch is imported."""

import json
import re
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from reluscope.cli.reading.parsing import Decision, read_approximate, read_decision, read_fixed_input, read_shape
from reluscope.cli.reading.shared_options import MODEL_HELP, SHAPE_HELP, WEIGHTS_HELP
from reluscope.errors import InputError

FACTORY = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
# Data in known files; those that need none have no suffix.
_NAMED = {"digits", "mnist", "cifar10"}
# Files that hold weights, or a pickle.
_WEIGHTS = {".pt", ".pth", ".bin", ".ckpt", ".pkl", ".pickle", ".safetensors"}


@dataclass(frozen=True)
class ReadingOptions:
    """What is said of every model of a command."""

    input_shape: Annotated[
        tuple[int, ...] | dict[str, tuple[int, ...]] | None,
        typer.Option("--input-shape", metavar="SIZES", help=SHAPE_HELP, parser=read_shape),
    ] = None
    decision: Annotated[
        Decision | None,
        typer.Option(
            "--decision",
            metavar="HOW",
            help="How the class is read: largest output (as by default), smallest, or a number above which one output "
            "means class 1.",
            parser=read_decision,
        ),
    ] = None
    model_output: Annotated[
        str | None,
        typer.Option("--model-output", metavar="NAME", help="Which output is the network's, of a model with several."),
    ] = None
    model_input: Annotated[
        tuple[tuple[str, str], ...],  # names, and texts of values
        typer.Option(
            "--model-input",
            metavar="NAME=VALUE",
            help="What another input is held fixed at: a .npy file, or a number; once for each input but one.",
            parser=read_fixed_input,
        ),
    ] = ()
    approximate: Annotated[
        tuple[tuple[str, int], ...],
        typer.Option(
            "--approximate",
            metavar="NAME=PIECES",
            help="Put linear pieces in the place of a smooth activation (gelu, silu, tanh, sigmoid, softplus), as in "
            "gelu=32: what is found is true of the pieces, and a note says how far they are from it at most.",
            parser=read_approximate,
        ),
    ] = ()

    def of(self, model: str, weights: Path | None) -> "ModelArguments":
        """Return a model with its weights."""
        return ModelArguments(**{**vars(self), "model": model, "weights": weights})


@dataclass(frozen=True)
class LoadingOptions(ReadingOptions):
    """What is said of a command's one model."""

    weights: Annotated[Path | None, typer.Option("--weights", metavar="FILE", help=WEIGHTS_HELP)] = None

    @property
    def given(self) -> list[str]:
        """The options that were given."""
        return [f"--{name.replace('_', '-')}" for name, value in vars(self).items() if value not in (None, ())]


@dataclass(frozen=True)
class ModelArguments(LoadingOptions):
    """How the command line names a model."""

    _: KW_ONLY
    model: Annotated[str, typer.Argument(metavar="MODEL", help=MODEL_HELP, show_default=False)]

    @property
    def name(self) -> str:
        """What a reader calls the model."""
        return Path(self.model).name

    @property
    def stem(self) -> str:
        """The part of the model's name that goes into names of files."""
        return Path(self.model).stem if ":" not in self.model else self.model.rpartition(":")[2]

    def check(self) -> None:
        """Raise InputError unless the model's files are there and may be what they are given as."""
        if self.weights is not None and not self.weights.is_file():
            raise InputError(f"there is no file of weights {self.weights}: check the path")
        self.fixed_inputs()
        if is_factory(self.model):
            return
        path = Path(self.model)
        if self.weights is not None:
            raise InputError(
                f"--weights go with package.module:factory, but {self.model} is a file that holds its own weights"
            )
        if not path.is_file():
            raise InputError(
                f"expected a model file, but {path} {'is a folder' if path.is_dir() else 'does not exist'}"
            )
        if path.suffix.lower() in _WEIGHTS:
            raise InputError(
                f"expected an .onnx or .pt2 file, got {path.name}: if it holds weights, name the function that makes "
                f"the model, with --weights {path.name}, as in package.module:factory --weights {path.name}; whole "
                "models in pickles are not opened, because a pickle can run any code"
            )

    def fixed_inputs(self) -> dict[str, Any]:
        """Return the values that inputs are held fixed at, by name.

        One that is neither a file of an array nor a plain value raises InputError.
        """
        return {name: _fixed_at(name, text) for name, text in self.model_input}


def _fixed_at(name: str, text: str) -> Any:
    if not text.endswith(".npy"):
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"expected {name} to be fixed at a .npy file, a number, a list of numbers, true or false, got {text!r}"
            ) from error
    from reluscope.files.numpy_files import read_npy

    try:
        with open(text, "rb") as file:
            return read_npy(file, Path(text).stat().st_size)
    except FileNotFoundError as error:
        raise InputError(f"there is no file {text}: check the path") from error
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"{text} is damaged or no .npy file of numbers: save it again with numpy.save") from error


def is_factory(model: str) -> bool:
    """Tell whether MODEL names a function rather than a file."""
    return FACTORY.fullmatch(model) is not None and not Path(model).exists()


def check_data(data: str | None, labels: str | Path | None = None) -> None:
    """Check that the files of data and labels are there; their contents are read later."""
    if data is not None and Path(data).suffix and not _is_named(data) and not Path(data).is_file():
        raise InputError(f"there is no file {data}: check the path")
    if labels is not None and not Path(labels).is_file():
        raise InputError(f"there is no file {labels}: check the path")


def _is_named(data: str) -> bool:
    return data.partition(":")[0].partition("-")[0] in _NAMED
