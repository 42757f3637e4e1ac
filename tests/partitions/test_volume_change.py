"""Factors of volumes on regions: against determinants in fractions, and against hulls of images."""

from decimal import Decimal, localcontext
from fractions import Fraction
from inspect import unwrap
from itertools import permutations
from math import exp, inf, log
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

import reluscope as rs
from reluscope.findings import Claim
from reluscope.partitions import volume_change
from reluscope.partitions.exact import exact_rows
from reluscope.testing import boxes, default_network, networks

NAMES = ["log_volume_factor", "image_volume"]


def product_of(left, right):
    return [
        [sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0)) for column in zip(*right, strict=True)]
        for row in left
    ]


def true_square(layers, pieces):
    """det(A^T A) of the product of matrices with the rows of inactive units left out, by all permutations."""
    table = None
    for (weight, _), active in zip(layers, [*pieces, None], strict=True):
        rows = [[Fraction(float(entry)) for entry in row] for row in weight]
        if active is not None:
            rows = [[entry * int(on) for entry in row] for row, on in zip(rows, active, strict=True)]
        table = rows if table is None else product_of(rows, table)
    gram = product_of(list(zip(*table, strict=True)), table)
    total = Fraction(0)
    for order in permutations(range(len(gram))):
        sign = (-1) ** sum(order[i] > order[j] for i in range(len(order)) for j in range(i + 1, len(order)))
        term = Fraction(sign)
        for row, column in enumerate(order):
            term *= gram[row][column]
        total += term
    return total


@settings(deadline=None)
@given(st.data())
def test_factors_are_roots_of_determinants(data):
    dim = data.draw(st.integers(1, 3))
    layers = data.draw(networks(dim, 2, 4, num_outputs=data.draw(st.integers(1, 3))))
    part = rs.partition(rs.load(layers), data.draw(boxes(dim)))
    found = rs.measure_regions(part, "log_volume_factor")["log_volume_factor"]
    tables = [gate.to_array() for gate in part.codes.by_gate().values()]
    for row in range(len(part)):
        square = true_square(layers, [table[row] for table in tables])
        if square == 0:
            assert (found.value[row], found.upper[row]) == (-inf, -inf)
            continue
        assert exp(2 * found.lower[row]) * (1 - 1e-12) <= square <= exp(2 * found.upper[row]) * (1 + 1e-12)
        assert exp(2 * found.value[row]) == pytest.approx(float(square), rel=1e-6)
    if part.claim is Claim.EXACT:
        assert set(found.claims) <= {Claim.EXACT}


def test_factors_without_fractions_hold_the_truth(monkeypatch):
    """Three units of which two are nearly the same: the columns are nearly dependent."""
    layers = [
        (np.array([[1.0, 0.1], [1.0, 0.1 + 1e-14]]), np.ones(2)),
        (np.array([[0.3, 0.7], [0.1, 0.9]]), np.zeros(2)),
    ]
    part = rs.partition(rs.load(layers), rs.Box(-0.1, 0.1, 2))
    monkeypatch.setattr(exact_rows, "MULTIPLICATIONS", 0)
    found = rs.measure_regions(part, "log_volume_factor")["log_volume_factor"]
    square = true_square(layers, [[1, 1]])
    assert len(part) == 1
    assert exp(2 * found.lower[0]) <= square <= exp(2 * found.upper[0])
    assert found.claims[0] is not Claim.EXACT


def test_factors_from_fractions_hold_the_logarithm(monkeypatch):
    """Squares of all sizes, whose logarithms cancel or are large, against decimal numbers of 60 digits."""
    rng = np.random.default_rng(0)
    drawn = zip(*rng.integers(2, 2**31, (2, 120)).tolist(), rng.integers(1, 60, 120).tolist(), strict=True)
    squares = [Fraction(one**power + 1, other**power) for one, other, power in drawn]
    squares += [1 + Fraction(sign, 10**power) for power in range(1, 19) for sign in (1, -1)] + [Fraction(1)]
    left = iter(squares)
    monkeypatch.setattr(volume_change, "ExactRows", lambda *_: SimpleNamespace(squared_factor=lambda _: next(left)))
    layout = rs.load([(np.eye(1), np.zeros(1)), (np.eye(1), np.zeros(1))]).layout
    codes = SimpleNamespace(layout=layout, words=np.zeros((len(squares), layout.num_words), dtype=np.uint64))
    part = SimpleNamespace(codes=codes, network_on_domain=None, window=None)
    found = volume_change.LogFactors(*np.full((3, len(squares)), -inf))
    found.upper[:] = inf
    unwrap(volume_change._in_fractions)(part, np.arange(len(squares)), found)
    with localcontext() as context:
        context.prec = 60
        for square, low, value, high in zip(squares, found.lower, found.value, found.upper, strict=True):
            truth = (Decimal(square.numerator) / Decimal(square.denominator)).ln() / 2
            assert Decimal(float(low)) <= truth <= Decimal(float(high))
            assert abs(Decimal(float(value)) - truth) < Decimal("1e-10")
            digits = square.numerator.bit_length() + square.denominator.bit_length()
            assert high - low == pytest.approx(2 * volume_change.SUMS * (1 + digits), rel=1e-3)


@pytest.mark.parametrize("sizes", [[2, 8, 6, 2], [3, 8, 6, 3]])
def test_images_have_the_volume_of_their_hulls(sizes):
    part = rs.partition(rs.load(default_network(sizes, 3)), rs.Box(-2, 2, sizes[0]))
    found = rs.measure_regions(part, NAMES)
    offsets, ids = part.region_vertices
    outputs = part.outputs
    for row, value in enumerate(found["image_volume"].value):
        points = outputs[ids[offsets[row] : offsets[row + 1]]]
        size = ConvexHull(points).volume if value > 0 else 0.0
        assert value == pytest.approx(size, rel=1e-6, abs=1e-15)
    np.testing.assert_allclose(
        found["image_volume"].value, part.volumes() * np.exp(found["log_volume_factor"].value), rtol=1e-12
    )
    assert found.total("image_volume").claim is Claim.EXACT


def test_surfaces_in_space_have_areas():
    """A plane that is folded upright along a line: each half keeps its area, times a known factor."""
    layers = [(np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]), np.zeros(4))]
    layers += [(np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]]), np.zeros(3))]
    part = rs.partition(rs.load(layers), rs.Box(-1, 1, 2))
    total = rs.measure_regions(part, "image_volume").total("image_volume")
    assert str(total) == "6 (EXACT)"


def test_more_dimensions_than_outputs_have_no_volume():
    part = rs.partition(rs.load(default_network([3, 4, 2], 0)), rs.Box(-1, 1, 3))
    found = rs.measure_regions(part, NAMES)
    assert (found["log_volume_factor"].value == -inf).all()
    assert str(found.total("image_volume")) == "0 (EXACT)"


def test_unbounded_regions_have_infinite_images_or_none():
    part = rs.partition(rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))]), rs.Space(2))
    found = rs.measure_regions(part, "image_volume")["image_volume"]
    assert sorted(found.value.tolist()) == [0, 0, 0, inf]
    assert set(found.claims) == {Claim.EXACT}


def test_factors_that_floats_know_well_enough_are_not_asked_in_fractions(monkeypatch):
    layers = [torch.nn.Linear(2, 2), torch.nn.LeakyReLU(0.5), torch.nn.Linear(2, 2)]
    net = rs.load(torch.nn.Sequential(*layers).double(), input_shape=(2,))
    net = net.with_parameters({"0.weight": np.eye(2), "0.bias": np.zeros(2), "2.weight": np.eye(2)[::-1]})
    part = rs.partition(net, rs.Box(-1, 1, 2))
    monkeypatch.setattr(volume_change, "ExactRows", None)
    found = rs.measure_regions(part, "log_volume_factor")["log_volume_factor"]
    assert sorted(found.value) == pytest.approx([-2 * log(2), -log(2), -log(2), 0.0])
    assert set(found.claims) == {Claim.EXACT}


def test_small_factors_that_floats_do_not_know_are_asked_in_fractions():
    """Less than 1: their logarithms are below any bound on what may be unknown."""
    layers = [(np.array([[1.0, 0.1], [1.0, 0.1 + 1e-9]]), np.ones(2)), (np.eye(2), np.zeros(2))]
    part = rs.partition(rs.load(layers), rs.Box(-0.1, 0.1, 2))
    found = rs.measure_regions(part, "log_volume_factor")["log_volume_factor"]
    assert found.claims[0] is Claim.EXACT
    assert exp(2 * found.value[0]) == pytest.approx(float(true_square(layers, [[1, 1]])), rel=1e-9)
