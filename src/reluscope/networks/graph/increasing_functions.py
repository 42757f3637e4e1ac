"""The increasing functions that models end with: their ranges, and where they take a value, between two fractions.

Each function f is one of the real line onto an open interval, so that ``f(z) <= t`` says ``z <= f^-1(t)``. Inverses are
logarithms: ``log(t / (1 - t))`` of the sigmoid, half of ``log((1 + t) / (1 - t))`` of tanh, ``log(exp(t) - 1)`` of the
softplus, and of the log-sigmoid, which is ``-softplus(-z)``. `decimal` rounds ``exp`` and ``ln`` correctly; what its
steps lose is added to both ends.
"""

import math
import sys
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import NamedTuple

# Digits of the steps, and those that are right after them.
DIGITS, LOST = 80, 60
# Beyond this e^-s is nothing, and from the second on PyTorch takes x for softplus(x).
LARGE, LINEAR = 2_000, 20
_NOTHING = Fraction(1, 10**800)

Ends = tuple[Fraction, Fraction]


class Increasing(NamedTuple):
    """An increasing function of one variable, by the open ends of its range and its inverse.

    ``inverse`` maps a value within the range to two fractions around the argument; equal ones where it is exact.
    """

    lower: Fraction | None  # None for minus infinity
    upper: Fraction | None  # None for infinity
    inverse: Callable[[Fraction], Ends]


def logarithm(number: Fraction) -> Ends:
    """Return two fractions around the natural logarithm of a positive number; both are 0 for 1."""
    if number == 1:
        return Fraction(0), Fraction(0)
    top, bottom = number.numerator, number.denominator
    with localcontext(_context(Fraction(abs(top - bottom), bottom))):
        found = Fraction((Decimal(top) / Decimal(bottom)).ln())
    return _around(found, abs(found))


def softplus_inverse(value: Fraction) -> Ends:
    """Return two fractions around ``log(exp(value) - 1)`` of a positive number."""
    if value > LARGE:
        return value - _NOTHING, value
    with localcontext(_context(value)):
        found = Fraction(((Decimal(value.numerator) / Decimal(value.denominator)).exp() - 1).ln())
    return _around(found, 1 + abs(found))


def float_below(value: Fraction) -> float:
    """Return the largest float64 that is not above a number, minus infinity included."""
    try:
        near = float(value)
    except OverflowError:
        return sys.float_info.max if value > 0 else -math.inf
    return near if Fraction(near) <= value else math.nextafter(near, -math.inf)


def float_above(value: Fraction) -> float:
    """Return the smallest float64 that is not below a number, infinity included."""
    return 0.0 - float_below(-value)


def softplus(beta: float) -> Increasing:
    """Return ``log(1 + exp(beta z)) / beta``, or z where PyTorch takes that for it: what is said holds for both."""

    def inverse(value: Fraction) -> Ends:
        low, high = (end / Fraction(beta) for end in softplus_inverse(value * Fraction(beta)))
        return low, value if value * Fraction(beta) > LINEAR else high

    return Increasing(Fraction(0), None, inverse)


def _sigmoid_inverse(value: Fraction) -> Ends:
    return logarithm(value / (1 - value))


def _tanh_inverse(value: Fraction) -> Ends:
    low, high = logarithm((1 + value) / (1 - value))
    return low / 2, high / 2


def _log_sigmoid_inverse(value: Fraction) -> Ends:
    low, high = softplus_inverse(-value)
    return -high, -low


SIGMOID = Increasing(Fraction(0), Fraction(1), _sigmoid_inverse)
TANH = Increasing(Fraction(-1), Fraction(1), _tanh_inverse)
LOG_SIGMOID = Increasing(None, Fraction(0), _log_sigmoid_inverse)


def _context(small: Fraction) -> Context:
    """Return a context whose digits do not run out where a number cancels to a small one."""
    bits = small.denominator.bit_length() - small.numerator.bit_length()
    return Context(prec=DIGITS + max(0, bits), Emax=10**9, Emin=-(10**9))


def _around(value: Fraction, size: Fraction) -> Ends:
    return value - size / 10**LOST, value + size / 10**LOST
