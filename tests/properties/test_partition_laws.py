"""Laws that tie partitions to the rest: to regions at points, to sub-windows, to changes that change nothing."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from reluscope.findings import Claim
from reluscope.networks.models.from_arrays import from_arrays
from reluscope.testing import boxes, default_network, degenerate_networks, generic_networks, networks


def areas(part):
    return dict(zip(map(tuple, part.codes.to_array().tolist()), part.volumes().tolist(), strict=True))


def close(found, expected, box):
    assert found.keys() == expected.keys()
    for code, area in expected.items():
        assert found[code] == pytest.approx(area, abs=1e-9 * box.volume())


@settings(max_examples=15)
@given(generic_networks(2, max_layers=2, max_width=5, num_outputs=2))
def test_rows_are_the_regions_at_their_witnesses(parameters):
    net, box = from_arrays(parameters), rs.Box(-1, 1, 2)
    part = rs.partition(net, box)
    regions = rs.regions(net, part.witnesses, domain=box)
    maps = part.maps
    for row, region in zip(part, regions, strict=True):
        assert region.code == row.code
        np.testing.assert_allclose(region.map.weight[0], maps.weight[row.index], atol=1e-12)
        corners = region.polyhedron.vertices()
        gaps = np.linalg.norm(corners[:, None] - row.vertices[None], axis=2)
        assert gaps.min(axis=0).max() < 1e-6
        assert gaps.min(axis=1).max() < 1e-6


@settings(max_examples=30)
@given(networks(2, max_layers=3, max_width=5), st.data())
def test_order_and_scale_of_units_do_not_matter(parameters, data):
    """Hidden units permuted and scaled by powers of two, the next layer to match: the same regions."""
    box = rs.Box(-2, 2, 2)
    changed = [(weight.copy(), bias.copy()) for weight, bias in parameters]
    orders = []
    for layer in range(len(changed) - 1):
        (weight, bias), (following, shift) = changed[layer : layer + 2]
        order = data.draw(st.permutations(range(len(bias))))
        scale = 2.0 ** np.array(data.draw(st.lists(st.integers(-3, 3), min_size=len(bias), max_size=len(bias))))
        changed[layer] = (weight * scale[:, None])[order], (bias * scale)[order]
        changed[layer + 1] = (following / scale)[:, order], shift
        orders.append(order)
    start = np.cumsum([0, *map(len, orders)])
    whole = np.concatenate([first + np.array(order) for first, order in zip(start, orders, strict=False)])
    ours, theirs = (rs.partition(from_arrays(p), box) for p in (parameters, changed))
    assert ours.claim is theirs.claim is Claim.EXACT
    close(areas(theirs), {tuple(np.array(code)[whole].tolist()): area for code, area in areas(ours).items()}, box)


@settings(max_examples=30)
@given(networks(2, max_layers=2, max_width=5), st.sampled_from(["copy", "dead", "constant"]))
def test_idle_units_cut_nothing(parameters, kind):
    (weight, bias), (following, shift), *others = parameters
    row, entry = {
        "copy": (weight[:1], bias[:1]),
        "dead": (np.zeros((1, 2)), np.array([-1.0])),
        "constant": (np.zeros((1, 2)), np.array([2.0])),
    }[kind]
    column = np.zeros((len(shift), 1))
    more = [(np.vstack([weight, row]), np.append(bias, entry)), (np.hstack([following, column]), shift), *others]
    box = rs.Box(-2, 2, 2)
    ours, theirs = (rs.partition(from_arrays(p), box) for p in (parameters, more))
    width = len(bias)
    without = {code[:width] + code[width + 1 :]: area for code, area in areas(theirs).items()}
    assert len(without) == len(theirs)
    close(without, areas(ours), box)


@settings(max_examples=30)
@given(networks(2, max_layers=2, max_width=5), boxes(2, limit=2.0))
def test_a_smaller_window_sees_no_other_regions(parameters, box):
    net = from_arrays(parameters)
    outer = rs.partition(net, rs.Box(-2, 2, 2))
    inner = rs.partition(net, box)
    everything = areas(outer)
    for code, area in areas(inner).items():
        assert area <= everything[code] + 1e-9


@settings(max_examples=30)
@given(networks(2, max_layers=3, max_width=4))
def test_more_layers_refine(parameters):
    """The regions of the first layers are unions of regions of the whole network."""
    box = rs.Box(-2, 2, 2)
    first = [*parameters[:1], (np.ones((1, len(parameters[0][1]))), np.zeros(1))]
    coarse, fine = areas(rs.partition(from_arrays(first), box)), areas(rs.partition(from_arrays(parameters), box))
    width = len(parameters[0][1])
    sums = dict.fromkeys({code[:width] for code in fine}, 0.0)
    for code, area in fine.items():
        sums[code[:width]] += area
    close(sums, coarse, box)


@settings(max_examples=25)
@given(degenerate_networks(2, max_layers=2, max_width=5), st.tuples(*[st.integers(-8, 8)] * 4))
def test_a_segment_of_the_plane_passes_through_its_regions(parameters, ends):
    start, stop = np.array(ends[:2]) / 4 + 0.1237, np.array(ends[2:]) / 4 - 0.0713
    net = from_arrays(parameters)
    plane = rs.partition(net, rs.Box(-4, 4, 2))
    line = rs.partition(net, rs.Segment(start, stop))
    found = plane.locate(line.domain.lift(line.witnesses))
    np.testing.assert_array_equal(plane.codes.words[found], line.codes.words)
    order = np.argsort(line.witnesses[:, 0])
    adjacency = plane.adjacency()
    for one, other in pairwise(order):
        beside = adjacency[[found[one]], [found[other]]]
        assert bool(np.asarray(beside).ravel()[0]) or shares_a_corner(plane, found[one], found[other])


def shares_a_corner(part, one, other):
    return bool(set(map(tuple, part[one].vertices)) & set(map(tuple, part[other].vertices)))


@pytest.mark.parametrize("turn", [[[0.0, 1], [1, 0]], [[0.0, -1], [1, 0]], [[2.0, 0], [0, 0.5]], [[1.0, 1], [0, 1]]])
def test_coordinates_of_the_slice_do_not_matter(turn):
    net = from_arrays(default_network([3, 12, 12, 2], seed=3))
    basis = np.array([[1.0, 0.5, 0], [0, 0.25, 1]])
    turn = np.array(turn)
    straight = rs.Slice([0.1, 0.2, 0.3], basis, rs.Box(-1, 1, 2))
    # The same set of points: y @ basis = z @ turn @ basis for y = z @ turn.
    corners = straight.window.polyhedron
    turned = rs.Slice([0.1, 0.2, 0.3], turn @ basis, rs.Polyhedron(corners.A @ turn.T, corners.b))
    ours, theirs = areas(rs.partition(net, straight)), areas(rs.partition(net, turned))
    scale = abs(np.linalg.det(turn))
    close({code: area * scale for code, area in theirs.items()}, ours, rs.Box(-1, 1, 2))
