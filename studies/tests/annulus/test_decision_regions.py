"""Decision regions of one hidden layer, against half-spaces of all codes, the partition, and samples."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from reluscope.errors import InputError
from reluscope_studies.annulus import (
    Shape,
    cross_polytope_layers,
    decision_pieces,
    decision_region,
    decision_volume,
    expanded_simplex_layers,
    inner_radius,
    layers_module,
    outer_radius,
    part_around_origin,
    read_shallow,
    recognize,
    root_polytope_layers,
    simplex_corner_layers,
)
from reluscope_studies.annulus.rational_lines import RationalLines, rational_rank


def all_half_spaces(net):
    """Return {f <= 0} of a convex f, the largest of the affine functions of all codes: a dull oracle."""
    slopes = np.array(list(product(*zip(net.low, net.high, strict=True))))
    A, b = slopes @ net.weight, -(net.constant + slopes @ net.bias)
    # Units that cancel leave rounding for a normal, and a half-space that holds everything.
    kept = (np.abs(A).max(axis=1) > 1e-12) | (b < 0)
    return rs.Polyhedron(A[kept], b[kept])


def sizes(region):
    return len(region.vertices), region.num_facets


@st.composite
def networks(draw, dims=(2, 3)):
    """Small networks with small dyadic weights: equal, parallel and dead units, common points, flat places."""
    dim = draw(st.sampled_from(dims))
    units = draw(st.integers(1, dim + 2))
    entry = st.integers(-4, 4).map(lambda value: value / 2)
    weight = draw(st.lists(st.lists(entry, min_size=dim, max_size=dim), min_size=units, max_size=units))
    bias = draw(st.lists(entry, min_size=units, max_size=units))
    output = draw(st.lists(entry, min_size=units, max_size=units))
    return [(np.array(weight), np.array(bias)), (np.array([output]), np.array([draw(entry)]))]


@pytest.mark.parametrize("dim", range(2, 7))
@pytest.mark.parametrize("layers", [cross_polytope_layers, expanded_simplex_layers, root_polytope_layers])
def test_explicit_networks_against_all_half_spaces(dim, layers):
    net = read_shallow(layers(dim))
    region, oracle = decision_region(net), all_half_spaces(net)
    assert region.claim is rs.Claim.EXACT
    assert (region.is_bounded, region.is_convex, region.has_origin) == (True, True, True)
    assert region.num_facets == len(oracle.facets())
    assert inner_radius(region).value == pytest.approx(
        min(oracle.b[rows[0]] / np.linalg.norm(oracle.A[rows[0]]) for rows in oracle.facets())
    )
    if dim < 5:
        expected = oracle.vertices()
        assert len(region.vertices) == len(expected)
        assert outer_radius(region).value == pytest.approx(np.linalg.norm(expected, axis=1).max())
        assert np.abs(region.vertices[:, None] - expected[None]).max(axis=2).min(axis=1).max() < 1e-9


@pytest.mark.slow
@given(networks(), st.sampled_from([0.0, 0.25]))
@settings(max_examples=40, deadline=None)
def test_degenerate_networks_against_samples(layers, leak):
    net = read_shallow(layers, leak=leak)
    region = decision_region(net)
    rng = np.random.default_rng(0)
    points = rng.normal(size=(400, net.num_inputs)) * rng.choice([0.3, 3.0, 30.0], size=(400, 1))
    inside = net(points) <= 1e-12
    assert np.abs(net(region.vertices)).max(initial=0.0) < 1e-9
    if region.is_empty:
        assert not inside.any()
    if region.is_bounded and not region.is_empty:
        assert np.linalg.norm(points[inside], axis=1).max(initial=0.0) <= outer_radius(region).value + 1e-9
    if region.is_convex:
        clear = np.abs(net(points)) > 1e-9
        assert (region.polyhedron.contains(points) == inside)[clear].all()
    # Along rays from inside, f ends up positive if and only if the region is bounded.
    far = net(points * 1e7)
    if region.is_bounded:
        assert (far > 0).all()


@given(networks(dims=(2,)))
@settings(max_examples=10, deadline=None)
def test_degenerate_networks_against_the_partition(layers):
    region, net = decision_region(layers), rs.load(layers)
    pieces = decision_pieces(net)
    if pieces:
        assert region.is_bounded == all(piece.is_bounded() for piece in pieces)
    elif region.is_bounded:
        assert not region.num_facets  # empty, or without an interior
    if region.is_bounded and pieces:
        box = rs.Box(-1.0 - outer_radius(region).value, 1.0 + outer_radius(region).value, 2)
        lengths = [
            np.linalg.norm(np.ptp(region.vertices[row], axis=0)) for row in region.incidence
        ]  # of edges, corners two by two
        boundary = rs.decision_boundary(rs.partition(net, box))
        assert sum(lengths) == pytest.approx(boundary.length, abs=1e-7)
        if region.is_convex:
            assert region.polyhedron.volume() == pytest.approx(sum(piece.volume() for piece in pieces))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("dim", [2, 3, 4])
def test_random_convex_networks_against_all_half_spaces(dim, seed):
    rng = np.random.default_rng([dim, seed])
    weight = rng.normal(size=(dim + 1, dim))
    layers = [(weight, rng.normal(size=dim + 1)), (rng.uniform(0.5, 2, (1, dim + 1)), np.array([-2.0]))]
    net = read_shallow(layers, leak=0.01 * (seed % 2))
    region, oracle = decision_region(net), all_half_spaces(net)
    assert region.is_bounded == oracle.is_bounded()
    if region.is_bounded and not oracle.is_empty():
        assert region.num_facets == len(oracle.facets())
        assert len(region.vertices) == len(oracle.vertices())
        assert region.polyhedron.volume() == pytest.approx(oracle.volume())


def star():
    """Return units in eight directions, every other one pulling the boundary out; the origin is inside."""
    directions = np.array([[np.cos(angle), np.sin(angle)] for angle in np.arange(8) * np.pi / 4])
    outputs = np.where(np.arange(8) % 2 == 0, 3.0, -1.0)[None]
    return [(directions, np.zeros(8)), (outputs, np.array([-1.0]))]


def test_the_area_of_a_region_that_is_not_convex():
    layers = star()
    region, net = decision_region(layers), rs.load(layers)
    assert (region.is_bounded, region.is_convex, recognize(region)) == (True, False, Shape.OTHER)
    reach = outer_radius(region).value
    points = np.random.default_rng(0).uniform(-reach, reach, size=(20_000, 2))
    sampled = (net(points)[:, 0] <= 0).double().mean().item() * 4 * reach**2
    assert decision_volume(net).value == pytest.approx(sampled, rel=0.05)


def test_an_unbounded_region_has_no_radii():
    weight = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    region = decision_region([(weight, np.full(4, -0.25)), (np.full((1, 4), -1.0), np.array([0.5]))])
    assert recognize(region) is Shape.UNBOUNDED
    for radius in (inner_radius, outer_radius):
        with pytest.raises(InputError, match="unbounded"):
            radius(region)


def test_a_star_shaped_region_and_its_nearest_edge():
    layers = star()
    region = decision_region(layers)
    angles = np.linspace(0, 2 * np.pi, 20001)
    ways = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    # f is homogeneous up to its constant: the boundary in a direction w is at 1 / (f(w) + 1).
    distance = 1 / (read_shallow(layers)(ways) + 1)
    assert inner_radius(region).value == pytest.approx(distance.min(), rel=1e-6)
    assert outer_radius(region).value == pytest.approx(distance.max(), rel=1e-6)
    assert recognize(region) is Shape.OTHER


def test_shapes():
    assert recognize(decision_region(cross_polytope_layers(2))) is Shape.QUADRILATERAL
    assert recognize(decision_region(expanded_simplex_layers(2))) is Shape.HEXAGON
    for dim in (3, 4, 5):
        assert recognize(decision_region(cross_polytope_layers(dim))) is Shape.CROSS_POLYTOPE
        for layers in (expanded_simplex_layers, root_polytope_layers):
            assert recognize(decision_region(layers(dim))) is Shape.EXPANDED_SIMPLEX
        shapes = [recognize(decision_region(simplex_corner_layers(dim, k))) for k in range(1, dim + 2)]
        others = [Shape.OTHER] * (dim - 1)
        assert shapes == [Shape.CROSS_POLYTOPE, *others, Shape.EXPANDED_SIMPLEX]
    cube = [(np.vstack([np.eye(3), -np.eye(3)]), -np.ones(6)), (np.ones((1, 6)), -np.ones(1))]
    assert recognize(decision_region(cube)) is Shape.OTHER
    plane = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), -np.ones(1))]
    assert recognize(decision_region(plane)) is Shape.UNBOUNDED
    assert recognize(decision_region([plane[0], (np.ones((1, 2)), np.ones(1))])) is Shape.EMPTY


@pytest.mark.slow
def test_three_units_of_the_plane_make_quadrilaterals_and_hexagons_only():
    rng = np.random.default_rng(5)
    found = set()
    for _ in range(300):
        layers = [(rng.normal(size=(3, 2)), rng.normal(size=3)), (rng.uniform(0.1, 2, (1, 3)), -np.ones(1))]
        found.add(recognize(decision_region(layers)))
    assert found <= {Shape.QUADRILATERAL, Shape.HEXAGON, Shape.UNBOUNDED, Shape.EMPTY}
    assert {Shape.QUADRILATERAL, Shape.HEXAGON} <= found


def test_the_forms_between_are_four_in_space():
    # Octahedron; 10 vertices and 12 facets; the same numbers as the cuboctahedron but other faces; cuboctahedron.
    found = [sizes(decision_region(simplex_corner_layers(3, k))) for k in range(1, 5)]
    assert found == [(6, 8), (10, 12), (12, 14), (12, 14)]


def test_small_changes_keep_the_faces():
    rng = np.random.default_rng(2)
    for k in range(1, 5):
        (weight, bias), (output, constant) = simplex_corner_layers(3, k)
        near = [
            (weight + 0.01 * rng.normal(size=weight.shape), bias + 0.01 * rng.normal(size=bias.shape)),
            (output, constant),
        ]
        region = decision_region(near)
        assert sizes(region) == sizes(decision_region(simplex_corner_layers(3, k)))
        assert recognize(region) is recognize(decision_region(simplex_corner_layers(3, k)))


def test_other_forms_of_the_same_network():
    layers = expanded_simplex_layers(3)
    expected = decision_region(layers)
    assert np.allclose(np.sort(decision_region(rs.load(layers)).offsets), np.sort(expected.offsets))
    leaky = decision_region(rs.load(layers_module(layers, leak=0.1), input_shape=3))
    assert np.allclose(np.sort(leaky.offsets), np.sort(decision_region(layers, leak=0.1).offsets))
    assert decision_volume(rs.load(layers)).value == pytest.approx(expected.polyhedron.volume())


def test_networks_of_other_shapes():
    deep = [(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    for source in (deep, rs.load(deep)):
        with pytest.raises(InputError, match="expected one hidden layer"):
            decision_region(source)
    with pytest.raises(InputError, match="2 outputs"):
        decision_region(rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))]))
    with pytest.raises(InputError, match="at least 2 inputs, got 1"):
        decision_region([(np.ones((2, 1)), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    with pytest.raises(InputError, match="lines on which"):
        decision_region(
            [(np.random.default_rng(0).normal(size=(40, 9)), np.zeros(40)), (np.ones((1, 40)), np.zeros(1))]
        )
    with pytest.raises(InputError, match="expected W"):
        decision_region([(np.eye(2), np.zeros(3)), (np.ones((1, 2)), np.zeros(1))])
    with pytest.raises(InputError, match="bounded convex"):
        _ = decision_region([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), -np.ones(1))]).polyhedron


def test_what_float64_does_not_settle_is_said():
    # A square whose corner nearly lies on the line of a fifth unit.
    layers = [
        (np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [1.0, 1.0]]), np.array([0, 0, 0, 0, -1 - 3e-10])),
        (np.array([[1.0, 1.0, 1.0, 1.0, 1.0]]), -np.ones(1)),
    ]
    region = decision_region(layers)
    assert region.claim is rs.Claim.ESTIMATE
    assert inner_radius(region).claim is rs.Claim.ESTIMATE


@pytest.mark.parametrize("dim", [2, 3])
def test_when_leaky_units_bound_a_region(dim):
    # For weights with a positive dependency, sum_i s_i w_i = 0: bounded if and only if a_i / s_i > leak a_j / s_j.
    rng = np.random.default_rng(dim)
    kinds = set()
    for _ in range(60):
        weight, share = rng.normal(size=(dim, dim)), rng.uniform(0.3, 3, dim + 1)
        weight = np.vstack([weight, -share[:-1] @ weight / share[-1]])
        output, leak = rng.uniform(0.3, 3, dim + 1), rng.uniform(0.05, 0.5)
        rates = output / share
        region = decision_region([(weight, rng.normal(size=dim + 1)), (output[None], -5 * np.ones(1))], leak=leak)
        assert region.is_bounded == (rates.min() > leak * rates.max())
        kinds.add(region.is_bounded)
    assert kinds == {True, False}


def test_the_part_around_the_origin():
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(40):
        # The third unit, inactive around the origin, tilts f there.
        weight, tilt = rng.normal(size=(2, 2)), rng.uniform(0.5, 0.9)
        layers = [
            (np.vstack([weight, rng.uniform(0.6, 1, 2) @ weight]), np.append(rng.normal(size=2) / 10, -3.0)),
            (np.array([[1.0, 1.0, -tilt / 0.2]]), np.array([-1.0 - 3 * tilt])),
        ]
        region = decision_region(layers, leak=0.2)
        part = part_around_origin(region)
        if region.is_convex:
            # A bounded region is the part itself, wherever the origin is inside.
            assert (part is not None) == region.has_origin
            assert part is None or part.num_facets == region.num_facets
        if part is None or region.is_bounded:
            continue
        found += 1
        net, angles = region.network, np.linspace(0, 2 * np.pi, 2001)
        ways = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        # Along every ray from the origin f is negative up to the part's boundary, and positive right behind it.
        ends = (part.offsets / np.maximum(ways @ part.normals.T, 1e-12)).min(axis=1)[:, None] * ways
        for share in (0.1, 0.5, 0.9, 0.999):
            assert (net(share * ends) < 0).all()
        assert (net(1.001 * ends) > 0).all()
    assert found > 3


def test_a_region_without_interior_has_no_facets():
    # f = 4 |x| + relu(y - 1) + relu(-y - 1) is zero on a segment and positive elsewhere.
    weight = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    layers = [(weight, np.array([0.0, 0.0, -1.0, -1.0])), (np.array([[4.0, 4.0, 1.0, 1.0]]), np.zeros(1))]
    region = decision_region(layers)
    assert (len(region.vertices), region.num_facets) == (2, 0)
    assert (region.is_bounded, region.is_convex, region.is_empty) == (True, False, False)


def test_a_line_without_bends_does_not_make_a_region_empty():
    # The units' hyperplanes are parallel but for 1e-10: a parallelogram up to |y| <= 2e10, and f(0) = -1.
    weight = np.array([[1.0, 0.0], [-1.0, 0.0], [1.0, 1e-10], [-1.0, -1e-10]])
    region = decision_region([(weight, np.zeros(4)), (np.ones((1, 4)), -np.ones(1))])
    assert (region.is_empty, region.claim, region.has_origin) == (False, rs.Claim.ESTIMATE, True)


def test_an_empty_region_that_holds_the_origin_is_an_estimate():
    region = decision_region(cross_polytope_layers(2))
    none = replace(region, vertices=region.vertices[:0], incidence=region.incidence[:, :0])
    assert (none.is_empty, none.has_origin, none.claim) == (True, True, rs.Claim.ESTIMATE)


@pytest.mark.parametrize("shift", [1e-14, 1e-15, -1e-14])
def test_signs_within_rounding_are_decided_in_fractions(shift):
    # With a shift of 1e-8 there are 12 vertices and 14 facets.
    layer, (output, constant) = cross_polytope_layers(3)
    exact, near = (decision_region([layer, (output, constant - step)]) for step in (0.0, shift))
    assert (exact.claim, *sizes(exact)) == (rs.Claim.EXACT, 6, 8)
    assert near.claim is rs.Claim.ESTIMATE


@pytest.mark.parametrize("turn", [[[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, -1.0]]])
def test_a_least_value_within_rounding_of_zero(turn):
    # f = 0.3 - 0.1 relu(y) + 1.1 relu(y - 3) + relu(x) has the least value 2.8e-17.
    weight = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]]) @ np.array(turn)
    layers = [(weight, np.array([0.0, -3.0, 0.0])), (np.array([[-0.1, 1.1, 1.0]]), np.array([0.1 * 3]))]
    region = decision_region(layers)
    assert (region.is_bounded, region.claim) == (True, rs.Claim.ESTIMATE)
    # The same without x: of a section along the line.
    section = decision_region([(weight[:2], layers[0][1][:2]), (layers[1][0][:, :2], layers[1][1])])
    assert section.claim is rs.Claim.ESTIMATE


def test_degenerate_networks_with_dyadic_weights_are_decided():
    rng = np.random.default_rng(3)
    for _ in range(40):
        weight, bias = rng.integers(-2, 3, (5, 3)) / 2, rng.integers(-2, 3, 5) / 2
        layers = [(weight, bias), (rng.integers(-2, 5, (1, 5)) / 2, -np.ones(1))]
        assert decision_region(layers).claim is rs.Claim.EXACT


def test_weights_whose_squares_are_no_floats():
    (weight, bias), (output, constant) = root_polytope_layers(3)
    for scale in (1e200, 1e-200):
        region = decision_region([(weight * scale, bias), (output / scale, constant)])
        assert (recognize(region), region.claim) == (Shape.EXPANDED_SIMPLEX, rs.Claim.EXACT)


@pytest.mark.slow
def test_work_is_bounded_and_done_in_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    many = [(rng.normal(size=(1000, 2)), rng.normal(size=1000)), (np.ones((1, 1000)), -np.ones(1))]
    with pytest.raises(InputError, match="pre-activations in the bends of all lines"):
        decision_region(many)
    flat = [(np.repeat(np.eye(2), 200, axis=0), rng.normal(size=400)), (np.ones((1, 400)), np.ones(1))]
    with pytest.raises(InputError, match="where f stops growing"):
        decision_region(flat)
    whole = decision_region(star())
    monkeypatch.setattr("reluscope_studies.annulus.arrangement.BLOCK", 1)
    parts = decision_region(star())
    assert np.array_equal(whole.vertices, parts.vertices)
    assert np.array_equal(whole.incidence, parts.incidence)


def test_signs_that_nobody_looked_at_are_undecided(monkeypatch):
    monkeypatch.setattr("reluscope_studies.annulus.arrangement.MAX_FRACTIONS", 0)
    assert decision_region(cross_polytope_layers(3)).claim is rs.Claim.ESTIMATE


@given(networks())
@settings(max_examples=20, deadline=None)
def test_corners_in_fractions_lie_on_their_hyperplanes(layers):
    lines = RationalLines(network := read_shallow(layers))
    for chosen in combinations(range(network.num_units), network.num_inputs - 1):
        for unit in set(range(network.num_units)) - set(chosen):
            point = lines.corner(chosen, unit)
            is_crossed = rational_rank(network.weight[[*chosen, unit]].tolist()) == network.num_inputs
            assert (point is not None) == is_crossed
            if point is not None:
                assert not any(lines.pre(one, point) for one in (*chosen, unit))
                assert float(lines.value(point)) == pytest.approx(network(np.array([point], dtype=float))[0], abs=1e-9)
