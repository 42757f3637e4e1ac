"""Proofs of agreement: each of the two inequalities, on each output and region, decides by itself."""

import importlib
from fractions import Fraction

import numpy as np
import pytest

import reluscope as rs
from reluscope.analyses.tropical.polynomial import TropicalPolynomial
from reluscope.analyses.tropical.proved_agreement import agreement, round_trip
from reluscope.analyses.tropical.rational_function import TropicalRational
from reluscope.errors import ShapeError

# The package has a function of the module's name.
module = importlib.import_module("reluscope.analyses.tropical.proved_agreement")
ONE = [(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.array([[1.0, 1.0]]), np.zeros(1))]  # |x|
TWO = [(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.array([[1.0, 1.0], [1.0, 0.0]]), np.zeros(2))]  # |x|, max(x, 0)


def polynomial(*monomials):
    return TropicalPolynomial.of([tuple(Fraction(entry) for entry in one) for one in monomials])


ZERO = polynomial((0, 0))
ABSOLUTE, POSITIVE = polynomial((1, 0), (-1, 0)), polynomial((1, 0), (0, 0))
TINY = Fraction(1, 2**80)


def rational(*pairs):
    return TropicalRational(tuple(over for over, _ in pairs), tuple(under for _, under in pairs))


@pytest.mark.parametrize(
    ("over", "under", "differing"),
    [
        (ABSOLUTE, ZERO, 0),
        (polynomial((1, TINY), (-1, 0)), ZERO, 2),  # above where x > -tiny / 2, a little on the other side, too
        (polynomial((1, -TINY), (-1, 0)), ZERO, 1),  # below on the right
        (polynomial((1, 0), (-1, -TINY)), ZERO, 1),  # below on the left
        (polynomial((1, 0)), ZERO, 1),
        (polynomial((2, 0), (0, 0)), polynomial((1, 0)), 0),  # max(2 x, 0) - x
        (polynomial((2, 0), (0, 0)), polynomial((1, 0), (0, -1000)), 1),  # a monomial that matters far away on the left
        (polynomial((1, 0), (-1, 0), (3, -1000)), ZERO, 1),
        (polynomial((1, 5), (-1, 5)), polynomial((0, 5)), 0),
    ],
)
def test_either_inequality_alone_is_a_difference(over, under, differing):
    net = rs.load(ONE)
    found = agreement(net, rational((over, under)))
    assert (found.value, found.claim) == (differing, "EXACT")


@pytest.mark.parametrize(
    ("second", "differing"),
    [((POSITIVE, ZERO), 0), ((ABSOLUTE, ZERO), 1), ((polynomial((1, TINY), (0, TINY)), ZERO), 2)],
)
def test_each_output_has_to_agree(second, differing):
    assert int(agreement(rs.load(TWO), rational((ABSOLUTE, ZERO), second))) == differing


def test_differences_outside_the_domain_do_not_count():
    net, far = rs.load(ONE), rational((polynomial((1, 0), (-1, 0), (3, -1000)), ZERO))
    assert int(agreement(net, far, rs.Box(-1, 1, 1))) == 0
    assert int(agreement(net, far, rs.Box(-1, 500, 1))) == 0  # they touch there
    assert int(agreement(net, far, rs.Box(-1, 501, 1))) == 1
    slice_ = rs.Segment([0.0], [501.0])
    assert int(agreement(net, rational((polynomial((1, 0)), ZERO)), slice_)) == 0


def test_shapes_have_to_fit():
    net = rs.load(ONE)
    for form in (
        rational((ABSOLUTE, ZERO), (ABSOLUTE, ZERO)),
        rational((polynomial((1, 1, 0)), polynomial((0, 0, 0)))),
    ):
        with pytest.raises(ShapeError, match="1 inputs and 1 outputs"):
            agreement(net, form)


def test_round_trips_count_what_differs_on_either_way(monkeypatch):
    net = rs.load(ONE)
    found = round_trip(net)
    assert (found.value, found.claim) == (0, "EXACT")
    wrong = rational((polynomial((1, TINY), (-1, 0)), ZERO))
    monkeypatch.setattr(module, "from_pieces", lambda table: wrong)
    monkeypatch.setattr(module, "to_module", lambda function: ONE)
    monkeypatch.setattr(module, "load", lambda layers, **_: rs.load(layers))
    # On two regions of the network, and on two of the network made again, which is the same here.
    assert round_trip(net).value == 4


def test_monomials_that_are_nowhere_above_another_are_left_out():
    corners = [(Fraction(-1), Fraction(1)), (Fraction(1), Fraction(1))]
    high, low, cross = (tuple(map(Fraction, one)) for one in ((0, 2), (0, 1), (1, 2)))
    found = module._undominated(corners, [low, high, cross])
    assert set(found) == {high, cross}
    assert module._undominated(corners, [high, high]) == [high]
    touching = tuple(map(Fraction, (1, 1)))  # equal to the first at one corner, below at the other
    assert module._undominated(corners, [touching, high]) == [high]
