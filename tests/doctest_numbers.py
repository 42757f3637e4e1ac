"""Numbers in the examples of docstrings, compared up to rounding: processors differ in the last bits of sums.

pytest's option ``NUMBER`` alone lets ``0.5`` stand for ``0.6``, and refuses an array one of whose entries is printed
with more digits, because the others are then padded with spaces.
"""

import re
from typing import Any

from _pytest import doctest

# Relative to a number, and absolute for what is 0 up to rounding.
RELATIVE, ABSOLUTE = 1e-9, 1e-12
# A number that is printed with this many digits is rounded, and may be one off in the last of them.
ROUNDED = 4
NUMBER = doctest._get_number_flag()
REAL = r"[+-]?(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?\d+[eE][+-]?\d+"

_Checker: Any = doctest._init_checker_class()


class NumberChecker(_Checker):
    """pytest's checker, in which numbers agree up to rounding and not to within one unit of their last digit."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        if super().check_output(want, got, optionflags & ~NUMBER):
            return True
        return bool(optionflags & NUMBER) and _match(_without_padding(want), _without_padding(got))


def install() -> None:
    """Let pytest check examples in this way."""
    doctest.CHECKER_CLASS = NumberChecker


def _without_padding(text: str) -> str:
    return re.sub(r" ?([\[\](),]) ?", r"\1", " ".join(text.split()))


def _match(want: str, got: str) -> bool:
    """Whether two texts differ in numbers that agree, and in what an ellipsis stands for."""
    numbers = re.findall(REAL, want)
    others = [".*?".join(map(re.escape, part.split("..."))) for part in re.split(REAL, want)]
    found = re.fullmatch(f"({REAL})".join(others), got)
    return found is not None and all(map(_agree, numbers, found.groups()))


def _agree(want: str, got: str) -> bool:
    difference = abs(float(want) - float(got))
    if difference <= max(RELATIVE * abs(float(want)), ABSOLUTE):
        return True
    mantissa, _, exponent = want.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = len((whole.lstrip("+-") + fraction).lstrip("0"))
    return digits >= ROUNDED and difference <= 1.01 * 10.0 ** (int(exponent or 0) - len(fraction))
