"""Tables of paths: crossings, Jacobians and images of paths, against fractions and automatic differentiation."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import reluscope as rs
from oracles.fractions_line import pieces_of
from reluscope.errors import InputError, ShapeError
from reluscope.testing import default_network, networks

ENDS = st.tuples(*[st.lists(st.integers(-8, 8).map(lambda k: k / 4), min_size=2, max_size=2)] * 3).filter(
    lambda stops: stops[0] != stops[1] and stops[1] != stops[2]
)


def along(layers, start, end):
    """The layers as a network of the share of a segment, in float64: exact for small dyadic numbers."""
    (weight, bias), *rest = layers
    start, end = np.array(start), np.array(end)
    return [((weight @ (end - start))[:, None], weight @ start + bias), *rest]


def lengths_in_fractions(line):
    """Length of the image at every gate and at the outputs."""
    found = []
    for number in range(1, len(line)):
        width = len(line[number - 1][0])
        found.append(length(pieces_of([*line[:number], (np.eye(width), np.zeros(width))], 0.0, 1.0)))
    return [*found, length(pieces_of(line, 0.0, 1.0))]


def length(pieces):
    return sum(float(sum(s * s for s in one.slopes)) ** 0.5 * float(one.end - one.start) for one in pieces)


def deviation_in_fractions(line):
    pieces = pieces_of(line, 0.0, 1.0)

    def at(x):
        piece = next(one for one in pieces if one.start <= x <= one.end)
        return [s * x + c for s, c in zip(piece.slopes, piece.constants, strict=True)]

    first, last, farthest = at(Fraction(0)), at(Fraction(1)), 0.0
    for x in {end for one in pieces for end in (one.start, one.end)}:
        gaps = [v - (1 - x) * a - x * b for v, a, b in zip(at(x), first, last, strict=True)]
        farthest = max(farthest, float(sum(gap * gap for gap in gaps)) ** 0.5)
    return farthest


def covers(finding, truth):
    """Whether a finding holds a number, and is EXACT, or as good where outputs cancel to 0."""
    low, high = finding.interval or [finding.value + sign * (finding.tolerance or 0.0) for sign in (-1, 1)]
    return low - 1e-15 <= truth <= high + 1e-15 and (finding.claim is rs.Claim.EXACT or high < 1e-11)


@given(networks(2, num_outputs=2), ENDS)
def test_lengths_and_deviations_in_fractions(layers, stops):
    net = rs.load(layers)
    found = rs.local.pieces_along(net, rs.polyline(stops))
    images, measures, table = found.image_lengths(), found.measures(), found.to_pandas()
    names = [*(gate.name for gate in net.gates), "output"]
    for row, (start, end) in enumerate(pairwise(stops)):
        line = along(layers, start, end)
        for name, truth in zip(names, lengths_in_fractions(line), strict=True):
            assert covers(images.where(segment=row, gate=name).finding("image_length"), truth)
            own = table[table.segment == row]
            assert own[f"length_at_{name}"].sum() == pytest.approx(truth, abs=1e-9)
        assert covers(measures.finding("deviation_from_linear", row), deviation_in_fractions(line))
        assert measures.finding("num_crossings", row).value == (table.segment == row).sum() - 1
    assert table.length.sum() == pytest.approx(sum(np.linalg.norm(np.subtract(*pair)) for pair in pairwise(stops)))
    assert np.allclose(table.distance[1:], table.length.cumsum()[:-1])


def check_against_autograd(net, module, path):
    """Jacobians of every piece, their changes, and units that flip at crossings."""
    found = rs.local.pieces_along(net, path)
    table, points = found.to_pandas(), found.values.points(0) / 2 + found.values.points(1) / 2
    jacobians, before = found.jacobians(), None
    for row, x in enumerate(points):
        jacobian = torch.autograd.functional.jacobian(module, torch.tensor(x))
        assert np.allclose(jacobians[row], jacobian)
        assert table.jacobian_norm[row] == pytest.approx(float(jacobian.norm()), rel=1e-9, abs=1e-12)
        if before is not None:
            assert table.jacobian_change[row] == pytest.approx(float((jacobian - before).norm()), rel=1e-7, abs=1e-12)
            own, last = (net.codes(one[None]).to_array()[0] for one in (x, points[row - 1]))
            gates, units = net.layout.locate_units(np.flatnonzero(own != last))
            assert list(table.gates[row]) == [net.gates[gate].name for gate in gates]
            assert list(table.units[row]) == units.tolist()
        before = jacobian
    assert np.isnan(table.jacobian_change[0])
    assert len(table.units[0]) == 0
    return table


def test_jacobians_and_crossings_by_automatic_differentiation(monkeypatch):
    torch.manual_seed(0)
    sizes = [
        torch.nn.Linear(5, 12),
        torch.nn.LeakyReLU(0.1),
        torch.nn.Linear(12, 8),
        torch.nn.Hardtanh(),
        torch.nn.Linear(8, 3),
    ]
    module = torch.nn.Sequential(*sizes).double()
    net = rs.load(module, input_shape=(5,))
    path = rs.polyline(np.random.default_rng(1).normal(size=(4, 5)) * 3)
    table = check_against_autograd(net, module, path)
    assert len(table) > 20
    monkeypatch.setattr("reluscope.analyses.local.path_values.MEMORY", 500)  # a piece or two in memory
    again = rs.local.pieces_along(net, path).to_pandas()
    assert np.allclose(table.jacobian_change, again.jacobian_change, equal_nan=True)
    assert np.allclose(table.length_at_output, again.length_at_output)


def test_segments_that_are_not_joined_begin_anew():
    net = rs.load(default_network([2, 8, 1], 0))
    starts, ends = np.array([[-2.0, 0.0], [2.0, 1.0]]), np.array([[2.0, 0.0], [-2.0, 1.0]])
    table = rs.local.pieces_along(net, starts, ends).to_pandas()
    first = table.index[table.segment == 1][0]
    assert np.isnan(table.jacobian_change[first])
    assert len(table.units[first]) == 0
    assert first > 1


def test_lengths_grow_with_depth_and_widen_where_signs_are_undecided():
    net = rs.load(default_network([2, 16, 16, 1], 0))
    found = rs.local.pieces_along(net, *rs.sensitivity.ellipse([1, 0], [0, 1], [-1, -1]).ends())
    object.__setattr__(found, "is_exact", np.zeros_like(found.is_exact))
    assert set(found.image_lengths()["image_length"].claims) <= {rs.Claim.LOWER}
    assert set(found.measures()["num_crossings"].claims) == {rs.Claim.LOWER}


def test_what_is_no_path():
    net = rs.load(default_network([2, 4, 1], 0))
    with pytest.raises(InputError, match="polyline"):
        rs.local.pieces_along(net, np.zeros((3, 2)))
    with pytest.raises(InputError, match="left out"):
        rs.local.pieces_along(net, rs.Segment([0, 0], [1, 1]), np.ones((1, 2)))
    with pytest.raises(ShapeError, match="must be segments"):
        rs.local.pieces_along(net, rs.Plane([0, 0], [1, 0], [0, 1]))
    nothing = rs.local.pieces_along(net, [])
    assert len(nothing.to_pandas()) == len(nothing.jacobians()) == 0


# Where units of the second layer bend, crossings are moved; where none does, values alone are rounded.
@pytest.mark.parametrize(("span", "shift"), [(30.0, 0.0), (1.0, 1e3)])
@pytest.mark.parametrize("seed", range(4))
def test_rounding_of_cancelling_values_is_inside_the_ends(seed, span, shift):
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(2, 6, 6))
    # Values of 10^8 of which the next layer takes the difference.
    twice = np.repeat(first[:, :1], 2, axis=0) + np.r_[np.zeros((6, 1)), rng.normal(size=(6, 1))] * 1e-2
    layers = [
        (twice, 1e8 + rng.normal(size=12)),
        (np.c_[second, -second], shift + rng.normal(size=6) / 10),
        (rng.normal(size=(2, 6)), rng.normal(size=2)),
    ]
    found = rs.local.pieces_along(rs.load(layers), np.array([[-span]]), np.array([[span]]))
    line = along(layers, [-span], [span])
    lengths, deviation = found.image_lengths()["image_length"], found.measures()["deviation_from_linear"]
    truth = np.array(lengths_in_fractions(line))
    assert (lengths.lower <= truth).all()
    assert (truth <= lengths.upper).all()
    assert deviation.lower[0] <= deviation_in_fractions(line) <= deviation.upper[0]
    assert (np.abs(lengths.value - truth) > 1e-12 * truth).any()  # so that the ends are needed
