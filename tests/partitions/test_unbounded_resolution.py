"""The resolution of unbounded domains is relative to position: nothing thick, wherever it lies, is hidden by EXACT."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from reluscope.findings import Claim
from reluscope.partitions.cells.first_cells import first_cells

ENGINES = ("cellwise", "tree")


def line(breakpoints):
    ones = np.ones((len(breakpoints), 1))
    return rs.load([(ones, -np.array(breakpoints)), (ones.T, np.zeros(1))])


@pytest.mark.parametrize("method", ENGINES)
@pytest.mark.parametrize(
    ("breakpoints", "number"),
    [
        ([0.0, 1.0, 1e14, 2e14], 5),
        ([0.0, 1.0, 1e13], 4),
        ([0.0, 1e-14, 1.0], 4),
        ([0.1, 0.1, 0.3], 3),
        ([1e14, 1e14 + 1, 5.0], 3),  # 1 at 1e14 is less than 1e-12 of the distance
    ],
)
def test_breakpoints_of_all_sizes(method, breakpoints, number):
    part = rs.partition(line(breakpoints), rs.Space(1), method=method)
    assert (len(part), part.claim) == (number, Claim.EXACT)


def resolved(breakpoints, resolution=1e-12):
    """Return how many intervals there are, and how many of them hold a ball that the resolution must not hide."""
    stops = sorted({Fraction(stop) for stop in breakpoints})
    thick = 2 + sum((high - low) / 2 > Fraction(resolution) * abs(low + high) / 2 for low, high in pairwise(stops))
    return len(stops) + 1, thick


magnitudes = st.one_of(
    st.just(0.0),
    st.builds(lambda digits, power: digits * 10.0**power, st.integers(-99, 99), st.integers(-20, 20)),
    st.builds(lambda digits: 1.0 + digits * 1e-13, st.integers(-20, 20)),
)


@given(st.lists(magnitudes, min_size=1, max_size=5))
@settings(max_examples=60)
def test_what_is_exact_hides_nothing_thick(breakpoints):
    net = line(breakpoints)
    number, thick = resolved(breakpoints)
    for method in ENGINES:
        part = rs.partition(net, rs.Space(1), method=method)
        assert len(part) <= number
        if part.claim is Claim.EXACT:
            assert len(part) >= thick


@pytest.mark.parametrize("seed", range(6))
def test_engines_agree_on_planes_of_mixed_scales(seed):
    """Where both are EXACT at the same resolution, on networks whose thinnest regions are far thicker."""
    generator = np.random.default_rng(seed)
    scales = 10.0 ** generator.integers(-8, 9, 4)
    parameters = [
        (generator.integers(-8, 9, (4, 2)) * scales[:, None], generator.integers(-8, 9, 4) * scales),
        (generator.integers(-8, 9, (2, 4)) / scales, generator.integers(-8, 9, 2).astype(float)),
        (np.ones((1, 2)), np.zeros(1)),
    ]
    net = rs.load(parameters)
    parts = [rs.partition(net, rs.Space(2), method=method) for method in ENGINES]
    assert parts[0].claim is Claim.EXACT
    exact = [len(part) for part in parts if part.claim is Claim.EXACT]
    assert len(set(exact)) == 1
    assert max(map(len, parts)) == exact[0]


def test_coordinates_that_are_zero_by_rounding_alone_leave_no_sign_open():
    """Whole numbers for weights make many units and coordinates zero at vertices, none of them by far."""
    draw = np.random.default_rng(16).integers
    widths = [3, *(int(draw(3, 8)) for _ in range(2)), 1]
    parameters = [
        (draw(-2, 3, (after, before)).astype(float), draw(-1, 2, after).astype(float))
        for before, after in pairwise(widths)
    ]
    part = rs.partition(rs.load(parameters), rs.Space(3), method="cellwise")
    assert (len(part), part.num_undecided, part.claim) == (89, 0, Claim.EXACT)


@pytest.mark.parametrize("dim", [1, 2, 3, 5])
def test_no_cone_of_a_space_hides_more_than_another_and_none_too_much(dim):
    """At c the coordinates' magnitudes have a mean over the directions that c is a sum of; none is beyond the bound."""
    start = first_cells(rs.load([(np.eye(dim), np.zeros(dim))]), rs.Space(dim), rs.Tolerance())
    allowed = rs.Tolerance().resolution / start.relative - 1
    largest = []
    for cell in range(len(start.cells)):
        vertices = start.cells.take(cell, cell + 1).vertices
        directions = vertices[vertices[:, -1] == 0, :dim].T
        back = np.linalg.inv(directions)
        _, norms, points = np.linalg.svd(np.abs(directions) @ back)
        weights = back @ points[0]
        assert (weights * np.sign(weights.sum()) > -1e-12).all()  # the worst point lies in the cone
        largest.append(norms[0])
    assert np.sort(largest) == pytest.approx([1.0] + [allowed] * dim)
