"""Tropical forms against the network in fractions, closed forms, and each other."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import reluscope as rs
from reluscope.analyses.tropical import TropicalPolynomial, TropicalRational
from reluscope.errors import BudgetExceededError, InputError, ShapeError
from reluscope.networks.fractions.rational import RationalNetwork
from reluscope.plots import to_png
from reluscope.testing import default_network, degenerate_networks, reference_networks

XOR = [([[1.0, 1.0], [1.0, 1.0]], [2.0, 0.0]), ([[1.0, -2.0]], [-1.0])]


def fractions(*entries):
    return tuple(map(Fraction, entries))


def dyadic_points(dim, number=25):
    generator = np.random.default_rng(5)
    return [tuple(Fraction(int(k), 8) for k in row) for row in generator.integers(-60, 60, (number, dim))]


def is_equal(network, function):
    """Compare at points, in fractions, with the network as it computes."""
    exact = RationalNetwork(network)
    return all(
        function.at(point) == tuple(exact.output(point)[row] for row in range(network.num_outputs))
        for point in dyadic_points(network.num_inputs)
    )


def needed_by_lp(monomials):
    """Count the affine functions that are somewhere the only largest one, by one linear program each."""
    from scipy.optimize import linprog

    table = np.array([[float(entry) for entry in one] for one in monomials])
    table = np.unique(table, axis=0)
    count = 0
    for index, own in enumerate(table):
        others = np.delete(table, index, axis=0)
        # own - other >= t at some x, with t at most 1.
        rows = np.hstack([others[:, :-1] - own[:-1], np.ones((len(others), 1))])
        bounds = [(None, None)] * (table.shape[1] - 1) + [(None, 1)]
        answer = linprog([0] * (table.shape[1] - 1) + [-1], A_ub=rows, b_ub=own[-1] - others[:, -1], bounds=bounds)
        count += answer.x[-1] > 1e-7
    return count


def test_the_example_of_xor_corrected():
    form = rs.tropical.rational_form(rs.load(XOR))
    assert form.numerators == (TropicalPolynomial((fractions(0, 0, -1), fractions(1, 1, 1))),)
    assert form.denominators == (TropicalPolynomial((fractions(0, 0, 0), fractions(2, 2, 0))),)
    assert form([[-1, -1], [-1, 1], [1, -1], [1, 1]]).ravel().tolist() == [-1, 1, 1, -1]
    assert form.to_latex() == r"\max\{-1, x_{1} + x_{2} + 1\} - \max\{0, 2 x_{1} + 2 x_{2}\}"
    printed = rs.tropical.rational_form(rs.load([(XOR[0][0], [1.0, 0.0]), XOR[1]]))
    assert printed.numerators[0].monomials == (fractions(0, 0, -1), fractions(1, 1, 0))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 3).flatmap(lambda n: degenerate_networks(n, max_layers=2, max_width=3, num_outputs=2)))
def test_equal_to_the_network_everywhere(parameters):
    network = rs.load(parameters)
    form = rs.tropical.rational_form(network)
    assert is_equal(network, form)
    assert int(rs.tropical.agreement(network, form)) == 0


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(*[st.integers(-3, 3)] * 3).map(lambda entries: tuple(Fraction(entry, 2) for entry in entries)),
        min_size=1,
        max_size=9,
    )
)
def test_no_monomial_is_missing_or_too_many(monomials):
    polynomial = TropicalPolynomial.of(monomials)
    every = TropicalPolynomial(tuple(monomials))
    assert all(polynomial.at(point) == every.at(point) for point in dyadic_points(2))
    assert len(polynomial) == needed_by_lp(monomials)


def test_algebra():
    one = TropicalPolynomial.of([fractions(1, 0), fractions(0, 0)])
    two = TropicalPolynomial.of([fractions(-1, 2), fractions(2, 0)])
    three = TropicalPolynomial.of([fractions(0, 1), fractions(-3, 0)])
    zero = TropicalPolynomial.of([fractions(0, 0)])
    assert one.plus(two) == two.plus(one)
    assert one.plus(two).plus(three) == one.plus(two.plus(three))
    assert one.plus(zero) == one
    assert one.plus(one) == one.times(Fraction(2))  # the tropical square has no mixed terms
    # Multiplication distributes over the maximum.
    largest = TropicalPolynomial.of(one.monomials + two.monomials)
    assert largest.plus(three) == TropicalPolynomial.of(one.plus(three).monomials + two.plus(three).monomials)


class Gates(nn.Module):
    """Leaky units, absolute values, clamps and a maximum, with dyadic weights."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 4)
        self.last = nn.Linear(3, 1)
        generator = torch.Generator().manual_seed(0)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.copy_(torch.randint(-4, 5, parameter.shape, generator=generator) / 2)

    def forward(self, x):
        z = self.first(x)
        bent = torch.cat([nn.functional.leaky_relu(z[:, :1], 0.25), z[:, 1:2].abs(), z[:, 2:3].clamp(-1, 1.5)], 1)
        top = torch.maximum(bent[:, :1], z[:, 3:])
        return self.last(torch.cat([top, bent[:, 1:]], 1))


def test_other_gates():
    network = rs.load(Gates())
    form = rs.tropical.rational_form(network)
    assert is_equal(network, form)
    found = rs.tropical.agreement(network, form)
    assert int(found) == 0
    assert found.claim is rs.Claim.EXACT
    assert int(rs.tropical.round_trip(network)) == 0


def test_duality_of_one_hidden_layer():
    # With positive weights on the way out the network is convex: its regions are the vertices of the upper hull, and
    # as an arrangement of lines in general position they are counted by Zaslavsky.
    weight, bias = default_network([2, 6, 1], 4)[0]
    network = rs.load([(weight, bias), (np.ones((1, 6)), np.zeros(1))])
    form = rs.tropical.rational_form(network)
    assert len(form.numerators[0]) == len(rs.partition(network, rs.Space(2))) == 1 + 6 + 15
    assert len(form.denominators[0]) == 1
    polygon = rs.tropical.newton_polygons(form).numerator
    # Euler: every crossing of two lines is a parallelogram.
    assert len(polygon.faces) == 15
    assert all(len(face) == 4 for face in polygon.faces)
    assert len(polygon.exponents) - len(polygon.edges) + len(polygon.faces) == 1


def test_agreement_sees_differences():
    network = rs.load(XOR)
    form = rs.tropical.rational_form(network)
    (over,), (under,) = form.numerators, form.denominators
    tiny = Fraction(1, 2**60)
    lifted = TropicalPolynomial.of([over.monomials[0], (*over.monomials[1][:-1], over.monomials[1][-1] + tiny)])
    # One monomial moved by less than any rounding: wrong where it is the largest, and a little beyond.
    assert int(rs.tropical.agreement(network, TropicalRational((lifted,), (under,)))) == 3
    # A monomial that matters only far away: on one region of three, and not on a box around the origin.
    far = TropicalPolynomial.of([*over.monomials, fractions(2, 2, -1000)])
    assert int(rs.tropical.agreement(network, TropicalRational((far,), (under,)))) == 1
    assert int(rs.tropical.agreement(network, TropicalRational((far,), (under,)), rs.Box(-2, 2, 2))) == 0


@pytest.mark.few(4)
@pytest.mark.parametrize("reference", reference_networks()[:6], ids=lambda reference: reference.name)
def test_round_trip(reference):
    found = rs.tropical.round_trip(rs.load(reference.parameters))
    assert int(found) == 0
    assert found.work["regions"] > 1


@settings(max_examples=10, deadline=None)
@given(degenerate_networks(2, max_layers=2, max_width=3))
def test_round_trip_of_degenerate_networks(parameters):
    assert int(rs.tropical.round_trip(rs.load(parameters), rs.Box(-2, 3, 2))) == 0


@pytest.mark.slow
def test_newton_polygons_are_drawn():
    for parameters in (XOR, default_network([2, 5, 1], 0), [([[1.0, 2.0]], [0.5])]):
        found = rs.tropical.newton_polygons(rs.tropical.rational_form(rs.load(parameters)))
        assert to_png(rs.plots.newton_polygons(found))[1:4] == b"PNG"


def test_bad_input():
    wide = rs.load(default_network([2, 500, 1]))
    with pytest.raises(InputError, match="128 units, got 500"):
        rs.tropical.rational_form(wide)
    with pytest.raises(InputError, match="64 units, got 500"):
        rs.tropical.pieces(wide)
    with pytest.raises(BudgetExceededError, match="at most 20 monomials, and at 'the output'"):
        rs.tropical.rational_form(rs.load(default_network([2, 6, 1])), most_monomials=20)
    with pytest.raises(InputError, match="at most 8 inputs, got 9"):
        rs.tropical.rational_form(rs.load(default_network([9, 2, 1])))
    with pytest.raises(InputError, match="float64 holds exactly"):
        rs.tropical.to_module(rs.tropical.rational_form(rs.load(default_network([2, 3, 1]))))
    solid = rs.tropical.rational_form(rs.load(default_network([3, 2, 1])))
    with pytest.raises(InputError, match="two inputs, got 3"):
        rs.tropical.newton_polygons(solid)
    with pytest.raises(ShapeError, match="2 inputs and 1 outputs, got 3 and 1"):
        rs.tropical.agreement(rs.load(XOR), solid)
    with pytest.raises(ShapeError, match=r"points \(s, 3\)"):
        solid([[1.0, 2.0]])
    with pytest.raises(rs.errors.NotPiecewiseLinearError):
        rs.tropical.rational_form(rs.load(nn.Sequential(nn.Linear(1, 1), nn.Tanh(), nn.Linear(1, 1))))


def test_a_rounded_network_is_near_and_not_equal():
    network = rs.load(default_network([2, 3, 1]))
    form = rs.tropical.rational_form(network)
    again = rs.load(rs.tropical.to_module(form, rounded=True), input_shape=2)
    x = np.random.default_rng(0).normal(size=(50, 2))
    assert np.allclose(again(x), network(x), atol=1e-14)
    assert int(rs.tropical.agreement(network, form)) == 0 < int(rs.tropical.agreement(again, form))
