"""Commands about Boolean functions and the smallest networks that compute them."""

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

import typer

from reluscope.extending.commands import Common, JsonFile, command, new_app

app = new_app()


@command(app, "Show how simple a Boolean function is, and a small network for it.", without=("seed", "device"))
@dataclass(frozen=True)
class BooleanOptions:
    """Show spectrum, NPN class and swaps value of a Boolean function, and the smallest network known for it.

    The swaps value is the fewest changes of the value along a direction: exact up to six inputs, bounds up to ten. The
    network's weights are printed, and it is checked on all inputs in rational arithmetic.

    \b
    Examples:
      reluscope boolean "x1 ^ x2 ^ x3"
      reluscope boolean 0000011011111001
      reluscope boolean 27030 --inputs 4 --leak 0.1
      reluscope boolean "x1 & (x2 | ~x3)" --json | jq .network
    """  # noqa: D301

    function: Annotated[
        str,
        typer.Argument(
            metavar="FUNCTION",
            help="A formula in x1, x2, ... with and, or, xor, not (& | ^ ~); a truth table of zeros and ones, the "
            "value at the all-zero input first; or its decimal number with --inputs.",
            show_default=False,
        ),
    ]
    inputs: Annotated[
        int | None, typer.Option("--inputs", min=0, metavar="N", help="Number of inputs, where the function has more.")
    ] = None
    leak: Annotated[
        float, typer.Option("--leak", min=0.0, metavar="A", help="Slope of the network's units below zero.")
    ] = 0.0
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", min=0.0, metavar="S", help="Stop looking for a direction of six inputs after this."),
    ] = None
    _: KW_ONLY
    file: JsonFile
    common: Common

    def run(self) -> int:
        """Print what is known of a function, and return the exit code."""
        from reluscope_studies.commands.boolean_summary import boolean

        return boolean(self)
