"""Linear conditions on variables in rational arithmetic, and what `and` and `or` make of them, in normal form."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product

from reluscope.analyses.verification.language.expressions import Expression, Listed, Word
from reluscope.errors import InputError

# Conjunctions that a disjunction of all conditions may have, and conditions in all of them; length of products.
MAX_CONJUNCTIONS, MAX_CONDITIONS = 100_000, 5_000_000
MAX_BITS = 2**14
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
_MAX_DIGITS = 1_000
_KNOWN = "<=, >=, ==, and, or"


@dataclass(frozen=True)
class LinearSum:
    """A linear function of variables: coefficients by name, and a constant."""

    terms: dict[str, Fraction]
    constant: Fraction

    @staticmethod
    def of(parts: Iterable["LinearSum"]) -> "LinearSum":
        """Return the sum of several."""
        terms: dict[str, Fraction] = {}
        constant = Fraction(0)
        for part in parts:
            constant += part.constant
            for name, value in part.terms.items():
                terms[name] = terms.get(name, Fraction(0)) + value
        return LinearSum({name: value for name, value in terms.items() if value}, constant)

    def times(self, factor: Fraction) -> "LinearSum":
        """Return the multiple."""
        return LinearSum({name: factor * value for name, value in self.terms.items() if factor}, factor * self.constant)


@dataclass(frozen=True)
class Condition:
    """That a sum is at most 0, said on a line."""

    sum: LinearSum
    line: int


Conjunction = tuple[Condition, ...]


def normal_form(expression: Expression, variables: set[str]) -> list[Conjunction]:
    """Return the conjunctions, one of which holds where the expression does.

    InputError, with the line, if something is no condition, not linear, or not declared.
    """
    if isinstance(expression, Word) or not expression.parts or not isinstance(expression.parts[0], Word):
        raise InputError(f"line {expression.line}: expected a condition with one of {_KNOWN}, got {_shown(expression)}")
    word, parts = expression.parts[0], expression.parts[1:]
    match word.text:
        case "and" | "or" if not parts:
            raise InputError(f"line {word.line}: expected conditions after {word.text!r}, got none")
        case "and":
            return all_of([normal_form(part, variables) for part in parts], word.line)
        case "or":
            return [one for part in parts for one in normal_form(part, variables)]
        case "<=" | ">=" | "==":
            if len(parts) < 2:
                raise InputError(f"line {word.line}: expected two sums after {word.text!r}, got {len(parts)}")
            sums = [_sum(part, variables) for part in parts]
            pairs = [*pairwise(sums)] * (word.text != ">=") + [*pairwise(sums[::-1])] * (word.text != "<=")
            return [tuple(Condition(LinearSum.of([low, high.times(Fraction(-1))]), word.line) for low, high in pairs)]
        case "<" | ">" | "!=":
            raise InputError(
                f"line {word.line}: expected one of {_KNOWN}, got {word.text!r}: what is unsafe is closed here, write "
                "<= or >="
            )
    raise InputError(f"line {word.line}: expected one of {_KNOWN}, got {word.text[:40]!r}")


def all_of(parts: list[list[Conjunction]], line: int) -> list[Conjunction]:
    """Return the normal form of all of several normal forms together."""
    number = 1
    for part in parts:
        number *= len(part)
        if number > MAX_CONJUNCTIONS:
            raise InputError(
                f"line {line}: expected at most {MAX_CONJUNCTIONS:,} conjunctions in the normal form, got more: split "
                "the property into several"
            )
    if number * sum(max(map(len, part), default=0) for part in parts) > MAX_CONDITIONS:
        raise InputError(
            f"line {line}: expected at most {MAX_CONDITIONS:,} conditions in the normal form, got more: split the "
            "property into several"
        )
    return [tuple(condition for one in chosen for condition in one) for chosen in product(*parts)]


def _sum(expression: Expression, variables: set[str]) -> LinearSum:
    if isinstance(expression, Word):
        return _value(expression, variables)
    if len(expression.parts) < 2 or not isinstance(expression.parts[0], Word):
        raise InputError(f"line {expression.line}: expected a sum, got {_shown(expression)}")
    word = expression.parts[0]
    if word.text not in ("+", "-", "*"):
        raise InputError(f"line {word.line}: expected a sum of +, - and *, got {word.text[:40]!r}")
    first, *others = (_sum(part, variables) for part in expression.parts[1:])
    match word.text:
        case "+":
            return LinearSum.of([first, *others])
        case "-":
            others = [other.times(Fraction(-1)) for other in others]
            return LinearSum.of([first, *others]) if others else first.times(Fraction(-1))
    for other in others:
        if first.terms and other.terms:
            raise InputError(f"line {word.line}: expected linear conditions, got a product of variables")
        first = other.times(first.constant) if other.terms else first.times(other.constant)
        numbers = [first.constant, *first.terms.values()]
        if any(max(one.numerator.bit_length(), one.denominator.bit_length()) > MAX_BITS for one in numbers):
            raise InputError(f"line {word.line}: expected numbers that float64 can hold, got a product of many digits")
    return first


def _value(word: Word, variables: set[str]) -> LinearSum:
    if word.text in variables:
        return LinearSum({word.text: Fraction(1)}, Fraction(0))
    if len(word.text) > _MAX_DIGITS or not _NUMBER.fullmatch(word.text):
        raise InputError(f"line {word.line}: expected a number or a declared variable, got {word.text[:40]!r}")
    return LinearSum({}, Fraction(word.text))


def _shown(expression: Expression) -> str:
    if isinstance(expression, Word):
        return repr(expression.text[:40])
    first = expression.parts[0] if expression.parts else None
    return (
        "'()'"
        if first is None
        else f"'(...)' with {len(expression.parts)} parts"
        if isinstance(first, Listed)
        else (f"'({first.text[:40]} ...)'")
    )
