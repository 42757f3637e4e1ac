"""Numbers as programs of geometry write them: whole, with a point and an exponent, or fractions."""

import re
from fractions import Fraction

from reluscope.errors import InputError

_NUMBER = re.compile(r"[+-]?(\d+(/\d+)?|(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?)")


def read_number(word: str, line: int) -> float:
    """Return the float64 nearest to a number.

    Raises
    ------
    InputError
        With the line, if it is none, or larger than float64 can hold.

    Examples
    --------
    >>> read_number("-1/3", 1), read_number("1.5e0", 1)
    (-0.3333333333333333, 1.5)
    """
    if not _NUMBER.fullmatch(word) or len(word) > 10_000:
        raise InputError(f"line {line}: expected a number, got {word[:40]!r}")
    try:
        return float(Fraction(word))
    except (ZeroDivisionError, OverflowError, ValueError):
        raise InputError(f"line {line}: expected a number that float64 can hold, got {word[:40]!r}") from None
