"""Properties from files of VNN-LIB, the language of the competition of verifiers: 1.0, and 2.0 for one network.

A file declares inputs ``X_0, X_1, ...`` and outputs ``Y_0, Y_1, ...`` and asserts what a counterexample fulfils: bounds
of inputs, and linear conditions on outputs and inputs. Numbers are read as fractions. Bounds of inputs are rounded to
the nearest float64; other conditions are multiplied by what makes float64 hold all their numbers. Where there is no
such factor, as for an end of twenty digits, the end is rounded so that more outputs are unsafe, and a warning says so.

Reference: Demarchi, Guidotti, Pulina, Tacchella, "Supporting standardization of neural networks verification with
VNN-LIB and CoCoNet" (FoMLAS 2023); https://www.vnnlib.org.
"""

import os
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from fractions import Fraction
from math import inf, lcm, nextafter
from pathlib import Path

import numpy as np

from reluscope.analyses.verification.language.conditions import Condition, Conjunction, Scope, all_of, normal_form
from reluscope.analyses.verification.language.expressions import Word, expressions, shown
from reluscope.analyses.verification.language.tensors import entries, renamed, without_blanks
from reluscope.analyses.verification.property import LARGEST_INPUT, LARGEST_ROW, Case, Property
from reluscope.arguments import read_arguments
from reluscope.errors import InputError
from reluscope.geometry.polyhedra.polyhedron import Polyhedron

# Numbers nearer to 0 are not read: float64 would round them by much, or to 0.
TINY = 1e-300
# Commands that say nothing about the property.
_IGNORED = ("set-logic", "set-info", "set-option", "check-sat", "get-model", "get-value", "exit")
_VARIABLE = re.compile(r"([XY])_(0|[1-9]\d{0,8})")


@read_arguments
def read_property(path: str | os.PathLike[str]) -> Property:
    """Return the property of a VNN-LIB file.

    Parameters
    ----------
    path : path
        A ``.vnnlib`` file.

    Returns
    -------
    Property

    Raises
    ------
    InputError
        With the line, if something cannot be read: truncated text, unknown commands, products of variables, several
        networks or tensors, and inputs without bounds of their own. Also if no input fulfils the bounds.

    Notes
    -----
    Conditions are sums with ``+``, ``-``, ``*`` and ``/``, in order by ``<=``, ``>=``, ``=``, ``<`` and ``>``, joined
    by ``and``, ``or``, ``not`` and ``=>``, with names by ``let``. Where one relates inputs, to each other or to
    outputs, the property says ``relates_inputs``. A strict condition is read with its edge, and a
    warning says so: what holds for more unsafe outputs holds.

    Examples
    --------
    >>> import tempfile, pathlib, reluscope as rs
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.vnnlib"
    >>> _ = path.write_text(
    ...     "(declare-const X_0 Real) (declare-const Y_0 Real)"
    ...     "(assert (>= X_0 -1)) (assert (<= X_0 1)) (assert (>= Y_0 3))"
    ... )
    >>> read = rs.verification.read_property(path)
    >>> read.cases[0].lower, read.cases[0].unsafe[0].b
    (array([-1.]), array([-3.]))
    """
    name = Path(path).name
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{name} must be a text of VNN-LIB, got bytes that are no text") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}): check that it is a .vnnlib file") from None
    try:
        return parse_property(text)
    except InputError as error:
        raise InputError(f"{name}, {error}") from None


def parse_property(text: str) -> Property:
    """Return the property that a text in VNN-LIB says."""
    declared: dict[str, int] = {}
    tensors: dict[str, str] = {}
    asserted: list[list[Conjunction]] = []
    strict: list[int] = []
    line = 1
    for command in expressions(without_blanks(text)):
        words = [part.text if isinstance(part, Word) else "" for part in command.parts]
        line = command.line
        match words:
            case ["declare-const", name, "Real"] | ["declare-fun", name, "", "Real"]:
                if not _VARIABLE.fullmatch(name):
                    raise InputError(f"line {line}: expected variables named X_0 or Y_0 and so on, got {name[:40]!r}")
                if name in declared:
                    raise InputError(f"line {line}: expected each variable once, got {name} again")
                declared[name] = line
            case ["vnnlib-version", version]:
                if version not in ("<1.0>", "<2.0>"):
                    raise InputError(f"line {line}: expected VNN-LIB <1.0> or <2.0>, got {version[:40]!r}")
            case ["declare-network", _, *_]:
                if declared:
                    raise InputError(f"line {line}: expected the variables of one network, got others before it")
                tensors = entries(command)
                declared = dict.fromkeys(tensors.values(), line)
            case ["assert", _]:
                condition = renamed(command.parts[1], tensors) if tensors else command.parts[1]
                asserted.append(normal_form(condition, Scope(declared.keys(), strict=strict)))
            case [word, *_] if word in _IGNORED:
                pass
            case _:
                raise InputError(
                    f"line {line}: expected (declare-const NAME Real), (declare-network ...) or (assert CONDITION), "
                    f"got {shown(word or '(...)' for word in words)}"
                )
    if strict:
        more = f" and {len(strict) - 1:,} more" if strict[1:] else ""
        warnings.warn(
            f"line {strict[0]}{more}: a strict condition is read with its edge, so that more is unsafe", stacklevel=2
        )
    sizes = {letter: _number(declared, letter, what, line) for letter, what in (("X", "inputs"), ("Y", "outputs"))}
    boxes: dict[tuple[bytes, bytes], tuple[np.ndarray, np.ndarray, list[Polyhedron]]] = {}
    # What is asserted in any case is read once, however many cases there are.
    relates = any(_relates_inputs(one) for part in asserted for conjunction in part for one in conjunction)
    common = _Ends(sizes["X"], sizes["Y"], relates_inputs=relates).and_(
        condition for part in asserted if len(part) == 1 for condition in part[0]
    )
    for conjunction in all_of([part for part in asserted if len(part) != 1], line):
        lower, upper, unsafe = common.and_(conjunction).case(declared)
        if (lower <= upper).all():
            _, _, polyhedra = boxes.setdefault((lower.tobytes(), upper.tobytes()), (lower, upper, []))
            polyhedra.append(unsafe)
    if not boxes:
        raise InputError(f"line {line}: expected inputs that fulfil the conditions, got lower above upper bounds")
    return Property([Case(*one) for one in boxes.values()], relates_inputs=relates)


def _number(declared: Mapping[str, int], letter: str, what: str, line: int) -> int:
    names = [name for name in declared if name[0] == letter]
    if not names:
        raise InputError(f"line {line}: expected {what} {letter}_0, {letter}_1 and so on, got none")
    for name in names:
        if int(name[2:]) >= len(names):
            missing = next(k for k in range(len(names)) if f"{letter}_{k}" not in declared)
            raise InputError(f"line {declared[name]}: expected {letter}_{missing} beside {name}, got no such variable")
    return len(names)


def _relates_inputs(condition: Condition) -> bool:
    terms = condition.sum.terms
    return len(terms) > 1 and any(name[0] == "X" for name in terms)


class _Ends:
    """What a conjunction says: ends of inputs, infinite where there is none, and rows of outputs, and inputs behind."""

    def __init__(self, num_inputs: int, num_outputs: int, *, relates_inputs: bool) -> None:
        self._starts = {"Y": 0, "X": num_outputs}
        self._num_columns = num_outputs + num_inputs * relates_inputs
        self._floats = np.full(num_inputs, -inf), np.full(num_inputs, inf)
        self._ends: tuple[dict[int, Fraction], dict[int, Fraction]] = {}, {}
        self._rows: list[np.ndarray] = []
        self._offsets: list[float] = []

    def and_(self, conditions: Iterable[Condition]) -> "_Ends":
        """Return what this and some conditions say."""
        found = copy(self)
        found._rows, found._offsets = [*self._rows], [*self._offsets]
        changed: tuple[dict[int, Fraction], dict[int, Fraction]] = {}, {}
        for condition in conditions:
            if (bound := self._bound(condition)) is None:
                found._add(condition)
                continue
            side, place, end = bound
            known = changed[side].get(place, self._ends[side].get(place, end))
            changed[side][place] = min(known, end) if side else max(known, end)
        if any(changed):
            found._ends = {**self._ends[0], **changed[0]}, {**self._ends[1], **changed[1]}
            found._floats = self._floats[0].copy(), self._floats[1].copy()
            for ends, table in zip(changed, found._floats, strict=True):
                table[list(ends)] = [float(end) for end in ends.values()]
        return found

    def case(self, declared: Mapping[str, int]) -> tuple[np.ndarray, np.ndarray, Polyhedron]:
        """Return the box and the polyhedron."""
        for table, kind in zip(self._floats, ("lower", "upper"), strict=True):
            if not np.isfinite(table).all():
                name = f"X_{int(np.argmin(np.isfinite(table)))}"
                raise InputError(f"line {declared[name]}: expected bounds of {name}, got no {kind} one")
        rows = np.array(self._rows).reshape(-1, self._num_columns)
        return *self._floats, Polyhedron(rows, np.array(self._offsets))

    @staticmethod
    def _bound(condition: Condition) -> tuple[int, int, Fraction] | None:
        """Return the side, the input and the end that a condition bounds; None if it bounds no single input."""
        terms = condition.sum.terms
        if len(terms) != 1 or next(iter(terms))[0] == "Y":
            return None
        ((name, factor),) = terms.items()
        bound = -condition.sum.constant / factor
        if abs(_float(bound, condition)) > LARGEST_INPUT:
            raise InputError(
                f"line {condition.line}: expected bounds of inputs up to {LARGEST_INPUT:g}, got {float(bound):g}"
            )
        return int(factor > 0), int(name[2:]), bound

    def _add(self, condition: Condition) -> None:
        """Add a row of outputs and inputs, or a condition without variables."""
        terms = condition.sum.terms
        row, numbers = np.zeros(self._num_columns), _floats([*terms.values(), -condition.sum.constant], condition)
        row[[self._starts[name[0]] + int(name[2:]) for name in terms]] = numbers[:-1]
        self._rows.append(row)
        self._offsets.append(numbers[-1])


def _floats(values: Sequence[Fraction], condition: Condition) -> list[float]:
    """Return the numbers of a condition, all multiplied by something positive where float64 does not hold them."""
    largest = max(map(abs, values[:-1]), default=abs(values[-1]))
    if largest and not 1 / LARGEST_ROW <= largest <= LARGEST_ROW:
        values, largest = [value * _inverse(largest) for value in values], largest * _inverse(largest)
    if _are_held(values):
        return [_float(value, condition) for value in values]
    # Whole numbers, of which those of a few digits are held; then moved near to 1.
    scaled = _whole(values, values, largest)
    if _are_held(scaled):
        return [_float(value, condition) for value in scaled]
    scaled = _whole(values, values[:-1], largest)
    if _are_held(scaled[:-1]):
        values = scaled
    *row, end = values
    found = _float(end, condition)
    # HOLDS for the larger unsafe set is HOLDS.
    found = found if Fraction(found) >= end else nextafter(found, inf)
    rest = "" if _are_held(row) else ", and its other numbers to the nearest"
    warnings.warn(
        f"line {condition.line}: float64 holds no multiple of this condition; its end is rounded to {found!r}, so that "
        f"more outputs are unsafe{rest}",
        stacklevel=2,
    )
    return [*(_float(value, condition) for value in row), found]


def _whole(values: Sequence[Fraction], those: Sequence[Fraction], largest: Fraction) -> list[Fraction]:
    """Return numbers times what makes some of them whole, and the largest near to 1."""
    scale = lcm(*(value.denominator for value in those))
    return [value * scale * _inverse(largest * scale) for value in values]


def _inverse(number: Fraction) -> Fraction:
    """Return the power of two that brings a positive number near to 1."""
    return Fraction(2) ** (number.denominator.bit_length() - number.numerator.bit_length())


def _are_held(values: Sequence[Fraction]) -> bool:
    """Return whether float64 holds numbers as they are."""
    try:
        return all(Fraction(float(value)) == value for value in values)
    except OverflowError:
        return False


def _float(value: Fraction, condition: Condition) -> float:
    try:
        found = float(value)
    except OverflowError:
        raise InputError(f"line {condition.line}: expected numbers that float64 can hold, got a larger one") from None
    if value and abs(found) < TINY:
        raise InputError(f"line {condition.line}: expected 0 or numbers from {TINY:g} on, got a smaller one")
    return found
