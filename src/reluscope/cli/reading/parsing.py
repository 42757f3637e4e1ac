"""Words of the command line as numbers: shapes, lists of numbers, ranges; and what the shell may complete."""

from math import isfinite
from pathlib import Path
from typing import Literal

import typer

Decision = Literal["largest", "smallest"] | float

# Problems to learn, which `reluscope.explorer.learning.problems` draws.
LEARNT = ("spirals", "circles", "moons", "xor")
NAMED_DATA = ("digits", "digits:train", "digits:test", "mnist:", "mnist-train:")


def read_shape(text: str) -> tuple[int, ...] | dict[str, tuple[int, ...]]:
    """Return a shape, given as ``1,28,28`` or ``1x28x28``; those of several inputs by name, as ``a=3,b=2x2``."""
    if "=" in text:
        named = [part.partition("=") for part in text.split(",")]
        if not all(name and sizes for name, _, sizes in named) or len({name for name, _, _ in named}) < len(named):
            raise typer.BadParameter(
                f"give each input once with its sizes, as in state=3,action=2x2, not {text!r}",
                param_hint="--input-shape",
            )
        return {name: _sizes(sizes) for name, _, sizes in named}
    return _sizes(text)


def _sizes(text: str) -> tuple[int, ...]:
    try:
        shape = tuple(int(part) for part in text.replace("x", ",").split(","))
    except ValueError as error:
        raise typer.BadParameter(
            f"give whole numbers with commas, as in 1,28,28, not {text!r}", param_hint="--input-shape"
        ) from error
    if not all(part > 0 for part in shape):
        raise typer.BadParameter(f"all sizes must be positive, got {text!r}", param_hint="--input-shape")
    return shape


def read_decision(text: str) -> Decision:
    """Return how the class is read from outputs: one of two words or a threshold."""
    if text in ("largest", "smallest"):
        return text
    try:
        threshold = float(text)
    except ValueError:
        threshold = float("nan")
    if not isfinite(threshold):
        raise typer.BadParameter(f"say largest, smallest or a number, not {text!r}", param_hint="--decision")
    return threshold


def read_fixed_input(text: str) -> tuple[str, str]:
    """Return the name of an input with the text of its fixed value, from NAME=VALUE."""
    name, _, value = text.partition("=")
    if not (name and value):
        raise typer.BadParameter(f"give NAME=VALUE, as in mask=mask.npy, not {text!r}", param_hint="--model-input")
    return name, value


def read_approximate(text: str) -> tuple[str, int]:
    """Return a smooth activation with the number of pieces that replace it, from NAME=PIECES."""
    name, _, pieces = text.partition("=")
    if not (name and pieces.isascii() and pieces.isdecimal() and len(pieces) < 10):
        raise typer.BadParameter(f"give NAME=PIECES, as in gelu=32, not {text!r}", param_hint="--approximate")
    return name, int(pieces)


def read_difference(text: str, option: str) -> int | tuple[int, int]:
    """Return one whole number from 0, or two different ones with a minus between them."""
    first, *others = text.split("-")
    if len(others) > 1 or not all(one.isascii() and one.isdecimal() for one in (first, *others)) or [first] == others:
        raise typer.BadParameter(
            f"give an output, as in 2, or the difference of two, as in 2-5, not {text!r}", param_hint=option
        )
    return (int(first), int(others[0])) if others else int(first)


def read_numbers(text: str, option: str) -> tuple[int, ...]:
    """Return whole numbers from 0, given with commas between them."""
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise typer.BadParameter(
            f"give whole numbers with commas, as in 3,17,42, not {text!r}", param_hint=option
        ) from error
    if min(numbers) < 0:
        raise typer.BadParameter(f"they are counted from 0, got {text!r}", param_hint=option)
    return numbers


def read_sizes(text: str) -> tuple[int, ...]:
    """Return the sizes of an architecture: at least two positive whole numbers."""
    try:
        sizes = tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise typer.BadParameter(
            f"give whole numbers with commas, as in 784,11,11, not {text!r}", param_hint="--arch"
        ) from error
    if len(sizes) < 2 or min(sizes) < 1:
        raise typer.BadParameter(
            f"give the number of inputs and at least one layer, all positive, got {text!r}", param_hint="--arch"
        )
    return sizes


def read_box(text: str, option: str = "--box") -> tuple[float, float]:
    """Return the two ends of a range, in ascending order."""
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError as error:
        raise typer.BadParameter(
            f"give two numbers with a comma, as in -1,1, not {text!r}", param_hint=option
        ) from error
    if not (-float("inf") < low < high < float("inf")):
        raise typer.BadParameter(f"the first number must be below the second, got {text!r}", param_hint=option)
    return low, high


def complete_problem(incomplete: str) -> list[str]:
    """Return the problems to learn that begin with a text; the shell completes files."""
    return [name for name in LEARNT if name.startswith(incomplete)] if incomplete else []


def complete_data(incomplete: str) -> list[str]:
    """Return the named problems that begin with a text, unless a file does: the shell completes files."""
    folder, begin = Path(incomplete).parent, Path(incomplete).name
    if not incomplete or any(path.name.startswith(begin) for path in folder.glob("*")):
        return []
    return [name for name in NAMED_DATA if name.startswith(incomplete)]
