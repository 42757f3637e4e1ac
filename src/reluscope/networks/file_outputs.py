"""Conditions on the outputs of a file, as conditions on those of its network, which ends before a softmax or the like.

A bound of one output goes through an increasing function: ``f(z_i) <= t`` says ``z_i <= f^-1(t)``, a number between two
fractions that is rounded to the side that is asked for. With f increasing, and with a softmax, ``y_i <= y_j`` says
``z_i <= z_j``; a softmax of two outputs is the sigmoid of their difference, ``y_i <= c y_j`` says
``z_i - z_j <= log c``, and differences of log-softmaxes are those of their scores. Everything else is refused.
"""

import math
from collections.abc import Iterator
from enum import Enum
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from reluscope.errors import InputError
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.graph.increasing_functions import Ends, float_above, float_below, logarithm
from reluscope.networks.graph.left_off import LeftOff, range_of
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network

# Coefficients of the file's outputs, and two numbers between which the end of a condition lies.
Row = dict[int, Fraction]


class Rounding(Enum):
    """What becomes of numbers that float64 does not hold.

    OUTWARDS: every output that fulfils the conditions is within. INWARDS: none that does not. NEAREST: the nearest one.
    """

    OUTWARDS = "outwards"
    INWARDS = "inwards"
    NEAREST = "nearest"


class _Carried(NamedTuple):
    """A condition on scores, ``row z <= end`` or ``row z = end``, whose end lies between two fractions."""

    row: Row
    ends: Ends


_EVERYWHERE, _NOWHERE = _Carried({}, (Fraction(0), Fraction(0))), _Carried({}, (Fraction(-1), Fraction(-1)))


def num_file_outputs(network: Network) -> int:
    """Return how many entries one output of the file has.

    The network may have one output for the two of a binary classifier.
    """
    return network.num_outputs if network.left_off is None else network.left_off.num_outputs


def file_outputs(network: Network, x: Points) -> Float[np.ndarray, "s k"]:
    """Return the outputs of the file at points, including the operations that the network leaves off."""
    outputs = network(x)
    flat = outputs.reshape(len(outputs), -1).detach().cpu().numpy()
    return flat if network.left_off is None else network.left_off.values(flat, np.zeros_like(flat))[0]


def on_scores(left_off: LeftOff | None, conditions: Polyhedron, rounding: Rounding) -> Polyhedron:
    """Return conditions on the outputs of a file as conditions on those of its network.

    Half-spaces that hold everywhere are left out. Equations whose end no float64 holds become two half-spaces at the
    end, inwards ``0 <= -1``. Raises InputError for a condition that cannot be carried over.
    """
    if left_off is None:
        return conditions
    sides = [_carried(left_off, *one, is_equation=False) for one in _rows(conditions.A, conditions.b)]
    equal = [_carried(left_off, *one, is_equation=True) for one in _rows(conditions.C, conditions.d)]
    is_held = [low == high or rounding is Rounding.NEAREST for _, (low, high) in equal]
    kept = [one for one, held in zip(equal, is_held, strict=True) if held and one.row]
    for one, held in zip(equal, is_held, strict=True):
        if not one.row:
            sides.append(one)
        elif not held and rounding is Rounding.INWARDS:
            sides.append(_NOWHERE)
        elif not held:
            (low, high), turned = one.ends, {place: -factor for place, factor in one.row.items()}
            sides += [one, _Carried(turned, (-high, -low))]
    sides = [one if _rounded(one.ends, rounding) > -math.inf else _NOWHERE for one in sides]
    ends = [_rounded(one.ends, rounding) for one in sides]
    finite = [place for place, one in enumerate(sides) if ends[place] < math.inf and one != _EVERYWHERE]
    return Polyhedron(
        _as_array(left_off, [sides[place].row for place in finite]),
        np.array([ends[place] for place in finite]),
        _as_array(left_off, [one.row for one in kept]),
        np.array([_rounded(one.ends, Rounding.NEAREST) for one in kept]),
    )


def level_on_scores(left_off: LeftOff | None, outputs: tuple[int, ...], level: float) -> tuple[tuple[int, ...], float]:
    """Return the network's outputs and the level that match a level of one or a difference of the file's.

    For a softmax of two it is the difference; the level is the nearest float64. Raises InputError if the level cannot
    be carried over or is beyond what the output can be.
    """
    if left_off is None:
        return outputs, level
    if left_off.of_two:
        raise InputError(
            "expected outputs that the network has, which is one score for the probabilities of two classes: ask about "
            "network.logits"
        )
    row = dict(zip(outputs, (Fraction(1), Fraction(-1)), strict=False))
    found = _carried(left_off, row, Fraction(level), is_equation=True)
    if not found.row:
        raise InputError(
            f"expected a level that outputs of the {left_off.name} at the end of the file can be at, got {level:g}: "
            f"give one {range_of(left_off)}, or ask about network.logits"
        )
    return tuple(sorted(found.row, key=lambda place: -found.row[place])), _rounded(found.ends, Rounding.NEAREST)


def _rows(normals: np.ndarray, ends: np.ndarray) -> Iterator[tuple[Row, Fraction]]:
    for normal, end in zip(normals.tolist(), ends.tolist(), strict=True):
        yield {place: Fraction(factor) for place, factor in enumerate(normal) if factor}, Fraction(end)


def _as_array(left_off: LeftOff, rows: list[Row]) -> np.ndarray:
    """Return rows over the file's outputs as rows over those of the network."""
    table = np.zeros((len(rows), left_off.num_outputs))
    for place, row in enumerate(rows):
        table[place, list(row)] = [float(factor) for factor in row.values()]
    return table[:, 1:] if left_off.of_two else table


def _rounded(ends: Ends, rounding: Rounding) -> float:
    low, high = ends
    if rounding is Rounding.NEAREST:
        return float((low + high) / 2)
    return float_above(high) if rounding is Rounding.OUTWARDS else float_below(low)


def _carried(left_off: LeftOff, row: Row, end: Fraction, *, is_equation: bool) -> _Carried:
    """Return a condition ``row y <= end``, or ``row y = end``, as one on scores."""
    if not row:
        return _constant(Fraction(0), 1, end, is_equation)
    if len(row) == 1:
        ((place, factor),) = row.items()
        return _bound(left_off, place, end / factor, 1 if factor > 0 else -1, is_equation)
    if left_off.name == "log_softmax":
        if not any(sum(row.get(place, 0) for place in group) for group in left_off.groups.tolist()):
            return _Carried(row, (end, end))
    elif len(row) == 2 and end == 0:
        first, second = sorted(row, key=lambda place: -row[place])
        factor = -row[second] / row[first]
        if left_off.is_softmax and factor > 0 and second in _together(left_off, first):
            return _Carried({first: Fraction(1), second: Fraction(-1)}, logarithm(factor))
        if not left_off.is_softmax and factor == 1:
            return _Carried({first: Fraction(1), second: Fraction(-1)}, (end, end))
    raise InputError(
        f"expected conditions that go through the {left_off.name} that the file ends with and the network leaves off: "
        f"{_KNOWN[left_off.name]}, got {_shown(row, end, is_equation)}; ask about network.logits, whose outputs are "
        f"what the {left_off.name} is given"
    )


def _bound(left_off: LeftOff, place: int, level: Fraction, sign: int, is_equation: bool) -> _Carried:
    """Return a condition ``y <= level``, ``y >= level`` (with the sign -1), or ``y = level``, of one output y."""
    others = [one for one in _together(left_off, place) if one != place] if left_off.is_softmax else []
    if left_off.is_softmax and not others:
        return _constant(Fraction(left_off.name == "softmax"), sign, level, is_equation)
    function = left_off.function
    if function.upper is not None and level >= function.upper:
        return _EVERYWHERE if sign > 0 and not is_equation else _NOWHERE
    if function.lower is not None and level <= function.lower:
        return _EVERYWHERE if sign < 0 and not is_equation else _NOWHERE
    if len(others) > 1:
        raise InputError(
            f"expected a bound of an output of a {left_off.name} of two, or one that all outputs or none fulfil, got "
            f"{_shown({place: Fraction(sign)}, sign * level, is_equation)} of {len(others) + 1}: ask about orders of "
            "outputs, or about network.logits"
        )
    low, high = function.inverse(level)
    row = {place: Fraction(sign), **{other: Fraction(-sign) for other in others}}
    return _Carried(row, (low, high) if sign > 0 else (-high, -low))


def _constant(value: Fraction, sign: int, level: Fraction, is_equation: bool) -> _Carried:
    """Return a condition on a number."""
    holds = value == level if is_equation else sign * value <= sign * level
    return _EVERYWHERE if holds else _NOWHERE


def _together(left_off: LeftOff, place: int) -> list[int]:
    """Return the outputs of which a softmax is taken together with one."""
    return next(group for group in left_off.groups.tolist() if place in group)


_ONE_OR_ORDER = "bounds of one output, and orders of two"
_KNOWN = {
    **dict.fromkeys(("sigmoid", "log_sigmoid", "tanh", "softplus"), _ONE_OR_ORDER),
    "softmax": "orders and ratios of two outputs of the same softmax",
    "log_softmax": "differences of outputs of the same softmax",
}


def _shown(row: Row, end: Fraction, is_equation: bool) -> str:
    terms = " + ".join(f"{float(factor):g} Y_{place}" for place, factor in list(row.items())[:4])
    return f"{terms}{' + ...' if len(row) > 4 else ''} {'==' if is_equation else '<='} {float(end):g}"
