"""Linear conditions on variables in fractions, and what `and`, `or` and `not` make of them, in normal form."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product

from reluscope.analyses.verification.language.expressions import Expression, Listed, Word
from reluscope.errors import InputError

# Conjunctions that a disjunction of all conditions may have, and conditions in all of them; length of products.
MAX_CONJUNCTIONS, MAX_CONDITIONS = 100_000, 5_000_000
MAX_BITS = 2**14
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
_MAX_DIGITS = 1_000
_KNOWN = "<=, >=, =, and, or, not, =>"
_ORDERS = ("<=", ">=", "<", ">", "=", "==")


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


@dataclass(frozen=True)
class Scope:
    """What names stand for where an expression is read, and the lines of strict conditions that were read so far."""

    variables: Collection[str]
    bound: "Mapping[str, _Bound]" = field(default_factory=dict)  # by let
    strict: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class _Bound:
    """What a name is bound to, read where it is bound."""

    expression: Expression
    scope: Scope

    @cached_property
    def sum(self) -> LinearSum:
        return _sum(self.expression, self.scope)


def normal_form(expression: Expression, scope: Scope, *, is_negated: bool = False) -> list[Conjunction]:
    """Return the conjunctions, one of which holds where the expression does, or where it does not.

    Conditions are closed: of strict ones the edge is added, and the line noted. InputError, with the line, if something
    is no condition, not linear, or not declared.
    """
    if isinstance(expression, Word) and expression.text in scope.bound:
        known = scope.bound[expression.text]
        return normal_form(known.expression, known.scope, is_negated=is_negated)
    if isinstance(expression, Word) or not expression.parts or not isinstance(expression.parts[0], Word):
        raise InputError(f"line {expression.line}: expected a condition with one of {_KNOWN}, got {_shown(expression)}")
    word, parts = expression.parts[0], expression.parts[1:]
    match word.text:
        case "and" | "or" | "=>" if not parts:
            raise InputError(f"line {word.line}: expected conditions after {word.text!r}, got none")
        case "and" | "or":
            forms = [normal_form(part, scope, is_negated=is_negated) for part in parts]
            return all_of(forms, word.line) if (word.text == "and") != is_negated else _any_of(forms, word.line)
        case "=>":  # some condition does not hold, or the last one does
            forms = [normal_form(part, scope, is_negated=not is_negated) for part in parts[:-1]]
            forms.append(normal_form(parts[-1], scope, is_negated=is_negated))
            return all_of(forms, word.line) if is_negated else _any_of(forms, word.line)
        case "not":
            if len(parts) != 1:
                raise InputError(f"line {word.line}: expected one condition after 'not', got {len(parts)}")
            return normal_form(parts[0], scope, is_negated=not is_negated)
        case "let":
            body, inner = _let(word, parts, scope)
            return normal_form(body, inner, is_negated=is_negated)
        case text if text in _ORDERS:
            return _compared(word, parts, scope, is_negated)
        case "!=" | "distinct":
            raise InputError(
                f"line {word.line}: expected one of {_KNOWN}, got {word.text!r}: with its edge this is everything"
            )
    raise InputError(f"line {word.line}: expected one of {_KNOWN}, got {word.text[:40]!r}")


def _compared(word: Word, parts: list[Expression], scope: Scope, is_negated: bool) -> list[Conjunction]:
    """Return the normal form of sums in an order, each with the next."""
    if len(parts) < 2:
        raise InputError(f"line {word.line}: expected two sums after {word.text!r}, got {len(parts)}")
    order = word.text
    if not is_negated and order in ("<=", ">=") and (bound := _bound_of_one(parts, scope, order)) is not None:
        return [(Condition(bound, word.line),)]  # as most lines of large files are
    sums = [_sum(part, scope) for part in parts]
    if order in ("=", "=="):
        if is_negated:
            raise InputError(
                f"line {word.line}: expected one of {_KNOWN}, got the opposite of {order!r}: with its edge this is "
                "everything"
            )
        pairs = [*pairwise(sums), *pairwise(sums[::-1])]
    else:
        pairs = [*pairwise(sums if order[0] == "<" else sums[::-1])]
        if (len(order) == 1) != is_negated:
            scope.strict.append(word.line)
    if is_negated:  # some pair is in the other order
        pairs = [(high, low) for low, high in pairs]
    conditions = [Condition(LinearSum.of([low, high.times(Fraction(-1))]), word.line) for low, high in pairs]
    return [(one,) for one in conditions] if is_negated else [tuple(conditions)]


def _bound_of_one(parts: list[Expression], scope: Scope, order: str) -> LinearSum | None:
    """Return the sum of a variable that is compared with a number, None if that is not what stands there."""
    if len(parts) != 2 or scope.bound:
        return None
    variable, number = parts
    if not (isinstance(variable, Word) and isinstance(number, Word)) or variable.text not in scope.variables:
        return None
    if number.text in scope.variables:
        return None
    end, sign = _value(number, scope).constant, 1 if order == "<=" else -1
    return LinearSum({variable.text: Fraction(sign)}, -sign * end)


def _let(word: Word, parts: list[Expression], scope: Scope) -> tuple[Expression, Scope]:
    """Return the body of a let, and what names stand for in it."""
    bindings = parts[0] if len(parts) == 2 else None
    if not isinstance(bindings, Listed) or not all(isinstance(one, Listed) for one in bindings.parts):
        raise InputError(f"line {word.line}: expected (let ((NAME SUM) ...) CONDITION), got {len(parts)} parts")
    bound = dict(scope.bound)
    for one in bindings.parts:
        named = one.parts if isinstance(one, Listed) else []
        if len(named) != 2 or not isinstance(named[0], Word):
            raise InputError(f"line {one.line}: expected a name and what it stands for, got {_shown(one)}")
        bound[named[0].text] = _Bound(named[1], scope)
    return parts[1], replace(scope, bound=bound)


def all_of(parts: list[list[Conjunction]], line: int) -> list[Conjunction]:
    """Return the normal form of all of several normal forms together."""
    number = 1
    for part in parts:
        number *= len(part)
        if number > MAX_CONJUNCTIONS:
            raise InputError(_too_many(line))
    if number * sum(max(map(len, part), default=0) for part in parts) > MAX_CONDITIONS:
        raise InputError(
            f"line {line}: expected at most {MAX_CONDITIONS:,} conditions in the normal form, got more: split the "
            "property into several"
        )
    return [tuple(condition for one in chosen for condition in one) for chosen in product(*parts)]


def _any_of(parts: list[list[Conjunction]], line: int) -> list[Conjunction]:
    """Return the normal form of one of several normal forms."""
    found = [one for part in parts for one in part]
    if len(found) > MAX_CONJUNCTIONS:
        raise InputError(_too_many(line))
    return found


def _too_many(line: int) -> str:
    return (
        f"line {line}: expected at most {MAX_CONJUNCTIONS:,} conjunctions in the normal form, got more: split the "
        "property into several"
    )


def _sum(expression: Expression, scope: Scope) -> LinearSum:
    if isinstance(expression, Word):
        return _value(expression, scope)
    if len(expression.parts) < 2 or not isinstance(expression.parts[0], Word):
        raise InputError(f"line {expression.line}: expected a sum, got {_shown(expression)}")
    word = expression.parts[0]
    if word.text == "let":
        return _sum(*_let(word, expression.parts[1:], scope))
    if word.text not in _OPERATIONS:
        raise InputError(f"line {word.line}: expected a sum of +, -, * and /, got {word.text[:40]!r}")
    first, *others = (_sum(part, scope) for part in expression.parts[1:])
    return _OPERATIONS[word.text](first, others, word.line)


def _added(first: LinearSum, others: list[LinearSum], line: int) -> LinearSum:
    del line
    return LinearSum.of([first, *others])


def _subtracted(first: LinearSum, others: list[LinearSum], line: int) -> LinearSum:
    del line
    others = [other.times(Fraction(-1)) for other in others]
    return LinearSum.of([first, *others]) if others else first.times(Fraction(-1))


def _multiplied(first: LinearSum, others: list[LinearSum], line: int) -> LinearSum:
    for other in others:
        if first.terms and other.terms:
            raise InputError(f"line {line}: expected linear conditions, got a product of variables")
        first = _held(other.times(first.constant) if other.terms else first.times(other.constant), line)
    return first


def _divided(first: LinearSum, others: list[LinearSum], line: int) -> LinearSum:
    for other in others:
        if other.terms or not other.constant:
            raise InputError(f"line {line}: expected a sum divided by a number, got one divided by a variable or by 0")
        first = _held(first.times(1 / other.constant), line)
    return first


_OPERATIONS: dict[str, Callable[[LinearSum, list[LinearSum], int], LinearSum]] = {
    "+": _added,
    "-": _subtracted,
    "*": _multiplied,
    "/": _divided,
}


def _held(found: LinearSum, line: int) -> LinearSum:
    """Return a product; InputError if its numbers grow without end."""
    numbers = [found.constant, *found.terms.values()]
    if any(max(one.numerator.bit_length(), one.denominator.bit_length()) > MAX_BITS for one in numbers):
        raise InputError(f"line {line}: expected numbers that float64 can hold, got a product of many digits")
    return found


def _value(word: Word, scope: Scope) -> LinearSum:
    if word.text in scope.bound:
        return scope.bound[word.text].sum
    if word.text in scope.variables:
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
