"""Adjacency of codes against the facets of exact partitions, closed cases, and the proxy where it is right."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from partitions.layered import GATES, gate_layers, network_of
from reluscope.analyses.codespace import common_hyperplanes
from reluscope.codes.differences import differences
from reluscope.errors import InputError
from reluscope.testing import (
    boxes,
    default_network,
    generic_networks,
    networks,
    pseudo_random_network,
    reference_networks,
)

MAX_REGIONS = 120


def count(found, name):
    return int(found.counts.finding(name))


def assert_equals_facets(net, domain):
    """Compare with the facets of an exact partition; return what was found."""
    part = rs.partition(net, domain)
    if len(part) > MAX_REGIONS or part.claim != "EXACT":
        return None
    found = rs.codespace.adjacency(net, part.witnesses, domain=domain)
    assert len(found) == len(part)
    assert len(found.flat) == len(found.unchecked) == len(found.undecided) == 0
    table = found.distances()
    assert np.array_equal(table == 1, part.adjacency().toarray() > 0)
    distances = part.codes.distance().astype(int)
    upper = np.triu(np.ones(table.shape, dtype=bool), 1)
    assert len(found.near) == (distances[upper] == 1).sum() == count(found, "num_near_pairs")
    assert count(found, "num_adjacent_pairs") == len(found.pairs)
    assert count(found, "num_near_apart") == ((distances == 1) & (table == 2) & upper).sum()
    assert count(found, "num_adjacent_far") == ((distances > 1) & (table == 1) & upper).sum()
    # A metric: zero on the diagonal only, symmetric; from 1 and 2 alone no triangle can fail.
    assert np.array_equal(table, table.T)
    assert np.array_equal(table == 0, np.eye(len(table), dtype=bool))
    assert np.isin(table, (0, 1, 2)).all()
    for index, (left, right) in enumerate(found.pairs):
        assert np.array_equal(found.flips_at(index), differences(found.codes, np.array([left]), np.array([right]))[1])
    return found


@pytest.mark.slow
def test_deep_codes_at_distance_one_need_not_be_adjacent():
    # relu(x), relu(10 - x), relu(relu(10 - x) + 2 relu(x) - 11): x < -1 and 1 < x < 10 have the codes 011 and 111.
    net = rs.load([([[1.0], [-1.0]], [0.0, 10.0]), ([[2.0, 1.0]], [-11.0]), ([[1.0]], [0.0])])
    found = rs.codespace.adjacency(net, [[-2.0], [2.0]])
    assert found.codes.to_array().tolist() == [[0, 1, 1], [1, 1, 1]]
    assert (
        count(found, "num_near_pairs"),
        count(found, "num_adjacent_pairs"),
        count(found, "num_near_apart"),
    ) == (1, 0, 1)
    assert found.distances().tolist() == [[0, 2], [2, 0]]
    assert found.counts.finding("num_near_apart").claim == "EXACT"


def test_degenerate_codes_at_distance_three_can_be_adjacent():
    one = np.ones((1, 1))
    net = rs.load([(one, [0.0]), ([[1.0], [2.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    found = rs.codespace.adjacency(net, [[-1.0], [1.0]])
    assert found.codes.to_array().tolist() == [[0, 0, 0], [1, 1, 1]]
    assert found.pairs.tolist() == [[0, 1]]
    assert found.flips_at(0).tolist() == [0, 1, 2]
    assert (count(found, "num_near_pairs"), count(found, "num_adjacent_far")) == (0, 1)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("num_inputs", "widths", "near", "adjacent"),
    [
        (1, [4, 4, 4], 9, 9),
        (2, [4, 4, 4], 124, 121),
        (2, [11, 11], 507, 502),
        (3, [4, 4, 4], 344, 338),
        pytest.param(3, [8, 8], 1850, 1835, marks=pytest.mark.slow),
    ],
)
def test_numbers_of_an_independent_enumeration(num_inputs, widths, near, adjacent):
    net = rs.load(pseudo_random_network(num_inputs, widths))
    found = rs.codespace.adjacency(net, rs.partition(net, rs.Space(num_inputs)).witnesses)
    assert (count(found, "num_near_pairs"), count(found, "num_adjacent_pairs")) == (
        near,
        adjacent,
    )
    assert count(found, "num_near_apart") == near - adjacent
    assert count(found, "num_adjacent_far") == 0


@pytest.mark.parametrize("reference", [r for r in reference_networks() if len(r.parameters) > 1], ids=lambda r: r.name)
def test_reference_networks(reference):
    domain = rs.Box(reference.lo, reference.hi, reference.num_inputs)
    assert assert_equals_facets(rs.load(reference.parameters), domain) is not None


@given(networks(num_inputs=st.integers(1, 3), max_layers=3, max_width=4), st.data(), st.sampled_from([2, 32]))
@settings(max_examples=40)
def test_facets_of_exact_partitions(parameters, data, many_members):
    net = rs.load(parameters)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(common_hyperplanes, "MANY_MEMBERS", many_members)
        assert_equals_facets(net, data.draw(boxes(net.num_inputs)))


@given(
    st.integers(1, 2).flatmap(
        lambda dim: st.tuples(st.just(dim), gate_layers(dim, kinds=(*GATES, "max"), max_width=4), boxes(dim))
    ),
    st.sampled_from([2, 32]),
)
@settings(max_examples=40)
def test_all_kinds_of_gates(case, many_members):
    dim, layers, domain = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(common_hyperplanes, "MANY_MEMBERS", many_members)
        assert_equals_facets(network_of(layers, dim), domain)


@given(generic_networks(num_inputs=st.integers(1, 3), max_layers=1, max_width=5))
@settings(max_examples=20)
def test_one_hidden_layer_is_an_isometry(parameters):
    net, domain = rs.load(parameters), rs.Box(-9, 9, parameters[0][0].shape[1])
    found = rs.codespace.adjacency(net, rs.partition(net, domain).witnesses)
    assert np.array_equal(found.pairs, found.near)
    assert np.array_equal(found.distances(), found.codes.distance(threshold=2))


@pytest.mark.slow
def test_how_often_two_layers_of_four_break_the_isometry():
    # Another enumeration found such pairs in 30 of 150 networks, 40 of 2,731 at distance 1; its draws are not known.
    domain = rs.Box(-1, 1, 2)
    found = []
    for seed in range(150):
        net = rs.load(random_network(seed))
        found.append(rs.codespace.adjacency(net, rs.partition(net, domain).witnesses, domain=domain))
    assert sum(count(one, "num_near_apart") > 0 for one in found) == 25
    assert sum(count(one, "num_near_apart") for one in found) == 34
    assert sum(count(one, "num_near_pairs") for one in found) == 2600
    assert not any(count(one, "num_adjacent_far") for one in found)


def test_on_a_slice_and_with_one_point():
    net = rs.load(default_network([3, 6, 6, 1]))
    domain = rs.Slice([0.1, 0.2, 0.3], [[1.0, 0.0, 0.5], [0.0, 2.0, 1.0]], rs.Box(-2, 2, 2))
    assert assert_equals_facets(net, domain) is not None
    alone = rs.codespace.adjacency(net, [[1.0, 2.0, 3.0]] * 3)
    assert (len(alone), len(alone.pairs), alone.points.tolist()) == (1, 0, [0])
    assert alone.distances().tolist() == [[0]]


def test_codes_without_interior_have_no_distances():
    net = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])  # the origin has the code 00
    found = rs.codespace.adjacency(net, [[-1.0], [0.0], [1.0], [0.0]])
    assert found.flat.tolist() == [1]
    assert found.points.tolist() == [0, 2]
    assert found.pairs.tolist() == [[0, 1]]
    linear = rs.load([([[2.0, -1.0]], [0.5])])
    assert rs.codespace.adjacency(linear, [[0.0, 0.0], [1.0, 0.0]]).distances().tolist() == [[0]]
    only_flat = rs.codespace.adjacency(net, [[0.0]])
    assert (len(only_flat), only_flat.flat.tolist(), count(only_flat, "num_adjacent_pairs")) == (0, [0], 0)


def test_points_on_hyperplanes_stand_for_the_regions_of_their_codes():
    net = rs.load([([[1.0], [1.0]], [0.0, -1.0]), ([[1.0, 1.0]], [0.0])])
    found = rs.codespace.adjacency(net, [[0.0], [1.0], [2.0]])  # codes 00, 10 and 11
    assert found.pairs.tolist() == [[0, 1], [1, 2]]


def test_units_that_only_rounding_keeps_from_zero_make_estimates():
    """Where 2x > y > 0 a unit of the second layer is zero, and at (8/3, 4/3) floating point calls it positive."""
    layers = [([[2.0, -1.0], [1.0, 0.0], [0.0, 1.0]], np.zeros(3)), ([[1.0, -2.0, 1.0], [0.0, -1.0, 1.0]], np.zeros(2))]
    net = rs.load([*layers, (np.ones((1, 2)), np.zeros(1))])
    exact = rs.codespace.adjacency(net, [[2.0, 1.0], [2.0, 3.0]])
    assert exact.counts.finding("num_near_pairs").claim is rs.Claim.EXACT
    assert count(exact, "num_near_pairs") == 1
    assert count(exact, "num_adjacent_far") == 0
    blurred = rs.codespace.adjacency(net, [[8 / 3, 4 / 3], [2.0, 3.0]])
    assert count(blurred, "num_near_pairs") == 0
    assert count(blurred, "num_adjacent_far") == 1
    for column in blurred.counts.columns.values():
        assert (column.lower[0], column.upper[0]) == (0, 1)  # of two points there is one pair


def test_a_facet_can_lie_outside_the_domain():
    # relu(x), y, relu(y + 2 relu(x)): the two codes share the facet x = 0, y > 0, above a strip between the points.
    net = rs.load([([[1.0, 0.0], [0.0, 1.0]], [0.0, 10.0]), ([[2.0, 1.0]], [-10.0]), ([[1.0]], [0.0])])
    x = [[-1.0, 0.1], [1.0, -1.5]]
    assert rs.codespace.adjacency(net, x).pairs.tolist() == [[0, 1]]
    strip = rs.Polyhedron([[0.8, 1.0], [-0.8, -1.0]], [-0.5, 0.9])
    found = rs.codespace.adjacency(net, x, domain=strip)
    assert (found.pairs.tolist(), found.near.tolist(), len(found.undecided)) == ([], [[0, 1]], 0)


def test_what_there_is_no_time_for_is_left_open():
    net = rs.load(pseudo_random_network(2, [4, 4, 4]))
    x = rs.partition(net, rs.Space(2)).witnesses
    found = rs.codespace.adjacency(net, x, budget=rs.Budget(seconds=0.0))
    assert len(found.undecided) >= 121
    assert found.counts.finding("num_adjacent_pairs").claim == "LOWER"
    assert found.counts.finding("num_adjacent_pairs").interval == (0, len(found.undecided))
    assert count(found, "num_near_pairs") == 124
    assert found.counts.finding("num_near_pairs").claim == "EXACT"
    assert (found.distances() == 255).sum() == 2 * len(found.undecided)
    flat = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    unknown = rs.codespace.adjacency(flat, [[-1.0], [0.0], [1.0]], budget=rs.Budget(seconds=0.0))
    assert unknown.unchecked.tolist() == [1]
    assert unknown.counts.finding("num_adjacent_pairs").interval == (0, 3)


def test_bad_input():
    net = rs.load(pseudo_random_network(2, [3, 3]))
    with pytest.raises(InputError, match="point 1 lies outside the domain"):
        rs.codespace.adjacency(net, [[0.0, 0.0], [3.0, 0.0]], domain=rs.Box(-1, 1, 2))
    level = rs.Polyhedron([[0.0, 1.0]], [1.0], [[1.0, 0.0]], [0.0])
    with pytest.raises(InputError, match="without equations"):
        rs.codespace.adjacency(net, [[0.0, 0.0]], domain=level)


def random_network(seed):
    generator = np.random.default_rng(seed)
    sizes = [2, 4, 4, 1]
    return [(generator.normal(size=(m, n)), generator.normal(size=m)) for n, m in pairwise(sizes)]
