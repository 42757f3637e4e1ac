"""Sums of squares and products of several representations of the same samples, from which their similarities follow.

Rows of all representations stand side by side, each less a constant row, then a column of ones and the squared
lengths of the rows: ``B = [Z_1 | ... | Z_k | 1 | |z_1|^2 | ... | |z_k|^2]``. The Gram matrix ``B^T B`` is a sum over
samples. If B was factored instead, ``B = Q R``, then R says the same without squaring condition numbers. A B of no more
rows than columns is kept as it is. Every representation is divided by a power of two near its largest entry, which
costs no digit: fourth powers of what came might not be numbers of float64.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from reluscope.errors import InputError, ShapeError
from reluscope.geometry.numbers.scales import exponents, times_power

(_add_rows_to_factor,) = get_lapack_funcs(("tpqrt",), dtype=float)
(_add_squares,) = get_blas_funcs(("syrk",), dtype=float)

# Rows that differ by less than this share of their length are equal up to rounding.
CONSTANT = 1e-12
# Sums of which less than this share is left are zero up to rounding.
CANCELLED = 1e-11
COLUMNS_IN_PANEL = 64
# Later rows may exceed the first ones by two to this power before everything is scaled anew.
SPARE_EXPONENTS = 32
# The exponent of what was zero so far: below those of all numbers.
EXPONENT_OF_ZERO = -1074


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments of k representations on s samples, each divided by two to its exponent.

    Whatever is returned here is of what was left by the exponents.
    """

    gram: Float[np.ndarray, "c c"] | None  # ``B^T B``, its upper triangle; None where a factor is
    sizes: tuple[int, ...]  # columns of each representation
    shifts: tuple[Float[np.ndarray, " _"], ...]  # constant rows that were subtracted, divided alike
    exponents: tuple[int, ...]  # of two, by which each was divided
    factor: Float[np.ndarray, "r c"] | None = None  # triangular R, or B itself if it has no more rows

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def num_samples(self) -> int:
        """Samples that were summed over."""
        return round(float(self._sum(self._ones, self._ones)))

    def columns(self, index: int) -> slice:
        """Return where a representation stands."""
        ends = list(accumulate(self.sizes))
        return slice(ends[index] - self.sizes[index], ends[index])

    def means(self, index: int) -> Float[np.ndarray, " d"]:
        """Return the mean row of a representation, less its shift."""
        return self._sum(self.columns(index), self._ones) / self.num_samples

    def centred(self, first: int, second: int) -> Float[np.ndarray, "d e"]:
        """Return the sum of products of two representations, both less their means."""
        shares = np.outer(self.means(first), self.means(second))
        return self._cross(first, second) - self.num_samples * shares

    def plain(self, first: int, second: int) -> Float[np.ndarray, "d e"]:
        """Return the sum of products of two representations, not less their means."""
        s, shift, other = self.num_samples, self.shifts[first], self.shifts[second]
        found = self._cross(first, second)
        found += np.outer(s * (self.means(first) + shift), other)
        found += np.outer(s * shift, self.means(second))
        return found

    def plain_factor(self, index: int) -> Float[np.ndarray, "r d"] | None:
        """Return Q^T times a representation, not less its mean."""
        if self.factor is None:
            return None
        return self.factor[:, self.columns(index)] + np.outer(self.factor[:, self._ones], self.shifts[index])

    def product(self, first: int, second: int) -> float:
        """Return ``|X^T Y|_F^2`` of the centred representations (s - 1 squared times HSIC with linear kernels)."""
        if self._is_short(first, second):
            one, other = self._centred_factor(first), self._centred_factor(second)
            return float(np.vdot(one @ one.T, other @ other.T))
        return float(np.sum(self.centred(first, second) ** 2))

    def total(self, index: int) -> float:
        """Return ``|X|_F^2`` of a centred representation."""
        if self.gram is None:
            return float(np.sum(self._centred_factor(index) ** 2))
        return float(np.trace(self.centred(index, index)))

    def singular_values(self, first: int, second: int) -> Float[np.ndarray, " _"]:
        """Return the singular values of ``X^T Y`` of the centred representations, but for zeros."""
        if self._is_short(first, second):
            one, other = (
                np.asarray(np.linalg.qr(self._centred_factor(index).T, mode="r")) for index in (first, second)
            )
            return np.linalg.svd(one @ other.T, compute_uv=False)
        return np.linalg.svd(self.centred(first, second), compute_uv=False)

    def debiased_product(self, first: int, second: int) -> float:
        """Return s (s - 3) times the unbiased estimate of HSIC with linear kernels, from kernels without diagonals."""
        s = self.num_samples
        delta, epsilon = self.means(first), self.means(second)
        between = self._between(first, second, delta, epsilon)
        lengths = float(delta @ delta) * float(epsilon @ epsilon)
        squares = float(self._sum(self._weights(min(first, second)), self._weights(max(first, second))))
        traces = self.product(first, second) + 2 * s * between + s**2 * lengths - squares
        sums = 1.0
        for index, mean in ((first, delta), (second, epsilon)):
            sums *= s**2 * float(mean @ mean) - float(self._sum(self._ones, self._weights(index)))
        rows = s**2 * (between + s * lengths) + squares
        rows -= s * float(delta @ self._sum(self.columns(first), self._weights(second)))
        rows -= s * float(epsilon @ self._sum(self.columns(second), self._weights(first)))
        found = traces + sums / ((s - 1) * (s - 2)) - 2 * rows / (s - 2)
        # Below this, nothing is left of the terms but their rounding.
        noise = abs(traces) + abs(sums) / ((s - 1) * (s - 2)) + 2 * abs(rows) / (s - 2)
        return found if abs(found) > CANCELLED * noise else 0.0

    def is_constant(self, index: int) -> bool:
        """Whether all rows of a representation are equal up to rounding."""
        s, shift, mean = self.num_samples, self.shifts[index], self.means(index)
        total = float(self._sum(self._ones, self._weights(index)))
        return total - s * float(mean @ mean) <= s * CONSTANT**2 * float(shift @ shift)

    @property
    def _ones(self) -> int:
        return sum(self.sizes)

    def _weights(self, index: int) -> int:
        return self._ones + 1 + index

    def _sum(self, rows: int | slice, columns: int | slice) -> Any:
        """Return a part of ``B^T B`` on or above its diagonal."""
        if self.gram is not None:
            return self.gram[rows, columns]
        assert self.factor is not None
        return self.factor[:, rows].T @ self.factor[:, columns]

    def _is_short(self, first: int, second: int) -> bool:
        """Whether the factor has fewer rows than two representations have columns."""
        return self.factor is not None and len(self.factor) < min(self.sizes[first], self.sizes[second])

    def _centred_factor(self, index: int) -> np.ndarray:
        """Return Q^T times a representation less its mean."""
        assert self.factor is not None
        return self.factor[:, self.columns(index)] - np.outer(self.factor[:, self._ones], self.means(index))

    def _between(self, first: int, second: int, left: np.ndarray, right: np.ndarray) -> float:
        """Return ``left^T X^T Y right`` of the centred representations."""
        if self.gram is None:
            return float((self._centred_factor(first) @ left) @ (self._centred_factor(second) @ right))
        return float(left @ self.centred(first, second) @ right)

    def _cross(self, first: int, second: int) -> np.ndarray:
        if first > second:
            return self._cross(second, first).T
        block = self._sum(self.columns(first), self.columns(second)).copy()
        if first == second and self.gram is not None:
            upper = np.triu(block, 1)
            block = np.triu(block) + upper.T
        return block


class MomentSum:
    """Moments under way: blocks of rows are added one after the other.

    ``factored`` keeps R, which takes twice the work; else ``B^T B``.
    """

    def __init__(self, sizes: Sequence[int], *, factored: bool) -> None:
        self.sizes = tuple(sizes)
        self._factored = factored
        self._shifts: list[np.ndarray] = []
        self._exponents: list[int] = []
        number = num_columns(sizes)
        self._table = np.zeros((number, number), order="F")
        # As long as there are no more rows than columns, the rows are a factor themselves, and a shorter one.
        self._rows: list[np.ndarray] | None = [] if factored else None

    def add(self, parts: Sequence[Float[np.ndarray, "rows _"]]) -> None:
        """Add the next rows of every representation."""
        needed = [int(exponents(part)) if part.any() else EXPONENT_OF_ZERO for part in parts]
        if not self._exponents:
            self._exponents = needed
            for part, exponent in zip(parts, needed, strict=True):
                scaled = times_power(part, -exponent)
                # About the mean, so that little cancels; equal rows become exactly zero.
                is_equal = (scaled == scaled[0]).all(axis=0)
                self._shifts.append(np.where(is_equal, scaled[0], scaled.mean(axis=0)))
        self._make_room(parts, needed)
        width = sum(self.sizes)
        block = np.empty((len(parts[0]), num_columns(self.sizes)), order="F" if self._factored else "C")
        start = 0
        for index, (part, shift) in enumerate(zip(parts, self._shifts, strict=True)):
            own = block[:, start : start + part.shape[1]]
            np.subtract(times_power(part, -self._exponents[index]), shift, out=own)
            block[:, width + 1 + index] = np.einsum("ij,ij->i", own, own)
            start += part.shape[1]
        block[:, width] = 1.0
        if self._factored:
            self._join(block)
        else:
            self._table = _add_squares(1.0, block.T, beta=1.0, c=self._table, overwrite_c=True)

    def finish(self) -> Moments:
        """Return the moments of all rows that were added."""
        assert self._exponents
        kept = self.sizes, tuple(self._shifts), tuple(0 if one == EXPONENT_OF_ZERO else one for one in self._exponents)
        if self._factored:
            if self._rows is not None:
                return Moments(None, *kept, np.concatenate(self._rows))
            for column in range(len(self._table)):  # in place: a copy would be as large
                self._table[column + 1 :, column] = 0.0
            return Moments(None, *kept, self._table)
        return Moments(self._table, *kept)

    def _make_room(self, parts: Sequence[np.ndarray], needed: Sequence[int]) -> None:
        """Divide what was summed by larger powers of two where the next rows are much larger than all before."""
        factors, width = np.zeros(len(self._table), dtype=np.int64), sum(self.sizes)
        start = 0
        for index, (part, exponent) in enumerate(zip(parts, needed, strict=True)):
            more = exponent - self._exponents[index]
            if more > SPARE_EXPONENTS:
                self._exponents[index] = exponent
                self._shifts[index] = times_power(self._shifts[index], -more)
                factors[start : start + part.shape[1]] = -more
                factors[width + 1 + index] = -2 * more
            start += part.shape[1]
        if not factors.any():
            return
        self._table = np.asfortranarray(times_power(self._table, factors))
        if not self._factored:
            self._table = np.asfortranarray(times_power(self._table, factors[:, None]))
        if self._rows is not None:
            self._rows = [times_power(rows, factors) for rows in self._rows]

    def _join(self, block: np.ndarray) -> None:
        """Add rows to those that wait, or to the triangle once there are more than columns."""
        waiting = [block]
        if self._rows is not None:
            self._rows.append(block)
            if sum(map(len, self._rows)) <= len(self._table):
                return
            waiting, self._rows = self._rows, None
        panel = min(COLUMNS_IN_PANEL, len(self._table))
        for rows in waiting:
            self._table = _add_rows_to_factor(0, panel, self._table, rows, overwrite_a=True, overwrite_b=True)[0]


def num_columns(sizes: Sequence[int]) -> int:
    """Return how many columns stand side by side for representations of some sizes."""
    return sum(sizes) + 1 + len(sizes)


def moments_of(*representations: Float[np.ndarray, "_ _"]) -> Moments:
    """Return the moments of representations that are in memory.

    Of the same samples, in the same order. Those with more columns than rows are turned, without loss, into as many
    columns as rows: everything that follows from moments is the same for them.
    """
    arrays = [np.asarray(one, dtype=np.float64) for one in representations]
    if any(one.ndim != 2 for one in arrays) or len({len(one) for one in arrays}) != 1:
        raise ShapeError(
            f"expected arrays (samples, columns) of the same samples, got {', '.join(str(one.shape) for one in arrays)}"
        )
    if not all(np.isfinite(one).all() for one in arrays):
        raise InputError("expected finite numbers, got NaN or infinite ones: leave those samples out")
    powers = [int(exponents(one)) for one in arrays]
    arrays = [times_power(one, -power) for one, power in zip(arrays, powers, strict=True)]
    arrays = [np.linalg.qr(one.T)[1].T if one.shape[1] > len(one) else one for one in arrays]
    found = MomentSum([one.shape[1] for one in arrays], factored=True)
    found.add(arrays)
    moments = found.finish()
    return replace(moments, exponents=tuple(np.add(moments.exponents, powers).tolist()))
