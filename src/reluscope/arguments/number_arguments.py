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
    """Between which ends a number must lie, as metadata of an annotation: ``Annotated[int, Range(least=1)]``.

    Parameters
    ----------
    least, most : float
        The ends, which belong to the range.
    above : float
        An end that does not.
    is_finite : bool
        Whether infinity is refused.
    """

    least: float = -math.inf
    most: float = math.inf
    above: float = -math.inf
    is_finite: bool = True

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

    Parameters
    ----------
    value : int
        Integers of every kind, numpy's included; no booleans, and no floats, which could only be cut off.
    name : str
        What the error message calls it.
    within : Range
        Where it must lie.

    Raises
    ------
    InputError
        If it is another thing.

    Examples
    --------
    >>> read_whole(3, "count", Range(least=1))
    3
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

    Raises
    ------
    InputError
        If it is no number, NaN, outside the range, or infinite where that means nothing.

    Examples
    --------
    >>> read_number(0.5, "share", Range(least=0, most=1))
    0.5
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
