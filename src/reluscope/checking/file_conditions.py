"""What conditions on a file's outputs say of its network's, where the file ends with a softmax, a sigmoid or the like.

For checkers alone, which share no code with what makes proofs. A bound ``f(z) <= t`` becomes ``z <= e`` with the
smallest float64 e of which ``f(e) >= t`` is proved: whether ``exp(x)`` is above a fraction is decided by its series in
whole numbers, with as many digits as that takes, and e is found by halving all of float64.
"""

import struct
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from reluscope.checking.demand import demand

if TYPE_CHECKING:
    from reluscope.networks.graph.left_off import LeftOff

# No end lies beyond, of numbers that float64 holds; digits of the series at first and at most.
FARTHEST, FIRST_BITS, MOST_BITS = 2.0**13, 64, 2**13
# From here on PyTorch takes x for softplus(x); beyond the second, its inverse is that up to exp(-2000).
LINEAR, LARGE = 20, 2_000

# Whether what is given to a function leads above a level (1), below it (-1), or to it (0); None if that is not known.
Side = Callable[[float], int | None]


class Conditions(NamedTuple):
    """Rows ``A y <= b`` and ``C y = d``."""

    A: np.ndarray
    b: np.ndarray
    C: np.ndarray
    d: np.ndarray


class _FileRow(NamedTuple):
    """A row over the file's outputs, and two float64 around its end; without entries it holds everywhere or nowhere."""

    entries: dict[int, float]
    low: float
    high: float


_EVERYWHERE, _NOWHERE = _FileRow({}, 0.0, 0.0), _FileRow({}, -1.0, -1.0)


def on_network(left_off: "LeftOff | None", unsafe: Any) -> Any:
    """Return conditions on a network's outputs that hold wherever the outputs in the file fulfil `unsafe`.

    Without `left_off` the conditions stay as they are. One that cannot be checked behind the file's end raises
    CertificateError.
    """
    if left_off is None:
        return unsafe
    size = 2 if left_off.of_two else int(np.prod(left_off.shape))
    demand(unsafe.A.shape[1] == unsafe.C.shape[1] == size, f"conditions are not on the {size} outputs of the file")
    sides = [_row(left_off, *one, is_equation=False) for one in _rows(unsafe.A, unsafe.b)]
    equal = [_row(left_off, *one, is_equation=True) for one in _rows(unsafe.C, unsafe.d)]
    sides += [one for one in equal if not one.entries]
    for one in equal:
        if one.entries and one.low != one.high:
            sides += [one, _FileRow({place: -entry for place, entry in one.entries.items()}, -one.high, -one.low)]
    sides = [one for one in sides if one != _EVERYWHERE]
    equal = [one for one in equal if one.entries and one.low == one.high]
    tables = [_table(left_off, [one.entries for one in rows]) for rows in (sides, equal)]
    ends = [np.array([one.high for one in rows]) for rows in (sides, equal)]
    return Conditions(tables[0], ends[0], tables[1], ends[1])


def _rows(normals: np.ndarray, ends: np.ndarray) -> Iterator[tuple[dict[int, Fraction], Fraction]]:
    for normal, end in zip(normals.tolist(), ends.tolist(), strict=True):
        yield {place: Fraction(entry) for place, entry in enumerate(normal) if entry != 0}, Fraction(end)


def _table(left_off: "LeftOff", rows: list[dict[int, float]]) -> np.ndarray:
    size = 2 if left_off.of_two else int(np.prod(left_off.shape))
    table = np.array([[row.get(place, 0.0) for place in range(size)] for row in rows]).reshape(len(rows), size)
    return table[:, 1:] if left_off.of_two else table  # the first score of two is 0


def _row(left_off: "LeftOff", row: dict[int, Fraction], end: Fraction, *, is_equation: bool) -> _FileRow:
    places = list(row)
    partners = _partners(left_off, places[0]) if left_off.name.endswith("softmax") and places else set()
    if not row:
        return _EVERYWHERE if (end == 0 if is_equation else end >= 0) else _NOWHERE
    if len(row) == 1:
        level, is_upper = end / row[places[0]], row[places[0]] > 0
        return _bound(left_off, places[0], partners, level, is_upper, is_equation)
    if left_off.name == "log_softmax":
        apart = {frozenset(_partners(left_off, place) | {place}) for place in places}
        balanced = all(sum(row.get(place, Fraction(0)) for place in group) == 0 for group in apart)
        demand(balanced, "a condition is on more than differences of the log-softmax that the file ends with")
        return _FileRow({place: float(entry) for place, entry in row.items()}, float(end), float(end))
    opposite = len(row) == 2 and end == 0 and row[places[0]] * row[places[1]] < 0
    demand(opposite, f"a condition does not go through the {left_off.name} that the file ends with")
    ahead, behind = sorted(places, key=lambda place: row[place] < 0)
    factor = -row[behind] / row[ahead]
    if left_off.name == "softmax":
        demand(places[1] in partners, "a condition compares outputs of two softmaxes")
    else:
        demand(factor == 1, f"a condition does not go through the {left_off.name} that the file ends with")
    low, high = _around(lambda x: _side_of_exp(Fraction(x), factor))
    return _FileRow({ahead: 1.0, behind: -1.0}, low, high)


def _bound(
    left_off: "LeftOff", place: int, partners: set[int], level: Fraction, is_upper: bool, is_equation: bool
) -> _FileRow:
    """Return what a bound of one output, from above or below, or both, says of scores."""
    name, is_softmax = left_off.name, left_off.name.endswith("softmax")
    if is_softmax and not partners:
        value = int(name == "softmax")
        holds = level == value if is_equation else level >= value if is_upper else level <= value
        return _EVERYWHERE if holds else _NOWHERE
    least = {"tanh": -1, "log_sigmoid": None, "log_softmax": None}.get(name, 0)
    most = {"softplus": None, "log_sigmoid": 0, "log_softmax": 0}.get(name, 1)
    if most is not None and level >= most:
        return _EVERYWHERE if is_upper and not is_equation else _NOWHERE
    if least is not None and level <= least:
        return _NOWHERE if is_upper or is_equation else _EVERYWHERE
    demand(len(partners) < 2, f"a condition bounds one of several outputs of the {name} that the file ends with")
    low, high = _inverse(left_off, level)
    entries = {place: 1.0, **dict.fromkeys(partners, -1.0)}
    return _FileRow(entries, low, high) if is_upper else _FileRow({one: -entries[one] for one in entries}, -high, -low)


def _partners(left_off: "LeftOff", place: int) -> set[int]:
    """Return the other outputs of the softmax that an output is one of."""
    if left_off.of_two:
        return {1 - place}
    own = np.unravel_index(place, left_off.shape)
    apart = [axis for axis in range(len(left_off.shape)) if axis not in left_off.axes]
    every = np.array(list(np.ndindex(*left_off.shape))).reshape(-1, len(left_off.shape))
    return {*np.flatnonzero((every[:, apart] == np.array(own)[apart]).all(axis=1)).tolist()} - {place}


def _inverse(left_off: "LeftOff", level: Fraction) -> tuple[float, float]:
    """Return the float64 on both sides of where a level is taken."""
    name = left_off.name
    if name in ("sigmoid", "softmax"):
        return _around(lambda x: _side_of_exp(Fraction(x), level / (1 - level)))
    if name == "tanh":
        return _around(lambda x: _side_of_exp(2 * Fraction(x), (1 + level) / (1 - level)))
    if name in ("log_sigmoid", "log_softmax"):
        low, high = _inverse_of_softplus(-level, Fraction(1))
        return -high, -low
    beta = Fraction(left_off.beta)
    low, high = _inverse_of_softplus(level, beta)
    return low, _at_least(level) if level * beta > LINEAR else high


def _inverse_of_softplus(level: Fraction, beta: Fraction) -> tuple[float, float]:
    if level * beta > LARGE:
        return -_at_least(-(level - Fraction(1, 2**2000))), _at_least(level)
    return _around(lambda x: _side_of_softplus(beta * Fraction(x), beta * level))


def _at_least(number: Fraction) -> float:
    """Return the smallest float64 that is not below a number."""
    near = float(number)
    return near if near >= number else float(np.nextafter(near, np.inf))


def _around(side: Side) -> tuple[float, float]:
    """Return the largest float64 that leads at most to a level, and the smallest that leads at least to it, as proved.

    They are found by halving; each end is right whatever is not known.
    """
    if side(0.0) == 0:
        return 0.0, 0.0
    demand(side(-FARTHEST) == -1 and side(FARTHEST) == 1, "a condition is too near to the end of what outputs can be")
    low, high = _order(-FARTHEST), _order(FARTHEST)
    while high - low > 1:
        middle = (low + high) // 2
        if side(_number(middle)) in (0, 1):
            high = middle
        else:
            low = middle
    while side(_number(low)) != -1:
        low -= 1
    return _number(low), _number(high)


def _order(number: float) -> int:
    """Return the place of a float64 among all."""
    (bits,) = struct.unpack("<q", struct.pack("<d", number))
    return bits if bits >= 0 else -(bits & (2**63 - 1))


def _number(order: int) -> float:
    """Return the float64 at a place."""
    size = struct.unpack("<d", struct.pack("<q", abs(order)))[0]
    return size if order >= 0 else -size


def _side_of_exp(x: Fraction, number: Fraction) -> int | None:
    """Return whether exp(x) is above a positive number."""
    if x == 0:
        return (number < 1) - (number > 1)
    bits = FIRST_BITS
    while bits <= MOST_BITS:
        low, high = _exp(x, bits)
        if low > number:
            return 1
        if high < number:
            return -1
        bits *= 2
    return None


def _side_of_softplus(x: Fraction, level: Fraction) -> int | None:
    """Return whether ``1 + exp(x)`` is above ``exp(level)``; they are never equal."""
    bits = FIRST_BITS
    while bits <= MOST_BITS:
        (low, high), (least, most) = _exp(x, bits), _exp(level, bits)
        if 1 + low > most:
            return 1
        if 1 + high < least:
            return -1
        bits *= 2
    return None


def _exp(x: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Return two fractions around exp(x): of ``|x| / 2^k`` by its series, squared k times, in whole numbers."""
    size = abs(x)
    halvings = max(0, size.numerator.bit_length() - size.denominator.bit_length() + 4)
    places = bits + 2 * halvings + 16
    one = 1 << places
    part = size * one / (1 << halvings)
    below, above = floor(part), ceil(part)
    low, high, least, most, step = 0, 0, one, one, 0
    while most > 1:  # each term is at most an eighth of the one before
        low, high, step = low + least, high + most, step + 1
        least, most = (least * below >> places) // step, (most * above >> places) // step + 1
    high += 2 * most  # each further term is less than half of the one before
    for _ in range(halvings):
        low, high = low * low >> places, (high * high >> places) + 1
    if x < 0:
        return Fraction(one, high), Fraction(one, low)
    return Fraction(low, one), Fraction(high, one)
