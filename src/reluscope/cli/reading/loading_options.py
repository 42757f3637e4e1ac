"""The options for how a model is read, shared by all commands that load one."""

from dataclasses import dataclass
from typing import Annotated

import typer

from reluscope.cli.reading.model_arguments import ModelArguments
from reluscope.cli.reading.parsing import read_approximate, read_decision, read_fixed_inputs, read_shape
from reluscope.cli.reading.shared_options import SHAPE_HELP, WEIGHTS_HELP, path_of


@dataclass(frozen=True)
class ReadingOptions:
    """What is said of every model of a command."""

    input_shape: Annotated[str | None, typer.Option("--input-shape", metavar="SIZES", help=SHAPE_HELP)] = None
    decision: Annotated[
        str | None,
        typer.Option(
            "--decision",
            metavar="HOW",
            help="How the class is read: largest output (as by default), smallest, or a number above which one output "
            "means class 1.",
        ),
    ] = None

    model_output: Annotated[
        str | None,
        typer.Option("--model-output", metavar="NAME", help="Which output is the network's, of a model with several."),
    ] = None
    model_input: Annotated[
        list[str] | None,
        typer.Option(
            "--model-input",
            metavar="NAME=VALUE",
            help="What another input is held fixed at: a .npy file, or a number; once for each input but one.",
        ),
    ] = None

    approximate: Annotated[
        list[str] | None,
        typer.Option(
            "--approximate",
            metavar="NAME=PIECES",
            help="Put linear pieces in the place of a smooth activation (gelu, silu, tanh, sigmoid, softplus), as in "
            "gelu=32: what is found is true of the pieces, and a note says how far they are from it at most.",
        ),
    ] = None

    def of(self, model: str, weights: str | None) -> ModelArguments:
        """Return a model with its weights, checked as far as possible without loading it.

        Malformed options raise BadParameter, missing files InputError.
        """
        given = ModelArguments(
            model,
            read_shape(self.input_shape),
            path_of(weights),
            read_decision(self.decision),
            self.model_output,
            read_fixed_inputs(self.model_input or ()),
            read_approximate(self.approximate or ()),
        )
        given.check()
        return given

    @property
    def given(self) -> list[str]:
        """The options that were given."""
        named = {"--input-shape": self.input_shape, "--decision": self.decision}
        named |= {"--model-output": self.model_output, "--model-input": self.model_input}
        named |= {"--approximate": self.approximate}
        return [name for name, value in named.items() if value]


@dataclass(frozen=True)
class LoadingOptions(ReadingOptions):
    """What is said of a command's one model."""

    weights: Annotated[str | None, typer.Option("--weights", metavar="FILE", help=WEIGHTS_HELP)] = None

    def read(self, model: str) -> ModelArguments:
        """Return the model, checked as far as that can be done without loading it; see `ReadingOptions.of`."""
        return self.of(model, self.weights)

    @property
    def given(self) -> list[str]:
        """The options that were given."""
        return [*super().given, *(["--weights"] if self.weights else [])]
