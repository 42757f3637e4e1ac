"""Comparing what the library says with a truth: real numbers with claims, and sets of points."""

from fractions import Fraction
from math import inf, isinf, isnan
from typing import Any

import numpy as np

from fuzzer.tested_case import TestedCase

# What EXACT may be off by: a share of the number, or one of the scale of its question.
SHARE, SCALE = Fraction(1, 10**6), Fraction(101, 10**11)
_ROUNDING = Fraction(1, 2**50)


def exact(array: Any) -> tuple[Fraction, ...]:
    """Return a row of floats as the fractions they are."""
    return tuple(Fraction(float(entry)) for entry in array)


def compare(
    subject: TestedCase,
    check: str,
    finding: Any,
    least: Fraction | float,
    most: Fraction | float,
    scale: Fraction,
    call: str,
) -> None:
    """Compare a finding about a real number with a truth from ``least`` to ``most``, infinite where it may be.

    EXACT numbers are off by no more than they state, which has to be little; ends of the others hold the truth.
    """
    value, claim = float(finding.value), str(finding.claim)
    told = f"{finding} {value!r}, tolerance {finding.tolerance}; truth {_written(least, most)}"
    if isnan(value):
        subject.fail(f"{check}: nan", told, call)
        return
    if claim == "EXACT":
        stated = Fraction(float(finding.tolerance)) if finding.tolerance is not None else SCALE * abs(_plain(value))
        allowed = stated + _ROUNDING * abs(_plain(value))
        if _below(value, least, allowed) or _below(most, value, allowed):
            subject.fail(f"{check}: false", told, call)
        elif not isinf(value) and stated > max(SHARE * abs(_plain(value)), SCALE * scale):
            subject.fail(f"{check}: says little", f"{told}; scale {float(scale):g}", call)
        return
    slack = _ROUNDING * max(abs(_plain(value)), scale)
    low, high = finding.interval if finding.interval is not None else (-inf, inf)
    low = max(low, value) if claim == "LOWER" else low
    high = min(high, value) if claim == "UPPER" else high
    if _below(high, least, slack) or _below(most, low, slack):
        subject.fail(f"{check}: interval", told, call)


def _plain(value: float) -> Fraction:
    return Fraction(0) if isinf(value) else Fraction(value)


def _below(first: Fraction | float, second: Fraction | float, slack: Fraction) -> bool:
    """Tell whether a number is below another one by more than some slack; both may be infinite."""
    if isinstance(first, float) and isinf(first):
        return first < 0 and second != -inf
    if isinstance(second, float) and isinf(second):
        return second > 0
    return Fraction(first) + slack < Fraction(second)


def _written(least: Fraction | float, most: Fraction | float) -> str:
    return repr(float(least)) if least == most else f"{float(least)!r} to {float(most)!r}"


def points_inside(subject: TestedCase, most: int = 12) -> np.ndarray:
    """Return points in the interior of cells, rounded."""
    cells = subject.truth.regions[:most]
    return np.array([[float(entry) for entry in cell.cone.interior_point()] for cell in cells])
