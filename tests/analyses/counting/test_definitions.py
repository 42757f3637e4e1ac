"""Counts under all six definitions: published values, the chain, and the oracle of exact polygons."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import nn

import reluscope as rs
from fuzzer.modules import Maxout as MaxoutOf
from fuzzer.modules import linear, prelu
from oracles.fractions_plane import rectangle
from oracles.six_definitions import six_counts
from reluscope.analyses.counting import DEFINITIONS
from reluscope.analyses.counting.same_maps import same_maps
from reluscope.effort import Effort
from reluscope.errors import InputError, ShapeError
from reluscope.findings import Claim
from reluscope.partitions.complexes import incidence
from reluscope.testing import default_network, degenerate_networks, pseudo_random_network, reference_networks

NAMES = tuple(DEFINITIONS)
CROSS = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]


def clamp_between_tents(offset=0.0):
    """clamp(y, -t, t) with t = relu(2 - |x|): zero where |x| >= 2, and on y = 0, which joins the two sides.

    With an offset y has no kink in the window, and y = 0 crosses the boundary at x = 0 between its ends.
    """
    return [
        (np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]]), np.array([0, 0, offset, -offset])),
        (np.array([[-1.0, -1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]), np.array([2.0, 0, 0])),  # t, y+, y-
        (np.array([[1.0, 1, -1], [-1, 1, -1], [1, 0, 0]]), np.array([-offset, -offset, 0])),
        (np.array([[1.0, -1, -1]]), np.zeros(1)),  # relu(y + t) - relu(y - t) - t
    ]


class Maxout(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = nn.Linear(2, 6), nn.Linear(2, 1)

    def forward(self, x):
        return self.second(self.first(x).reshape(-1, 2, 3).amax(2))


def interval(finding) -> tuple[float, float]:
    return finding.interval or (int(finding), int(finding))


def counts(net, domain, **options):
    return {name: rs.count(net, domain, definition=name, **options) for name in NAMES}


@pytest.mark.few(3)
@pytest.mark.parametrize("reference", reference_networks(), ids=lambda one: one.name)
def test_published_counts(reference):
    net = rs.load(reference.parameters)
    everywhere, box = rs.Space(reference.num_inputs), rs.Box(reference.lo, reference.hi, reference.num_inputs)
    for name, known in reference.counts.items():
        found = rs.count(net, box, definition=name)
        assert (int(found), found.claim) == (known, Claim.EXACT)
        low, high = interval(rs.count(net, everywhere, definition=name))
        assert low <= known <= high


@pytest.mark.parametrize("offset", [0.0, 8.0])
def test_values_that_part_the_connected_definitions(offset):
    found = counts(rs.load(clamp_between_tents(offset)), rs.Box(-4, 4, 2))
    assert [int(found[name]) for name in ("open_connected", "closed_connected", "affine")] == [7, 6, 6]
    assert all(one.claim is Claim.EXACT for one in found.values())


@settings(max_examples=25)
@example(parameters=clamp_between_tents(), half=3)
@example(parameters=CROSS, half=1)
@given(parameters=degenerate_networks(2, 2, 4), half=st.integers(1, 3))
def test_planes_are_counted_as_by_exact_polygons(parameters, half):
    truth = six_counts(parameters, rectangle(-half, half))
    found = counts(rs.load(parameters), rs.Box(-half, half, 2))
    for name, number in truth.items():
        assert (int(found[name]), found[name].claim) == (number, Claim.EXACT), name


@settings(max_examples=25)
@given(parameters=degenerate_networks(1, 2, 5), half=st.integers(1, 3))
def test_lines_are_counted_as_by_exact_intervals(parameters, half):
    truth = six_counts(parameters, (-half, half), convex=False)
    found = counts(rs.load(parameters), rs.Box(-half, half, 1))
    truth["convex"] = truth["open_connected"]
    assert {name: int(one) for name, one in found.items()} == truth


@settings(max_examples=15)
@given(parameters=degenerate_networks(2, 2, 3, 1))
def test_convex_regions_are_at_most_the_fewest_unions(parameters):
    truth = six_counts(parameters, rectangle(-2, 2))
    if truth["proper_activation"] > 9:
        return
    fewest = six_counts(parameters, rectangle(-2, 2), convex=True)["convex"]
    low, high = interval(rs.count(rs.load(parameters), rs.Box(-2, 2, 2), definition="convex"))
    assert low <= fewest <= high
    assert truth["open_connected"] <= low


@pytest.mark.slow
def test_corners_of_needles_are_seen_on_their_side():
    """Three lines that all but meet, a ten-billionth of the window apart: floats take the other side of an edge."""
    parameters = [
        (
            np.array(
                [
                    [-2.36e-09, 1.0439976584899102],
                    [-1.1720156805604987, -3.99e-07],
                    [-0.0005682377028471887, -1.5869548869827133],
                ]
            ),
            np.array([-104399.43889160654, 351605.3300952459, 158865.46461844613]),
        ),
        (
            np.array([[-6.61e-08, 1.0, 2.22e-12], [-3.29e-07, 1.57, -9.96e-13]]),
            np.array([-2.2611016400379642e-11, 2.899153797748442e-12]),
        ),
        (np.array([[-66512.11597865906, -899.9697925995107]]), np.array([3.499655397692763e-05])),
    ]
    high = [300002.0, 100001.0]
    truth = six_counts(parameters, rectangle([0, 0], high), convex=True)["convex"]
    found = rs.count(rs.load(parameters), rs.Box([0.0, 0.0], high), definition="convex")
    assert (int(found), found.claim) == (truth, Claim.EXACT) == (16, Claim.EXACT)


@settings(max_examples=15)
@given(parameters=degenerate_networks(st.integers(1, 4), 2, 4, 2), bounded=st.booleans())
def test_each_count_is_at_most_the_one_before(parameters, bounded):
    net = rs.load(parameters)
    domain = rs.Box(-2, 2, net.num_inputs) if bounded else rs.Space(net.num_inputs)
    names = NAMES if net.num_inputs <= 2 else NAMES[1:]
    intervals = [interval(rs.count(net, domain, definition=name)) for name in names]
    for (_, most), (least, _) in itertools.pairwise(intervals):
        assert least <= most
    assert all(low <= high for low, high in intervals)


@settings(max_examples=10)
@given(parameters=degenerate_networks(2, 2, 4), seed=st.integers(0, 99))
def test_units_in_any_order_and_of_any_scale(parameters, seed):
    random = np.random.default_rng(seed)
    turned = [(weight.copy(), bias.copy()) for weight, bias in parameters]
    for index in range(len(turned) - 1):
        weight, bias = turned[index]
        order, scale = random.permutation(len(bias)), 2.0 ** random.integers(-2, 3, len(bias))
        turned[index] = ((weight * scale[:, None])[order], (bias * scale)[order])
        after, constant = turned[index + 1]
        turned[index + 1] = ((after / scale)[:, order], constant)
    box = rs.Box(-2, 2, 2)
    one, other = (counts(rs.load(layers), box) for layers in (parameters, turned))
    for name in NAMES:
        if name != "convex":  # the greedy part of it sees regions in another order
            assert interval(one[name]) == interval(other[name])


def test_maps_are_compared_as_the_numbers_they_are():
    """0.1 + 0.2 + 0.3 is one number in any order, though not in floats; 0.1 + 0.2 and 0.3 are two."""
    slopes = np.array([[0.1], [0.2], [0.3], [-0.3], [-0.2], [-0.1]])
    sums = [(slopes, np.zeros(6)), (np.array([[1.0, 1, 1, -1, -1, -1]]), np.zeros(1))]
    assert int(rs.count(rs.load(sums), rs.Box(-1, 1, 1), definition="affine")) == 1
    thirds = [(np.array([[1.0], [1.0], [-1.0]]), np.zeros(3)), (np.array([[0.1, 0.2, -0.3]]), np.zeros(1))]
    assert int(rs.count(rs.load(thirds), rs.Box(-1, 1, 1), definition="affine")) == 2


def test_generic_networks_have_one_count():
    found = counts(rs.load(default_network([2, 16, 16, 2], seed=1)), rs.Box(-1, 1, 2))
    assert len({int(one) for one in found.values()}) == 1
    assert {one.definition for one in found.values()} == {one.regions for one in DEFINITIONS.values()}


def test_intervals_where_only_bounds_are_computable():
    # Two copies of a function of two inputs' worth of regions along a third that matters to nothing.
    parameters = [(np.array([[1.0, 0, 0], [-1, 0, 0]]), np.zeros(2)), (np.array([[1.0, -1]]), np.zeros(1))]
    net, box = rs.load(parameters), rs.Box(-1, 1, 3)
    assert str(rs.count(net, box, definition="affine")) == "1 (EXACT)"
    convex = rs.count(net, box, definition="convex")
    assert (convex.interval, convex.claim) == ((1, 2), Claim.LOWER)


def test_vertices_that_floats_cannot_tell_apart_leave_an_interval():
    # A triangle some 1e-16 in size, found in rational arithmetic: floats order the edges around it wrongly.
    network = rs.load(
        nn.Sequential(
            linear(
                [[1, -1, 1, -1], [-2, -2, -2, -1], [1, 0, 0, 0], [0, -1, 1, 2], [0, 2, 2, -1], [1, -1, 0, 1]],
                [0.825, -8000, -0.05, -0.25, 0.875, -0.3],
            ),
            MaxoutOf(3),
            linear([[2, -1]], [0]),
            prelu([0.25]),
            linear([[0], [1]], [0, -1]),
            MaxoutOf(2),
            linear([[1], [2]], [1, 1]),
        )
    )
    plane = rs.Plane([-0.5, 0, -1.25, 0.25], [0.5, 1.25, -1.5, 1.5], [0, -1.25, 2, -1])
    low, high = interval(rs.count(network, plane, definition="convex"))
    assert int(rs.count(network, plane, definition="open_connected")) <= low < high <= 11
    assert int(rs.count(network, plane, certify=True)) == 11


def test_faces_of_a_polyhedron_are_exact():
    net = rs.load(CROSS)
    triangle = rs.Polyhedron([[1.0, 1], [-1, 0], [0, -1]], [1.0, 0.5, 0.5])
    for method in ("auto", "partition", "tree"):
        found = rs.count(net, triangle, definition="activation", method=method)
        assert (int(found), found.claim) == (4, Claim.EXACT)


def test_max_gates_without_bounds_leave_intervals():
    """Regions are listed there without corners, so that faces are not at hand: the tree has to count them."""
    net = rs.load(Maxout(), input_shape=(2,))
    found = counts(net, rs.Space(2))
    low, high = interval(found["proper_activation"])
    assert low == high > 1
    assert interval(found["activation"]) == (low, low)
    by_partition = rs.count(net, rs.Space(2), definition="activation", method="partition")
    assert interval(by_partition) == (low, float("inf"))
    assert interval(found["convex"])[1] == high
    assert found["affine"].claim is Claim.EXACT


def test_maps_that_were_not_compared_leave_an_interval():
    """Zero on two of four regions, for different reasons: that they are one map takes rational arithmetic."""
    net = rs.load([([[1.0], [1.0], [1.0]], [0.0, -1.0, -2.0]), ([[1.0, -2.0, 1.0]], [0.0])])
    part = rs.partition(net, rs.Box(-3, 3, 1))
    assert same_maps(part).interval == (3, 3)
    early = same_maps(part, Effort(rs.Budget(seconds=0.0)))
    assert (early.interval, early.num_undecided, str(early.stop and early.stop.reason.name)) == ((3, 4), 1, "SECONDS")


@pytest.mark.parametrize("method", ["partition", "tree"])
def test_a_count_says_why_it_ended_early(method):
    net = rs.load(default_network([2, 16, 16, 1]))
    limits = rs.Budget(), rs.Budget(regions=1)
    whole, part = (rs.count(net, rs.Box(-1, 1, 2), method=method, budget=limit) for limit in limits)
    assert (whole.stopped, whole.claim) == ("", Claim.EXACT)
    assert "stopped" not in whole.to_dict()
    assert (part.to_dict()["stopped"], part.claim) == (part.stopped, Claim.LOWER)
    assert "regions" in part.stopped


def test_a_spent_budget_gives_lower_bounds(monkeypatch):
    monkeypatch.setattr(incidence, "_chunk_cells", lambda network, chunk: 4)
    net, box = rs.load(default_network([2, 16, 16, 1], seed=0)), rs.Box(-1, 1, 2)
    whole = len(rs.partition(net, box))
    for name in NAMES:
        found = rs.count(net, box, definition=name, budget=rs.Budget(regions=10))
        assert found.claim is Claim.LOWER
        assert 1 <= int(found) < whole
        assert found.interval[1] == float("inf")


@pytest.mark.parametrize("method", ["partition", "tree"])
@pytest.mark.parametrize("domain", [rs.Box(-1, 1, 3), rs.Space(3)], ids=str)
def test_methods_agree(domain, method):
    net = rs.load(pseudo_random_network(3, [4, 4]))
    assert interval(rs.count(net, domain, method=method)) == interval(rs.count(net, domain))


def test_what_cannot_be_asked():
    net, box = rs.load(CROSS), rs.Box(-1, 1, 2)
    with pytest.raises(InputError, match="definition must be") as caught:
        rs.count(net, box, definition="linear")
    assert all(name in str(caught.value) for name in NAMES)
    with pytest.raises(InputError, match="method must be"):
        rs.count(net, box, method="magic")
    with pytest.raises(InputError, match="counts proper_activation regions, got"):
        rs.count(net, box, method="tree", definition="affine")
    with pytest.raises(InputError, match="takes no certify"):
        rs.count(net, box, method="tree", certify=True)
    with pytest.raises(InputError, match="domain must be"):
        rs.count(net, "everywhere")
    with pytest.raises(ShapeError, match="3 dimensions"):
        rs.count(net, rs.Box(-1, 1, 3))
