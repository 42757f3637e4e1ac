"""Regions by code against `regions`, and codes beyond facets against points beyond them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from networks.models import branched, layers
from reluscope.networks.evaluation.maps_of_codes import pieces_of
from reluscope.networks.evaluation.pieces_across import pieces_across
from reluscope.regions.region_of_code import region_of_code
from reluscope.testing import networks

ROUNDING = 16 * np.finfo(float).eps


def own_pieces(net, x):
    return tuple(piece[0] for piece in pieces_of(net.codes(x)))


@pytest.mark.parametrize("make", [lambda: rs.load(layers([5, 9, 7, 3])), branched])
def test_seen_from_inside_and_from_elsewhere(make):
    net = make()
    inside, outside = np.random.default_rng(0).normal(size=(2, net.num_inputs))
    held, region = region_of_code(net, inside, own_pieces(net, inside)), rs.region(net, inside)
    lengths = np.linalg.norm(region.polyhedron.A, axis=1)
    assert np.allclose(held.rows, region.polyhedron.A / lengths[:, None], rtol=1e-12)
    assert np.array_equal(held.sources, region.sources)
    assert np.allclose(held.slack, (region.polyhedron.b - region.polyhedron.A @ inside) / lengths, rtol=1e-9)
    assert np.allclose(held.outputs, net(inside)[0].flatten())
    far = region_of_code(net, outside, own_pieces(net, inside))
    assert np.allclose(far.slack, held.slack - held.rows @ (outside - inside))
    assert np.allclose(far.outputs, held.outputs + held.weight @ (outside - inside))


@settings(max_examples=60)
@given(networks(max_width=4), st.integers(0, 99))
def test_codes_across_facets_are_those_of_points_there(parameters, seed):
    net, box = rs.load(parameters), rs.Box(-2, 2, 2)
    part = rs.partition(net, box)
    facets = part.facets
    for left, right, ends in zip(facets.left, facets.right, part.vertices[facets.vertices], strict=True):
        middle = ends.mean(axis=0)
        held = region_of_code(net, middle, own_pieces(net, part.witnesses[left]))
        touching = np.abs(held.slack) < 1e-9
        normal = np.array([ends[1, 1] - ends[0, 1], ends[0, 0] - ends[1, 0]])
        normal *= np.sign(normal @ (part.witnesses[right] - part.witnesses[left])) / np.linalg.norm(normal)
        loose = np.concatenate([held.sources[touching], held.still])
        found = pieces_across(net, held.pieces, [loose], normal[None], rounding=ROUNDING)
        expected = own_pieces(net, part.witnesses[right])
        assert all(np.array_equal(one[0], other) for one, other in zip(found, expected, strict=True))


def test_max_gates_choose_among_candidates_that_tie():
    net = branched()
    rng = np.random.default_rng(3)
    for point in rng.normal(size=(5, net.num_inputs)):
        held = region_of_code(net, point, own_pieces(net, point))
        row = int(held.slack.argmin())
        # Pooling windows overlap: one pair of candidates may tie in two units.
        same = (np.abs(held.rows - held.rows[row]).max(axis=1) < 1e-9) & (np.abs(held.slack - held.slack[row]) < 1e-9)
        loose = np.concatenate([held.sources[same], held.still])
        found = pieces_across(net, held.pieces, [loose], held.rows[row][None], rounding=ROUNDING)
        there = own_pieces(net, point + (held.slack[row] + 1e-7) * held.rows[row])
        assert all(np.array_equal(one[0], other) for one, other in zip(found, there, strict=True))
