"""Conditions behind a softmax or a sigmoid as the checker sees them, beside formulas with 60 digits, and its series."""

import itertools
from decimal import Decimal, localcontext
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import reluscope as rs
from reluscope.checking.file_conditions import (
    FARTHEST,
    _around,
    _at_least,
    _exp,
    _number,
    _order,
    _side_of_exp,
    _side_of_softplus,
    on_network,
)
from reluscope.errors import CertificateError
from reluscope.networks.graph.left_off import LeftOff

LEFT_OFF = [
    *(LeftOff(name, (3,)) for name in ("sigmoid", "tanh", "log_sigmoid", "softplus")),
    LeftOff("softplus", (3,), beta=3.0),
    *(LeftOff(name, (2, 2), (1,)) for name in ("softmax", "log_softmax")),
    *(LeftOff(name, (3,), (0,)) for name in ("softmax", "log_softmax")),
    *(LeftOff(name, (2,), ()) for name in ("softmax", "log_softmax")),
    LeftOff("softmax", (1,), of_two=True),
]
ENTRIES = (1.0, -1.0, 0.5, -3.0)
ENDS = (-1.0, 0.0, 1.0, 0.5, -0.5, 2.0, -3.0, 25.0, 700.0, 2500.0, 1e-18, 1 - 2.0**-53, 0.3, -0.7)


def groups_of(left_off):
    """Return the outputs that one softmax is over, each as a tuple."""
    if left_off.of_two:
        return [(0, 1)]
    places = np.arange(np.prod(left_off.shape)).reshape(left_off.shape)
    if not left_off.axes:
        return [(int(place),) for place in places.ravel()]
    return (
        [tuple(group) for group in np.moveaxis(places, left_off.axes, range(1, 1 + len(left_off.axes))).tolist()]
        if (places.ndim > 1)
        else [tuple(places.tolist())]
    )


def exactly(left_off, scores):
    """Return the outputs of the file as decimals with many digits."""
    z = [Decimal(score) for score in scores]
    if left_off.of_two:
        z = [Decimal(0), *z]
    name, beta = left_off.name, Decimal(left_off.beta)
    if name.endswith("softmax"):
        values = dict.fromkeys(range(len(z)))
        for group in groups_of(left_off):
            most = max(z[place] for place in group)
            total = sum((z[place] - most).exp() for place in group)
            for place in group:
                values[place] = (
                    z[place] - most - total.ln() if name == "log_softmax" else (z[place] - most).exp() / total
                )
        return [values[place] for place in range(len(z))]
    of_one = {
        "sigmoid": lambda one: 1 / (1 + (-one).exp()),
        "tanh": lambda one: 1 - 2 / ((2 * one).exp() + 1),
        "log_sigmoid": lambda one: -(1 + (-one).exp()).ln(),
        "softplus": lambda one: (1 + (beta * one).exp()).ln() / beta,
    }[name]
    return [of_one(one) for one in z]


def is_refused(left_off, row, end):
    """Return whether nothing can be said of scores by one row."""
    places, name = np.flatnonzero(row), left_off.name
    apart = groups_of(left_off) if name.endswith("softmax") else []
    own = [group for group in apart if set(group) & set(places.tolist())]
    if len(places) == 0:
        return False
    if len(places) == 1:
        level = end / row[places[0]]
        least, most = (-np.inf if name == "log_softmax" else 0), (0 if name == "log_softmax" else 1)
        return bool(own) and len(own[0]) > 2 and least < level < most
    if name == "log_softmax":
        return any(sum(row[place] for place in group) != 0 for group in own)
    opposite = len(places) == 2 and end == 0 and row[places[0]] * row[places[1]] < 0
    if not opposite:
        return True
    return len(own) > 1 if name == "softmax" else row[places[0]] != -row[places[1]]


def contains(found, scores):
    """Return whether scores fulfil all rows in fractions, and whether they are at the end of some row."""
    z = [Fraction(score) for score in scores]

    def excess(rows, ends):
        return [
            sum((Fraction(a) * b for a, b in zip(row, z, strict=True)), Fraction(0)) - Fraction(end)
            for row, end in zip(rows.tolist(), ends.tolist(), strict=True)
        ]

    sides, equal = excess(found.A, found.b), excess(found.C, found.d)
    return all(one <= 0 for one in sides) and not any(equal), 0 in sides or 0 in equal


def rows_of(rng, size):
    """Return rows with up to three entries, and their ends."""
    for end in ENDS:
        yield np.zeros(size), end
        for _ in range(2):
            row = np.zeros(size)
            row[rng.integers(size)] = rng.choice(ENTRIES)
            yield row, end * abs(row).max()
    for _ in range(20 if size > 1 else 0):
        row = np.zeros(size)
        row[rng.choice(size, 2, replace=False)] = rng.choice(ENTRIES, 2) if rng.random() < 0.5 else (1.0, -1.0)
        yield row, rng.choice([0.0, 0.0, 0.75])
    for _ in range(4 if size > 2 else 0):
        row = np.zeros(size)
        row[rng.choice(size, 3, replace=False)] = 1.0, 1.0, -2.0
        yield row, 0.25


@pytest.mark.few(5)
@pytest.mark.parametrize("left_off", LEFT_OFF, ids=str)
def test_conditions_hold_where_those_of_the_file_do_and_right_beside_them_not(left_off):
    rng = np.random.default_rng(0)
    size = 2 if left_off.of_two else int(np.prod(left_off.shape))
    none = np.zeros((0, size)), np.zeros(0)
    for row, end in rows_of(rng, size):
        made = [rs.Polyhedron([row], [end]), rs.Polyhedron([-row], [-end]), rs.Polyhedron(*none, [row], [end])]
        if is_refused(left_off, row, end):
            for one in made:
                with pytest.raises(CertificateError):
                    on_network(left_off, one)
            continue
        below, above, equal = (on_network(left_off, one) for one in made)
        num_scores = 1 if left_off.of_two else size
        assert below.A.shape[1] == equal.C.shape[1] == num_scores
        places = np.flatnonzero(row) if not left_off.of_two else [0]
        near = [*below.b.tolist(), *(-below.b).tolist(), *equal.d.tolist(), 0.0]
        near = [*near, *np.nextafter(near, np.inf).tolist(), *np.nextafter(near, -np.inf).tolist()]
        points = rng.normal(scale=5, size=(4, num_scores))
        for value, place in itertools.product([one for one in near if abs(one) < 2000], places):
            point = np.zeros(num_scores)
            point[place] = value
            points = np.concatenate([points, [point]])
        for scores in points:
            with localcontext() as context:
                context.prec = 60
                excess = sum(Decimal(a) * b for a, b in zip(row, exactly(left_off, scores), strict=True)) - Decimal(end)
            (is_below, at_end), (is_above, at_other) = contains(below, scores), contains(above, scores)
            room = Decimal("3e-9") if left_off.name == "softplus" else Decimal(0)  # PyTorch's own is x from 20 on
            tiny = Decimal(10) ** -50  # of what cancels
            assert is_below or excess > -tiny
            assert is_above or excess < tiny
            assert not is_below or at_end or excess < tiny + room
            assert not is_above or at_other or excess > -tiny - room
            assert contains(equal, scores)[0] == (is_below and is_above)


@pytest.mark.parametrize("bits", [16, 64, 300])
def test_the_series_of_the_exponential_function_encloses_it(bits):
    rng = np.random.default_rng(bits)
    sizes = [Fraction(float(2.0**power * rng.uniform(0.5, 1))) for power in range(-60, 14)]
    for x in [Fraction(0), Fraction(1, 3), Fraction(10) ** -400, *sizes, *(-size for size in sizes)]:
        low, high = _exp(x, bits)
        with mpmath.workprec(bits + 200):
            exact = mpmath.exp(mpmath.mpf(x.numerator) / x.denominator)
            assert mpmath.mpf(low.numerator) / low.denominator <= exact
            assert exact <= mpmath.mpf(high.numerator) / high.denominator
        assert high - low <= low / 2**bits


def test_sides_are_told_and_ties_at_zero_are_exact():
    assert [_side_of_exp(Fraction(0), Fraction(number)) for number in ("1/2", "1", "2")] == [1, 0, -1]
    e = Fraction(mpmath.nstr(mpmath.e, 15))
    with mpmath.workdps(250):
        for x in (Fraction(1), Fraction(-7, 3), Fraction(300)):
            exact = mpmath.exp(mpmath.mpf(x.numerator) / x.denominator)
            near = Fraction(int(exact * 2**150), 2**150)  # cut off
            assert _side_of_exp(x, near) == 1
            assert _side_of_exp(x, near + Fraction(1, 2**150)) == -1
            softplus = mpmath.log(1 + exact)
            near = Fraction(int(softplus * 2**150), 2**150)
            assert _side_of_softplus(x, near) == 1
            assert _side_of_softplus(x, near + Fraction(1, 2**150)) == -1
    assert _side_of_exp(Fraction(1), e) == (1 if Fraction("2.718281828459045") > e else -1)


def test_places_of_floats_are_in_their_order():
    numbers = [-1e308, -1.0, -5e-324, 0.0, 5e-324, 1e-300, 0.1, 1.0, 1.5, 1e308]
    orders = [_order(number) for number in numbers]
    assert orders == sorted(set(orders))
    assert [_number(order) for order in orders] == numbers
    assert _order(np.nextafter(0.1, 1)) == _order(0.1) + 1
    assert _order(np.nextafter(-0.1, 1)) == _order(-0.1) + 1
    assert (_at_least(Fraction(1, 10)), _at_least(Fraction(0.1))) == (0.1, 0.1)
    assert Fraction(_at_least(Fraction(1, 3))) >= Fraction(1, 3) > Fraction(np.nextafter(_at_least(Fraction(1, 3)), 0))


@pytest.mark.parametrize("known", [0.0, 1e-15])
def test_ends_are_right_where_the_side_is_not_known(known):
    def side(x):
        return None if abs(x - 1 / 3) <= known else (1 if x > 1 / 3 else -1)

    low, high = _around(side)
    assert side(low) == -1
    assert side(high) == 1
    assert low < 1 / 3 < high
    assert high - low <= 2 * known + 2 * np.spacing(1.0)


@pytest.mark.parametrize("sides", [(-1, None), (None, 1), (1, 1), (-1, -1)])
def test_levels_too_near_to_the_end_are_refused(sides):
    with pytest.raises(CertificateError, match="too near"):
        _around(lambda x: sides[0] if x <= -FARTHEST else sides[1] if x >= FARTHEST else None)
