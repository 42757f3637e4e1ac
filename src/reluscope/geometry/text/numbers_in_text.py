"""Numbers as programs of geometry write them: whole, with a point and an exponent, or fractions."""

import re
from fractions import Fraction

from reluscope.errors import InputError

_NUMBER = re.compile(r"[+-]?(\d+(/\d+)?|(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?)")


def read_number(word: str, line: int) -> float:
    """Return the float64 nearest to a number given as a word.

    Raises InputError with the line if it is no number, or larger than float64 can hold.
    """
    if not _NUMBER.fullmatch(word) or len(word) > 10_000:
        raise InputError(f"line {line}: expected a number, got {word[:40]!r}")
    try:
        return float(Fraction(word))
    except (ZeroDivisionError, OverflowError, ValueError):
        raise InputError(f"line {line}: expected a number that float64 can hold, got {word[:40]!r}") from None
