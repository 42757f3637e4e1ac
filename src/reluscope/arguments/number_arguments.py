"""Numbers: counts, seeds, lengths, shares, seconds; never NaN, never text, never a boolean in place of a number."""

import math
from dataclasses import dataclass
from numbers import Real
from operator import index
from typing import Annotated, Any

import numpy as np

from reluscope.arguments.argument_sentences import describe
from reluscope.errors import InputError


@dataclass(frozen=True)
class Range:
    """The range of a number, as metadata of an annotation: ``Annotated[int, Range(least=1)]``."""

    least: float = -math.inf  # lower end, which belongs to the range
    most: float = math.inf  # upper end, which belongs to the range
    above: float = -math.inf  # lower end that does not belong to the range
    is_finite: bool = True  # whether infinity is refused

    def __contains__(self, number: float) -> bool:
        """Return whether a number lies in the range; NaN lies in none."""
        return self.least <= number <= self.most and (number > self.above or self.above == -math.inf)

    def describe(self, noun: str) -> str:
        """Return what is expected, for instance "a number above 0"."""
        low, high = f"{self.least:g}", f"{self.most:g}"
        if self.above > -math.inf:
            return f"{noun} above {self.above:g}" + (f" and at most {high}" if self.most < math.inf else "")
        if self.least > -math.inf:
            return f"{noun} from {low} to {high}" if self.most < math.inf else f"{noun} of at least {low}"
        return f"{noun} of at most {high}" if self.most < math.inf else noun


ANY = Range()

Count = Annotated[int, Range(least=1)]
Natural = Annotated[int, Range(least=0)]
Seed = Annotated[int, Range(least=0)]
NonNegative = Annotated[float, Range(least=0)]
Positive = Annotated[float, Range(above=0)]
Share = Annotated[float, Range(least=0, most=1)]
Seconds = Annotated[float, Range(least=0, is_finite=False)]


def read_whole(value: Any, name: str, within: Range = ANY) -> int:
    """Return a whole number.

    Integers of every kind, NumPy's included; booleans and floats are refused.
    """
    try:
        if isinstance(value, bool | np.bool_) or str(getattr(value, "dtype", "")).endswith("bool"):
            raise TypeError
        number = index(value)
    except (TypeError, ValueError):
        number = None
    if number is None or number not in within:
        raise InputError(f"{name} must be {within.describe('a whole number')}, got {describe(value)}")
    return number


def read_number(value: Any, name: str, within: Range = ANY) -> float:
    """Return a real number, an integer as it is.

    NaN is refused, and infinity where it means nothing.
    """
    number: Any = value
    if not isinstance(value, int | float) and getattr(value, "shape", None) == () and hasattr(value, "item"):
        number = value.item()  # numpy's scalars, arrays and tensors without axes
    try:
        if isinstance(number, bool) or not isinstance(number, Real):
            raise TypeError
        number = number if isinstance(number, int | float) else float(number)
        is_fitting = number in within and (math.isfinite(number) or not within.is_finite)
    except (TypeError, ValueError, OverflowError):
        is_fitting = False
    if not is_fitting:
        noun = "a finite number" if within.is_finite and within == ANY else "a number"
        raise InputError(f"{name} must be {within.describe(noun)}, got {describe(value)}")
    return number  # pyright: ignore[reportReturnType]
