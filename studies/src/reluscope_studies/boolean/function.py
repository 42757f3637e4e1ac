"""Boolean functions of n inputs as packed truth tables.

Inputs are in lexicographic order: x1 changes slowest, the first row is all zeros, and its value is the most significant
bit of the number that names the function (the convention of Sattelberg's dissertation, Table 3.3).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float, Integer

from reluscope.arguments import Natural, read_arguments
from reluscope.errors import InputError, ShapeError
from reluscope_studies.boolean import formulas

MAX_INPUTS = 16


@read_arguments
@dataclass(frozen=True, repr=False)
class BooleanFunction:
    """A function from {0, 1}^n to {0, 1}; immutable and hashable.

    Parameters
    ----------
    num_inputs : int
        n, from 0 to 16.
    number : int
        The truth table as a binary number of 2^n digits, the value at the all-zero input first.

    Raises
    ------
    InputError
        If n is too large, or the number has more than 2^n binary digits.

    Examples
    --------
    >>> parity = BooleanFunction(4, 27030)
    >>> str(parity), parity == BooleanFunction.of_formula("x1 ^ x2 ^ x3 ^ x4")
    ('0110100110010110', True)
    >>> parity
    BooleanFunction(4, 27030)
    """

    ADVICE: ClassVar = "give boolean.BooleanFunction.of_values(...)"

    num_inputs: Natural
    number: int

    def __post_init__(self) -> None:
        check_num_inputs(self.num_inputs)
        if not _is_whole(self.number) or not 0 <= self.number < 1 << self.size:
            shown = str(self.number) if not _is_whole(self.number) or abs(self.number) < 10**30 else "a longer one"
            raise InputError(
                f"expected a whole number from 0 to 2^{self.size} - 1 for a function of {self.num_inputs} inputs, "
                f"got {shown}"
            )
        object.__setattr__(self, "num_inputs", int(self.num_inputs))
        object.__setattr__(self, "number", int(self.number))

    @classmethod
    @read_arguments
    def of_values(cls, values: Sequence[object] | np.ndarray | str) -> "BooleanFunction":
        """Return the function with a truth table.

        Parameters
        ----------
        values : sequence of 2^n zeros and ones, booleans, or minus ones and ones; or a string of zeros and ones
            In lexicographic order of the inputs.

        Raises
        ------
        ShapeError
            If the number of values is no power of two.
        InputError
            If a value is neither 0 nor 1 (or, throughout, neither -1 nor 1).

        Examples
        --------
        >>> BooleanFunction.of_values([-1, 1, 1, -1]) == BooleanFunction.of_values("0110")
        True
        """
        table = np.array([{"0": 0, "1": 1}.get(digit, 2) for digit in values] if isinstance(values, str) else values)
        size = len(table) if table.ndim == 1 else 0
        if size == 0 or size & (size - 1):
            raise ShapeError(
                f"expected a truth table of 2^n values in one row, got {len(table):,} values"
                if table.ndim == 1
                else f"expected a truth table of 2^n values in one row, got an array of shape {table.shape}"
            )
        check_num_inputs(size.bit_length() - 1)
        try:
            ones, zeros = table == 1, (table == 0, table == -1)
        except TypeError as error:
            raise InputError("expected truth values 0 and 1, or -1 and 1, got values of another kind") from error
        if not any((ones | low).all() for low in zeros):
            wrong = table[~(ones | zeros[0])] if not np.any(zeros[1]) else table[~(ones | zeros[1])]
            raise InputError(
                f"expected truth values 0 and 1 throughout, or -1 and 1, got {wrong[0]!s} among them: decide which "
                "values are true first"
            )
        # Tables of fewer than eight values would be filled up with zeros on the right.
        return cls(size.bit_length() - 1, int.from_bytes(np.packbits(ones).tobytes(), "big") >> max(0, 8 - size) % 8)

    @classmethod
    @read_arguments
    def of_formula(cls, text: str, *, num_inputs: Natural | None = None) -> "BooleanFunction":
        """Return the function that a formula in x1, x2, ... describes.

        Parameters
        ----------
        text : str
            With ``and or xor not`` or ``& | ^ ~``, ``0``, ``1`` and parentheses; ``not`` binds tightest, then ``and``,
            ``xor``, ``or``.
        num_inputs : int, optional
            By default the largest number of a variable.

        Raises
        ------
        InputError
            If the text is no formula, or names a variable beyond the number of inputs.

        Notes
        -----
        A formula that contradicts itself is the constant 0.

        Examples
        --------
        >>> BooleanFunction.of_formula("x1 & ~x2 | x3").number
        93
        """
        if num_inputs is None:
            num_inputs = formulas.num_variables(text)
        check_num_inputs(num_inputs)
        return cls(num_inputs, formulas.truth_table(text, num_inputs))

    @classmethod
    @read_arguments
    def of_callable(cls, rule: Callable[..., object], num_inputs: Natural) -> "BooleanFunction":
        """Return the function that a callable computes from n zeros and ones, called once for every input.

        Examples
        --------
        >>> majority = BooleanFunction.of_callable(lambda a, b, c: a + b + c >= 2, 3)
        >>> str(majority)
        '00010111'
        """
        check_num_inputs(num_inputs)
        return cls.of_values(np.array([rule(*row) for row in all_inputs(num_inputs).tolist()]))

    @property
    def size(self) -> int:
        """Number of inputs in the truth table, 2^n."""
        return 1 << self.num_inputs

    @property
    def values(self) -> Integer[np.ndarray, " size"]:
        """The truth table as zeros and ones, in lexicographic order."""
        whole = max(8, self.size)
        table = np.unpackbits(np.frombuffer((self.number << (whole - self.size)).to_bytes(whole // 8, "big"), np.uint8))
        return table[: self.size]

    @property
    def signs(self) -> Float[np.ndarray, " size"]:
        """The truth table as minus ones and ones."""
        return 2.0 * self.values - 1.0

    @property
    def is_constant(self) -> bool:
        """Whether one value is all there is."""
        return self.number in (0, (1 << self.size) - 1)

    @read_arguments
    def __call__(self, x: object) -> Integer[np.ndarray, "..."]:
        """Return the values at inputs of zeros and ones, shape (..., n)."""
        bits = np.asarray(x)
        if bits.ndim == 0 or bits.shape[-1] != self.num_inputs:
            raise ShapeError(f"expected inputs of {self.num_inputs} zeros and ones, got an array of shape {bits.shape}")
        if not ((bits == 0) | (bits == 1)).all():
            raise InputError("expected inputs of zeros and ones, got other values")
        return np.asarray(self.values[bits.astype(np.int64) @ (1 << np.arange(self.num_inputs)[::-1])])

    def __invert__(self) -> "BooleanFunction":
        return BooleanFunction(self.num_inputs, (1 << self.size) - 1 - self.number)

    def __xor__(self, other: "BooleanFunction") -> "BooleanFunction":
        return BooleanFunction(self._shared(other), self.number ^ other.number)

    def __and__(self, other: "BooleanFunction") -> "BooleanFunction":
        return BooleanFunction(self._shared(other), self.number & other.number)

    def __or__(self, other: "BooleanFunction") -> "BooleanFunction":
        return BooleanFunction(self._shared(other), self.number | other.number)

    def __str__(self) -> str:
        if self.size <= 64:
            return f"{self.number:0{self.size}b}"
        return f"a function of {self.num_inputs} inputs"

    def __repr__(self) -> str:
        shown = self.number if self.size <= 64 else hex(self.number)
        return f"BooleanFunction({self.num_inputs}, {shown})"

    def _shared(self, other: "BooleanFunction") -> int:
        if self.num_inputs != other.num_inputs:
            raise ShapeError(
                f"expected two functions of as many inputs, got {self.num_inputs} and {other.num_inputs}: name the "
                "number of inputs when you make them"
            )
        return self.num_inputs


@read_arguments
def all_inputs(num_inputs: Natural) -> Integer[np.ndarray, "size n"]:
    """Return all inputs in lexicographic order, as zeros and ones.

    Examples
    --------
    >>> all_inputs(2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    return np.arange(1 << num_inputs)[:, None] >> np.arange(num_inputs)[::-1] & 1


def check_num_inputs(num_inputs: object, most: int = MAX_INPUTS, of: str = "a truth table is kept") -> None:
    """Refuse a number of inputs that is no whole number or too large for what is asked."""
    if not _is_whole(num_inputs) or not 0 <= num_inputs <= most:  # pyright: ignore[reportOperatorIssue]
        raise InputError(f"{of} for functions of 0 to {most} inputs, got {num_inputs!s}")


def _is_whole(number: object) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)
