"""Counterexamples of other verifiers, from files in the form of their competition."""

import os
import re
from pathlib import Path

import numpy as np
from jaxtyping import Float

from reluscope.analyses.verification.language.expressions import Word, expressions, shown
from reluscope.arguments import read_arguments
from reluscope.errors import InputError

_SAT = re.compile(r"\s*sat(?![^\s(])")
_NAME = re.compile(r"([XY])_(0|[1-9]\d{0,8})")


@read_arguments
def read_counterexample(
    path: str | os.PathLike[str],
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " m"]]:
    """Return the counterexample of a result in the format of the verifier competition.

    Parameters
    ----------
    path : path
        A text file with ``sat``, then ``((X_0 0.5) (X_1 -1) ... (Y_0 2.5) ...)``.

    Returns
    -------
    inputs : (n,) float64
    outputs : (m,) float64
        As claimed; empty if the file has none.

    Raises
    ------
    InputError
        If the file cannot be read, reports that there is no counterexample, or lacks a value; the message gives the
        line.

    Examples
    --------
    >>> import tempfile, pathlib, reluscope as rs
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "result.txt"
    >>> _ = path.write_text("sat ((X_0 0.5) (X_1 -1) (Y_0 2.5))")
    >>> rs.verification.read_counterexample(path)
    (array([ 0.5, -1. ]), array([2.5]))
    """
    name = Path(path).name
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{name} must be a text with a counterexample, got bytes that are no text") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}): check that it is a result of a verifier") from None
    try:
        return parse_counterexample(text)
    except InputError as error:
        raise InputError(f"{name}, {error}") from None


def parse_counterexample(text: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the inputs and outputs that a text says.

    InputError, with the line, if the text is no counterexample.
    """
    begun = _SAT.match(text)
    if begun is None and not text.lstrip().startswith("("):
        word = (text.split() or [""])[0]
        advice = ": that a property holds is shown by a proof" * (word == "unsat")
        raise InputError(f"line 1: expected sat and a counterexample, got {word[:40]!r}{advice}")
    rest = text if begun is None else text[: begun.end() - 3] + text[begun.end() :]
    values: dict[str, dict[int, float]] = {"X": {}, "Y": {}}
    for listed in expressions(rest):
        for pair in listed.parts if not all(isinstance(one, Word) for one in listed.parts) else [listed]:
            words = [] if isinstance(pair, Word) else [one.text if isinstance(one, Word) else "" for one in pair.parts]
            if len(words) != 2 or not (named := _NAME.fullmatch(words[0])):
                raise InputError(f"line {pair.line}: expected values such as (X_0 0.5), got {shown(words)}")
            side = values[named[1]]
            place, value = int(named[2]), _number(words[1], pair.line)
            if place in side:
                raise InputError(f"line {pair.line}: expected each value once, got {words[0]} again")
            side[place] = value
    for letter, side in values.items():
        missing = next((place for place in range(len(side)) if place not in side), None)
        if missing is not None or (letter == "X" and not side):
            raise InputError(f"line 1: expected a value of {letter}_{missing or 0} in the counterexample, got none")
    inputs, outputs = (np.array([side[place] for place in range(len(side))]) for side in values.values())
    return inputs, outputs


def _number(word: str, line: int) -> float:
    try:
        value = float(word)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise InputError(f"line {line}: expected a finite number, got {word[:40]!r}")
    return value
