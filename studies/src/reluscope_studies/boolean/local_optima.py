"""Steady states of gradient flow on the two smallest problems, symbolically (Sattelberg, Section 3.3.3, corrected).

XOR on a line: inputs -1, 0, 0, 1 with targets -1, 1, 1, -1 and the network o1 max(w1 x + b1, 0) + o2 max(w2 x + b2, 0)
+ c. Where no unit changes its activity at an input (64 sign cases, 36 possible), the products o_i w_i and o_i b_i enter
linearly, so steady states with given units switched off (o_i = 0) solve a linear system. The derivative of the ReLU at
0 is 0. The flow is minus the gradient; the dissertation prints it with the other sign, which leaves the steady states
as they are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from reluscope.arguments import read_arguments
from reluscope.errors import SolverError
from reluscope.extending.analyses import (
    CONSTANT,
    Form,
    LinearProgram,
    ProgramStatus,
    Shown,
    deepest,
    highest,
    negative,
    whole_form,
)

INPUTS = (-1, 0, 1)
TARGETS = (-1, 1, -1)
WEIGHTS = (1, 2, 1)
Pattern = tuple[bool, bool, bool]


@dataclass(frozen=True, repr=False)
class SteadyState(Shown):
    """A family of steady states of XOR on a line within one sign case.

    Parameters
    ----------
    active : pair of three bool
        For each unit, whether it is active at the inputs -1, 0 and 1.
    is_silent : pair of bool
        For each unit, whether it is active somewhere with output weight 0.
    outputs : three sympy rationals
        At the inputs -1, 0 and 1.
    loss : sympy rational
        Sum of squared errors, the middle input twice.
    equations : tuple of sympy equations
        In w1, b1, o1, w2, b2, o2 and c; with the signs of the case they are necessary and sufficient.
    example : tuple of seven sympy rationals
        w1, b1, o1, w2, b2, o2, c of one of them, checked.
    is_minimum : bool
        Local minima are those that lower no loss nearby within the case; all others are saddles.
    """

    active: tuple[Pattern, Pattern]
    is_silent: tuple[bool, bool]
    outputs: tuple[Any, Any, Any]
    loss: Any
    equations: tuple[Any, ...]
    example: tuple[Any, ...]
    is_minimum: bool


@dataclass(frozen=True, repr=False)
class SingleUnitState(Shown):
    """A solution of the steady-state equations of max(a x, 0) + b on (-1, -1), (1, 1), and whether it is one.

    Parameters
    ----------
    case : str
        Sign of a.
    a, b, loss : sympy rationals
    is_steady : bool
        Whether the solution lies in its case; otherwise the gradient there is that of another case, and not zero.
    """

    case: str
    a: Any
    b: Any
    loss: Any
    is_steady: bool


def single_unit_states() -> tuple[SingleUnitState, ...]:
    """Return all solutions of the equations of the two-parameter problem.

    Returns
    -------
    tuple of SingleUnitState
        The optimum (2, -1); the solution (2, 1) of a < 0, which lies outside; the dead unit (0, 0). The dissertation's
        second optimum (-4, 2) has gradient (-14, 16).

    Examples
    --------
    >>> [(state.a, state.b, state.loss, state.is_steady) for state in single_unit_states()]
    [(2, -1, 0, True), (2, 1, 8, False), (0, 0, 2, True)]
    """
    import sympy

    a, b = sympy.symbols("a b", real=True)
    found = []
    for case, unit, slope in (("a > 0", (0, a), a), ("a < 0", (-a, 0), a), ("a = 0", (0, 0), None)):
        loss = (-1 - unit[0] - b) ** 2 + (1 - unit[1] - b) ** 2
        unknowns = (b,) if slope is None else (a, b)
        # At a = 0 the unit is off at both inputs and has no gradient.
        (solution,) = sympy.solve([sympy.diff(loss, one) for one in unknowns], unknowns, dict=True)
        at_a = solution.get(a, sympy.Integer(0))
        true_loss = (-1 - sympy.Max(-at_a, 0) - solution[b]) ** 2 + (1 - sympy.Max(at_a, 0) - solution[b]) ** 2
        is_steady = {"a > 0": at_a > 0, "a < 0": at_a < 0, "a = 0": True}[case]
        found.append(SingleUnitState(case, at_a, solution[b], sympy.nsimplify(true_loss), bool(is_steady)))
    return tuple(found)


def sign_cases() -> tuple[tuple[tuple[Pattern, Pattern], bool], ...]:
    """Return all 64 sign cases of XOR on a line, each with whether it is possible.

    Notes
    -----
    A unit is affine: active at -1 and 1 it is active between, inactive at both it is inactive between. So 6 of 8
    patterns of a unit are possible.

    Examples
    --------
    >>> sum(is_possible for _, is_possible in sign_cases())
    36
    """
    both = (False, True)
    patterns: list[Pattern] = [(first, second, third) for first in both for second in both for third in both]
    return tuple(((one, other), _possible(one) and _possible(other)) for one in patterns for other in patterns)


@lru_cache(maxsize=1)
def steady_states() -> tuple[SteadyState, ...]:
    """Return all families of steady states of XOR on a line.

    Returns
    -------
    tuple of SteadyState
        Sorted by loss: 0, 8/3 and 4, nothing else. Each has an example that was checked in rational arithmetic.

    Notes
    -----
    Families with parameters strictly inside a sign case. The order of the units and the sign of x are symmetries, so
    that most come several times; one that reaches into several cases comes once for each. Some seconds, kept for the
    process.

    Examples
    --------
    >>> sorted({str(state.loss) for state in steady_states()})
    ['0', '4', '8/3']
    >>> len(steady_states()), sum(state.is_minimum for state in steady_states())
    (45, 41)
    """
    found = [state for case, possible in sign_cases() if possible for state in _states_of(case)]
    return tuple(sorted(found, key=lambda state: state.loss))


@read_arguments
def case_loss(active: tuple[Pattern, Pattern]) -> tuple[Any, tuple[Any, ...]]:
    """Return the loss in a sign case as a polynomial, and its variables w1, b1, o1, w2, b2, o2, c."""
    import sympy

    symbols = sympy.symbols("w1 b1 o1 w2 b2 o2 c", real=True)
    units, constant = (symbols[:3], symbols[3:6]), symbols[6]
    total = sympy.Integer(0)
    for k, (x, target, weight) in enumerate(zip(INPUTS, TARGETS, WEIGHTS, strict=True)):
        output = constant + sum(o * (w * x + b) for (w, b, o), on in zip(units, active, strict=True) if on[k])
        total += weight * (output - target) ** 2
    return total, symbols


def _possible(pattern: Pattern) -> bool:
    return pattern[1] if pattern[0] and pattern[2] else (not pattern[1] if not (pattern[0] or pattern[2]) else True)


def _states_of(active: tuple[Pattern, Pattern]) -> Iterator[SteadyState]:
    live = [any(pattern) for pattern in active]
    for silent in product((False, True), repeat=2):
        if all(alive or not off for alive, off in zip(live, silent, strict=True)):
            state = _state(active, (silent[0], silent[1]))
            if state is not None:
                yield state


def _state(active: tuple[Pattern, Pattern], silent: tuple[bool, bool]) -> SteadyState | None:
    """Solve for o_i b_i, o_i w_i and c; None if no parameters have the signs of the case."""
    import sympy

    b: Any = sympy.symbols("b1_ b2_")
    w: Any = sympy.symbols("w1_ w2_")
    c: Any = sympy.Symbol("c", real=True)
    speaking = [i for i in (0, 1) if any(active[i]) and not silent[i]]
    outputs = [c + sum(b[i] + w[i] * x for i in speaking if active[i][k]) for k, x in enumerate(INPUTS)]
    pulls = [m * (y - t) for m, y, t in zip(WEIGHTS, outputs, TARGETS, strict=True)]
    conditions = [sum(pulls)]
    for i in speaking:
        conditions.append(sum(pulls[k] for k in range(3) if active[i][k]))
        conditions.append(sum(x * pulls[k] for k, x in enumerate(INPUTS) if active[i][k]))
    unknowns = [c, *(entry for i in speaking for entry in (b[i], w[i]))]
    solutions: Any = sympy.linsolve(conditions, unknowns)
    if not solutions:
        return None
    (solution,) = solutions
    values: dict[Any, Any] = dict(zip(unknowns, solution, strict=True))
    outputs = [sympy.expand(sympy.sympify(y).subs(values, simultaneous=True)) for y in outputs]
    # The loss is strictly convex in the outputs, so those of a steady state are unique.
    pulls = [m * (y - t) for m, y, t in zip(WEIGHTS, outputs, TARGETS, strict=True)]
    loss = sum(m * (y - t) ** 2 for m, y, t in zip(WEIGHTS, outputs, TARGETS, strict=True))
    example = _example(active, silent, outputs, pulls)
    if example is None:
        return None
    symbols = sympy.symbols("w1 b1 o1 w2 b2 o2", real=True)
    products = {b[i]: symbols[3 * i + 2] * symbols[3 * i + 1] for i in (0, 1)}
    products |= {w[i]: symbols[3 * i + 2] * symbols[3 * i] for i in (0, 1)}
    equations = [
        sympy.Eq(sympy.sympify(left).subs(products), sympy.sympify(right).subs(products))
        for left, right in values.items()
        if left != right
    ]
    is_minimum = True
    for i in (0, 1):
        if silent[i]:
            constant = sum(pulls[k] for k in range(3) if active[i][k])
            slope = sum(x * pulls[k] for k, x in enumerate(INPUTS) if active[i][k])
            is_minimum &= constant == 0 and slope == 0
            equations.append(sympy.Eq(symbols[3 * i + 2], 0))
            if not (constant == 0 and slope == 0):
                equations.append(sympy.Eq(slope * symbols[3 * i] + constant * symbols[3 * i + 1], 0))
    return SteadyState(
        active, silent, (outputs[0], outputs[1], outputs[2]), loss, tuple(equations), example, is_minimum
    )


def _example(
    active: tuple[Pattern, Pattern], silent: tuple[bool, bool], outputs: list[Any], pulls: list[Any]
) -> tuple[Any, ...] | None:
    """Return rational parameters with these outputs and signs, checked; None if there are none.

    Positive factors pass through a ReLU, so output weights of 1, -1 and 0 are enough.
    """
    from sympy import Rational

    for signs in product((1, -1), repeat=2):
        speaks = [
            0 if off or not any(pattern) else sign for off, pattern, sign in zip(silent, active, signs, strict=True)
        ]
        # w1, b1, w2, b2, c, and the margin of the active signs.
        rows: list[tuple[list[Fraction], Fraction, bool]] = []
        for k, x in enumerate(INPUTS):
            row = [Fraction(0)] * 4 + [Fraction(1), Fraction(0)]
            for i in (0, 1):
                seen = [Fraction(0)] * 6
                seen[2 * i : 2 * i + 2] = Fraction(x), Fraction(1)
                row = [a + b * speaks[i] * active[i][k] for a, b in zip(row, seen, strict=True)]
                side = [-entry if active[i][k] else entry for entry in seen]
                rows.append(([*side[:5], Fraction(1)], Fraction(0), False))
            rows.append((row, _fraction(outputs[k]), True))
        for i in (0, 1):
            if silent[i]:
                row = [Fraction(0)] * 6
                row[2 * i] = sum((x * _fraction(pulls[k]) for k, x in enumerate(INPUTS) if active[i][k]), Fraction(0))
                row[2 * i + 1] = sum((_fraction(pulls[k]) for k in range(3) if active[i][k]), Fraction(0))
                rows.append((row, Fraction(0), True))
        if (found := _point(rows)) is not None:
            w1, b1, w2, b2, c = (Rational(entry.numerator, entry.denominator) for entry in found[:5])
            values = (w1, b1, Rational(speaks[0]), w2, b2, Rational(speaks[1]), c)
            _check(active, values)
            return values
    return None


def _point(rows: list[tuple[list[Fraction], Fraction, bool]]) -> list[Fraction] | None:
    """Return a point with a positive last coordinate where rows are at most, or equal to, their ends; None if none is.

    A linear program finds one with small denominators, mostly; that there is none is decided in fractions.
    """
    program = LinearProgram(6)
    program.set_all_bounds(np.array([-9.0] * 5 + [0.0]), np.array([9.0] * 5 + [1.0]))
    for row, end, is_equation in rows:
        value = np.array([float(end)])
        program.add_rows(np.array([row], dtype=float), value, value if is_equation else None)
    solution = program.maximize(np.eye(6)[5])
    if solution.status is ProgramStatus.OPTIMAL and solution.value > 1e-6:
        near = [*(Fraction(entry).limit_denominator(60) for entry in solution.point[:5]), Fraction(1, 10**6)]
        products = [sum((a * b for a, b in zip(row, near, strict=True)), Fraction(0)) - end for row, end, _ in rows]
        if all(
            over == 0 if is_equation else over <= 0 for over, (_, _, is_equation) in zip(products, rows, strict=True)
        ):
            return near
    forms: list[Form] = [{5: -1, CONSTANT: 1}]
    for row, end, is_equation in rows:
        forms.append(whole_form([*(-entry for entry in row), end]))
        if is_equation:
            forms.append(negative(forms[-1]))
    start, depth = deepest(forms, 6)
    if depth < 0:
        return None
    found = highest({5: 1}, forms, start, is_sign_enough=True).point
    return list(found) if found[5] > 0 else None


def _fraction(value: Any) -> Fraction:
    """Return a rational number of sympy as a fraction."""
    return Fraction(int(value.p), int(value.q))


def _check(active: tuple[Pattern, Pattern], values: tuple[Any, ...]) -> None:
    """Compute the signs and the gradient in rational arithmetic."""
    units, constant = (values[:3], values[3:6]), values[6]
    seen = [[w * x + b for x in INPUTS] for w, b, _ in units]
    if any(
        (value > 0) != on
        for row, pattern in zip(seen, active, strict=True)
        for value, on in zip(row, pattern, strict=True)
    ):
        raise SolverError(f"expected parameters of the case {active}, and {values} has other signs; please report this")
    outputs = [constant + sum(o * max(row[k], 0) for (_, _, o), row in zip(units, seen, strict=True)) for k in range(3)]
    pulls = [m * (y - t) for m, y, t in zip(WEIGHTS, outputs, TARGETS, strict=True)]
    gradient = [sum(pulls)]
    for (_, _, o), row, pattern in zip(units, seen, active, strict=True):
        gradient.append(sum(pull * max(value, 0) for pull, value in zip(pulls, row, strict=True)))
        gradient.append(o * sum(pull for pull, on in zip(pulls, pattern, strict=True) if on))
        gradient.append(o * sum(x * pull for x, pull, on in zip(INPUTS, pulls, pattern, strict=True) if on))
    if any(gradient):
        raise SolverError(f"expected a steady state of the case {active}, and {values} is none; please report this")
