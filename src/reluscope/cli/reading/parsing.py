"""Words of the command line as numbers: shapes, lists of numbers, ranges; and what the shell may complete."""

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Literal

import typer

NAMED_DATA = ("digits", "digits:train", "digits:test", "mnist:", "mnist-train:")


def read_shape(text: str | None) -> tuple[int, ...] | None:
    """Return a shape, given as ``1,28,28`` or ``1x28x28``."""
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


def read_decision(text: str | None) -> Literal["largest", "smallest"] | float:
    """Return how the class is read from outputs: one of two words or a threshold; "largest" for None."""
    if text is None or text == "largest":
        return "largest"
    if text == "smallest":
        return "smallest"
    try:
        threshold = float(text)
    except ValueError:
        threshold = float("nan")
    if not isfinite(threshold):
        raise typer.BadParameter(f"say largest, smallest or a number, not {text!r}", param_hint="--decision")
    return threshold


def read_fixed_inputs(texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return names of inputs with the texts of their fixed values, from NAME=VALUE."""
    pairs = [text.partition("=") for text in texts]
    for text, (name, mark, value) in zip(texts, pairs, strict=True):
        if not (name and mark and value):
            raise typer.BadParameter(f"give NAME=VALUE, as in mask=mask.npy, not {text!r}", param_hint="--model-input")
    return tuple((name, value) for name, _, value in pairs)


def read_approximate(texts: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Return smooth activations with the numbers of pieces that replace them, from NAME=PIECES."""
    pairs = [text.partition("=") for text in texts]
    for text, (name, _, pieces) in zip(texts, pairs, strict=True):
        if not (name and pieces.isascii() and pieces.isdecimal() and len(pieces) < 10):
            raise typer.BadParameter(f"give NAME=PIECES, as in gelu=32, not {text!r}", param_hint="--approximate")
    return tuple((name, int(pieces)) for name, _, pieces in pairs)


def read_difference(text: str, option: str) -> int | tuple[int, int]:
    """Return one whole number from 0, or two different ones with a minus between them."""
    first, *others = text.split("-")
    if len(others) > 1 or not all(one.isascii() and one.isdecimal() for one in (first, *others)) or [first] == others:
        raise typer.BadParameter(
            f"give an output, as in 2, or the difference of two, as in 2-5, not {text!r}", param_hint=option
        )
    return (int(first), int(others[0])) if others else int(first)


def read_numbers(text: str | None, option: str) -> tuple[int, ...] | None:
    """Return whole numbers from 0, given with commas between them."""
    if text is None:
        return None
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise typer.BadParameter(
            f"give whole numbers with commas, as in 3,17,42, not {text!r}", param_hint=option
        ) from error
    if min(numbers) < 0:
        raise typer.BadParameter(f"they are counted from 0, got {text!r}", param_hint=option)
    return numbers


def read_sizes(text: str | None) -> tuple[int, ...] | None:
    """Return the sizes of an architecture: at least two positive whole numbers."""
    if text is None:
        return None
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


def complete_data(incomplete: str) -> list[str]:
    """Return the named problems that begin with a text, unless a file does: the shell completes files."""
    folder, begin = Path(incomplete).parent, Path(incomplete).name
    if not incomplete or any(path.name.startswith(begin) for path in folder.glob("*")):
        return []
    return [name for name in NAMED_DATA if name.startswith(incomplete)]
