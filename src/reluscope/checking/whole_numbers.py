"""Exact numbers as whole ones times a power of two, and products of theirs with matrices.

Every float64 is such a number. Products go by digits: whole numbers below `DIGIT` are float64 numbers, and so are sums
of `MAX_TERMS` of their products, in whatever order they are added up; so matrices of digits are multiplied as those of
float64 are, without rounding.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from reluscope.checking.demand import demand

BITS = 20
DIGIT, MAX_TERMS = 1 << BITS, 1 << 12


@dataclass(frozen=True, eq=False)
class Whole:
    """An array of exact numbers: whole ones, as Python has them, times a power of two."""

    numbers: np.ndarray
    exponent: int

    @staticmethod
    def of(table: np.ndarray) -> "Whole":
        """Return an array of float64, or of whole numbers of Python, exactly."""
        if table.dtype == object:
            return Whole(table, 0)
        demand(bool(np.isfinite(table).all()), "a number is not finite")
        parts, powers = np.frexp(table.astype(np.float64))
        # Without zeros at the end numbers stay short.
        long = np.ldexp(parts, 53).astype(np.int64)
        zeros = np.where(long == 0, 0, np.frexp((long & -long).astype(np.float64))[1] - 1)
        long, powers = long >> zeros, powers.astype(np.int64) - 53 + zeros
        least = int(powers[long != 0].min(initial=2000)) if long.any() else 0
        return Whole(long.astype(object) << np.where(long == 0, 0, powers - least).astype(object), least)

    def __getitem__(self, key: Any) -> "Whole":
        return Whole(self.numbers[key], self.exponent)

    def __mul__(self, other: "Whole") -> "Whole":
        return Whole(self.numbers * other.numbers, self.exponent + other.exponent)

    def __add__(self, other: "Whole") -> "Whole":
        least = min(self.exponent, other.exponent)
        return Whole(self._over(least) + other._over(least), least)

    def __sub__(self, other: "Whole") -> "Whole":
        return self + Whole(-other.numbers, other.exponent)

    def sum(self) -> "Whole":
        """Return the sums of rows."""
        return Whole(np.asarray(self.numbers.sum(axis=-1), dtype=object), self.exponent)

    def least(self) -> "Whole":
        """Return the smallest entries along the first axis."""
        return Whole(self.numbers.min(axis=0), self.exponent)

    def fractions(self) -> list[Fraction]:
        """Return the numbers as fractions."""
        return [Fraction(number) * Fraction(2) ** self.exponent for number in self.numbers.ravel().tolist()]

    def _over(self, exponent: int) -> np.ndarray:
        return self.numbers << (self.exponent - exponent) if self.exponent > exponent else self.numbers


class Matrix:
    """A matrix of float64, cut into digits."""

    def __init__(self, table: np.ndarray) -> None:
        exact = Whole.of(table)
        self._shape, self._exponent, self._digits = table.shape, exact.exponent, [*_digits(exact.numbers)]

    def after(self, rows: Whole) -> Whole:
        """Return rows times the matrix."""
        total = np.zeros((len(rows.numbers), self._shape[1]), dtype=object)
        for place, left in enumerate(_digits(rows.numbers)):
            for other, right in enumerate(self._digits):
                part = sum(
                    (left[:, start : start + MAX_TERMS] @ right[start : start + MAX_TERMS]).astype(np.int64)
                    for start in range(0, self._shape[0], MAX_TERMS)
                )
                total = total + (np.asarray(part).astype(object) << BITS * (place + other))
        return Whole(total, rows.exponent + self._exponent)


def _digits(numbers: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the digits of whole numbers, the lowest first, with their signs, as float64."""
    signs, left = np.where(numbers < 0, -1.0, 1.0), np.abs(numbers)
    while left.any():
        yield signs * (left & (DIGIT - 1)).astype(np.float64)
        left = left >> BITS
