"""Where a partition is asked for: slices and their restrictions, many segments, polygons, and what is refused."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from oracles import fractions_plane
from oracles.fractions_plane import relu_layers
from partitions.checking import check_structure, found_in, truth_on
from partitions.layered import network_of, on_slice
from reluscope.errors import DegenerateGeometryError, InputError, ShapeError
from reluscope.findings import Claim
from reluscope.networks.models.from_arrays import from_arrays
from reluscope.testing import boxes, default_network, networks, planes, segments

QUADRANTS = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]


@pytest.fixture(scope="module")
def quadrants():
    return from_arrays(QUADRANTS)


@settings(max_examples=40)
@given(networks(3, max_layers=2, max_width=5), st.one_of(segments(3), planes(3)))
def test_a_slice_is_a_partition_of_the_restricted_network(parameters, domain):
    net = from_arrays(parameters)
    on_inputs, on_window = rs.partition(net, domain), rs.partition(net.restrict(domain), domain.window)
    assert on_inputs.claim is on_window.claim is Claim.EXACT
    ours, theirs = found_in(on_inputs), found_in(on_window)
    assert ours == pytest.approx(theirs, abs=1e-9)


@pytest.mark.slow
def test_many_segments_in_one_call_are_each_on_its_own(chunks_of):
    net = from_arrays(default_network([4, 16, 16, 2], seed=3))
    points = np.random.default_rng(0).normal(size=(60, 2, 4))
    domains = [rs.Segment(*ends) for ends in points]
    alone = [rs.partition(net, domain) for domain in domains]
    for cells in (0, 4):
        if cells:
            chunks_of(cells)
        together = rs.partitions(net, domains)
        assert [len(part) for part in together] == [len(part) for part in alone]
        for one, other in zip(together, alone, strict=True):
            assert one.claim is Claim.EXACT
            assert one.domain is other.domain
            assert found_in(one) == pytest.approx(found_in(other), abs=1e-9)
            check_structure(one)
            np.testing.assert_array_equal(one.locate(one.witnesses), np.arange(len(one)))


def test_a_polyline_is_a_list_of_segments():
    net = from_arrays(default_network([3, 12, 12, 1], seed=1))
    stops = np.random.default_rng(1).normal(size=(5, 3))
    parts = rs.partitions(net, rs.polyline(stops))
    assert len(parts) == 4
    for part, start, end in zip(parts, stops, stops[1:], strict=False):
        check_structure(part)
        assert part.volumes().sum() == pytest.approx(np.linalg.norm(end - start))
    # Codes at a stop are seen from both sides unless it lies on a kink.
    for before, after in pairwise(parts):
        last = before[int(before.witnesses.argmax())].code
        first = after[int(after.witnesses.argmin())].code
        assert last == first


def test_several_planes_and_segments_in_one_call():
    net = from_arrays(default_network([3, 8, 8, 1], seed=2))
    points = np.random.default_rng(2).normal(size=(4, 3))
    domains = [rs.Plane(*points[:3]), rs.Segment(*points[:2]), rs.Plane(*points[1:])]
    parts = rs.partitions(net, domains)
    assert [part.dim for part in parts] == [2, 1, 2]
    for part, domain in zip(parts, domains, strict=True):
        assert found_in(part) == pytest.approx(found_in(rs.partition(net, domain)), abs=1e-9)


def regular_polygon(corners, radius=1.0):
    angle = 2 * np.pi * np.arange(corners) / corners
    return rs.Polyhedron(np.stack([np.cos(angle), np.sin(angle)], axis=1), np.full(corners, radius))


@pytest.mark.parametrize("corners", [3, 5, 12, 100])
def test_a_polygon_as_window(corners, quadrants):
    window = regular_polygon(corners)
    for domain in (window, rs.Slice(np.zeros(2), np.eye(2), window)):
        part = rs.partition(quadrants, domain)
        assert (len(part), part.claim) == (4, Claim.EXACT)
        check_structure(part)
        assert part.volumes().sum() == pytest.approx(corners * np.tan(np.pi / corners))


@settings(max_examples=25)
@given(networks(2, max_layers=2, max_width=5))
def test_a_triangle_against_the_oracle(parameters):
    corners = [(-1.0, -1.0), (2.0, -1.0), (-1.0, 3.0)]
    window = rs.Polyhedron([[-1.0, 0], [0, -1], [4, 3]], [1.0, 1, 5])
    part = rs.partition(from_arrays(parameters), window)
    truth = fractions_plane.split(parameters, corners)
    assert part.claim is Claim.EXACT
    assert found_in(part) == pytest.approx({piece.code: float(piece.measure) for piece in truth}, abs=1e-9)


def test_redundant_and_repeated_half_spaces_make_no_corners(quadrants):
    square = rs.Polyhedron([[1.0, 0], [2, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [1, 0]], [1.0, 2, 1, 1, 1, 2, 1])
    part = rs.partition(quadrants, square)
    check_structure(part)
    assert len(part.vertices) == 9


@settings(max_examples=15)
@given(networks(3, max_layers=2, max_width=4))
def test_a_slice_clipped_to_the_input_box(parameters):
    plane = rs.Slice([0.0, 0, 0], [[1.0, 0.5, 0], [0, -0.5, 1.0]], rs.Box(-2, 2, 2))
    clipped = plane.clip(rs.Box(-1, 1, 3))
    part = rs.partition(from_arrays(parameters), clipped)
    corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
    truth = fractions_plane.split(on_slice(relu_layers(parameters), plane), corners)
    assert found_in(part) == pytest.approx({piece.code: float(piece.measure) for piece in truth}, abs=1e-9)
    assert rs.Box(-1, 1, 3).contains(part.domain.lift(part.vertices), 1e-9).all()


@settings(max_examples=25)
@given(networks(2, max_layers=2, max_width=4), boxes(2), st.integers(-6, 6), st.integers(-6, 6))
def test_units_of_length_do_not_matter(parameters, box, power, shift):
    # Scaling by powers of two is exact: the same partition, for windows from 1e-2 to 1e2 of the original.
    scale = 2.0**power
    (weight, bias), *others = parameters
    scaled = [(weight / scale, bias - weight @ np.full(2, float(shift))), *others]
    window = rs.Box((box.lo + shift) * scale, (box.hi + shift) * scale)
    ours, theirs = (rs.partition(from_arrays(p), w) for p, w in ((parameters, box), (scaled, window)))
    assert theirs.claim is Claim.EXACT
    expected = {code: area * scale**2 for code, area in found_in(ours).items()}
    assert found_in(theirs) == pytest.approx(expected, abs=1e-9 * window.volume())


@pytest.mark.few(3)
@pytest.mark.parametrize("size", [1e-9, 1e-6, 1.0, 1e6, 1e8])
def test_tiny_and_huge_windows(size):
    parameters = default_network([2, 6, 5, 1], seed=8)
    for scaled in (parameters, [(weight, size * bias) for weight, bias in parameters]):
        box = rs.Box(-size, size, 2)
        part = rs.partition(from_arrays(scaled), box)
        truth = truth_on(relu_layers(scaled), box)
        assert part.claim is Claim.EXACT
        assert found_in(part) == pytest.approx({c: float(p.measure) for c, p in truth.items()}, abs=1e-9 * box.volume())


@pytest.mark.parametrize("far", [1e3, 1e6])
def test_windows_far_from_the_origin(far):
    parameters = default_network([2, 6, 5, 1], seed=9)
    (weight, bias), *others = parameters
    shifted = [(weight, bias - weight @ np.array([far, -far])), *others]
    box = rs.Box([far - 1, -far - 1], [far + 1, -far + 1])
    truth = truth_on(relu_layers(shifted), box)
    part = rs.partition(from_arrays(shifted), box)
    assert part.claim is Claim.EXACT
    assert found_in(part) == pytest.approx({c: float(p.measure) for c, p in truth.items()}, abs=1e-8)
    check_structure(part, accuracy=1e-8)


@pytest.mark.parametrize("angle", [1.0, 1e-3, 1e-6])
def test_skewed_slices(angle):
    generator = np.random.default_rng(3)
    first, second = generator.normal(size=(2, 5))
    layers = relu_layers(default_network([5, 6, 5, 1], seed=1))
    domain = rs.Slice(
        generator.normal(size=5), [first, first + angle * second], rs.Box([-1, -1 / angle], [1, 1 / angle])
    )
    part = rs.partition(network_of(layers, 5), domain)
    truth = truth_on(on_slice(layers, domain), domain.window)
    assert part.claim is Claim.EXACT
    area = domain.window.volume()
    assert found_in(part) == pytest.approx({c: float(p.measure) for c, p in truth.items()}, abs=1e-9 * area)


@pytest.mark.parametrize(
    ("domain", "error", "message"),
    [
        (rs.Box(-1, 1, 3), ShapeError, "3 dimensions.*2 inputs"),
        (rs.Segment([0, 0, 0], [1, 1, 1]), ShapeError, "3 dimensions.*2 inputs"),
        (rs.Polyhedron([[1.0, 0], [-1, 0], [0, 1], [0, -1]], [0.0, 0, 1, 1]), DegenerateGeometryError, "interior"),
    ],
)
def test_domains_that_make_no_sense_are_refused(domain, error, message, quadrants):
    with pytest.raises(error, match=message):
        rs.partition(quadrants, domain)
    with pytest.raises(error, match=message):
        rs.partitions(quadrants, [rs.Box(-1, 1, 2), domain])


def test_no_domains_are_refused(quadrants):
    with pytest.raises(InputError, match="at least one domain"):
        rs.partitions(quadrants, [])


def test_more_regions_than_anyone_waits_for_stop_at_the_budget():
    net = from_arrays([(np.eye(30), np.zeros(30)), (np.ones((1, 30)), [0.0])])
    part = rs.partition(net, rs.Box(-1, 1, 30), budget=rs.Budget(regions=50))  # of 2^30
    assert part.claim == "LOWER"
    assert 50 <= len(part) < int(part.finding())
    assert "for 30 dimensions" in part.method


def test_collinear_points_make_no_plane():
    with pytest.raises(DegenerateGeometryError, match="not on a line"):
        rs.Plane([0, 0, 0], [1, 1, 1], [2, 2, 2])


def test_an_unknown_method_is_refused(quadrants):
    with pytest.raises(InputError, match="incidence"):
        rs.partition(quadrants, rs.Box(-1, 1, 2), method="simplex")


@pytest.mark.parametrize("size", [1e9, 1e10])
def test_a_window_too_huge_for_its_details_says_so(size):
    parameters = default_network([2, 6, 5, 1], seed=8)
    box = rs.Box(-size, size, 2)
    part = rs.partition(from_arrays(parameters), box)
    finding = part.finding()
    assert finding.interval is not None
    low, high = finding.interval
    assert part.claim is Claim.LOWER
    assert low <= len(truth_on(relu_layers(parameters), box)) <= high
