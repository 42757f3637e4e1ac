"""Domains: boxes, slices, segments and planes follow the conventions, and refuse degenerate input in one sentence."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import reluscope as rs
from reluscope.errors import DegenerateGeometryError, InputError, ShapeError
from reluscope.geometry.polyhedra.domains import Box, Slice, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.polyhedra.slices import Plane, Segment, polyline


def random_points(seed: int, count: int, n: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, n))


def test_space_and_box_describe_themselves() -> None:
    assert Space(4).dim == Space(4).ambient_dim == 4
    assert Box(0, 1, 784).describe() == "box [0, 1]^784"
    assert Box([0, 0], [1, 2]).describe() == "box [0, 1] x [0, 2]"


def test_box_flattens_images_and_is_read_only() -> None:
    box = Box(np.zeros((1, 4, 4)), 1.0)
    assert box.dim == 16
    with pytest.raises(ValueError, match="read-only"):
        box.lo[0] = 3.0


def test_box_corners_go_counter_clockwise_in_the_plane() -> None:
    x, y = Box([0, 0], [2, 1]).corners().T
    assert 0.5 * np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)) == 2.0
    assert len(Box(0, 1, 3).corners()) == 8


def test_box_polyhedron_is_the_same_set() -> None:
    box = Box([-1, 0, 2], [1, 0.5, 3])
    points = random_points(0, 500, 3) * [1, 1, 2] + [0, 0, 2]
    assert (box.contains(points) == box.polyhedron.contains(points)).all()


@pytest.mark.parametrize(
    "arguments", [(0, 1), (1, 1, 2), (2, 1, 2), (np.nan, 1, 2), ([0, 0], [1, 1, 1]), (0, np.inf, 1)]
)
def test_box_refuses(arguments: tuple) -> None:
    with pytest.raises((InputError, DegenerateGeometryError)):
        Box(*arguments)


@given(st.integers(0, 10_000), st.integers(1, 3), st.integers(3, 9))
def test_project_undoes_lift_and_finds_the_nearest_point(seed: int, d: int, n: int) -> None:
    origin, extra, *basis = random_points(seed, d + 2, n)
    plane = Slice(origin, np.array(basis), Box(-1, 1, d))
    y = np.random.default_rng(seed).normal(size=(5, d))
    np.testing.assert_allclose(plane.project(plane.lift(y)), y, atol=1e-7)
    foot = plane.lift(plane.project(extra))
    np.testing.assert_allclose(plane.basis @ (extra - foot), 0, atol=1e-7)


def test_slice_accepts_images_and_tensors() -> None:
    images = torch.rand(3, 1, 4, 4, requires_grad=True)
    plane = Plane(images[0], images[1], images[2])
    np.testing.assert_allclose(plane.lift(plane.project(images)), images.detach().numpy().reshape(3, 16), atol=1e-6)
    assert plane.project(images[0]).shape == (2,)


def test_segment_is_measured_in_lengths() -> None:
    segment = Segment([1, 1], [4, 5])
    assert segment.window.describe() == "box [0, 5]"
    np.testing.assert_allclose(segment.lift([[0.0], [5.0]]), [[1, 1], [4, 5]])


def test_plane_conventions() -> None:
    a, b, c = random_points(3, 3, 7)
    plane = Plane(a, b, c)
    assert plane.is_orthonormal
    np.testing.assert_allclose(plane.project(a), [0, 0], atol=1e-12)
    np.testing.assert_allclose(plane.project(b), [np.linalg.norm(b - a), 0], atol=1e-12)
    assert plane.project(c)[1] > 0
    np.testing.assert_allclose(plane.lift(plane.project(c)), c, atol=1e-12)
    points = plane.project(np.stack([a, b, c]))
    np.testing.assert_allclose(plane.window.lo, points.min(axis=0), atol=1e-12)
    np.testing.assert_allclose(plane.window.hi, points.max(axis=0), atol=1e-12)


def test_plane_margin_is_a_fraction_of_the_longer_side() -> None:
    window = Plane([0, 0], [4, 0], [1, 2], margin=0.25).window
    np.testing.assert_allclose([window.lo, window.hi], [[-1, -1], [5, 3]])
    assert Plane([0, 0], [4, 0], [1, 2], window=Box(-9, 9, 2)).window.volume() == 324


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_collinear_points_are_refused_at_every_scale(scale: float) -> None:
    a, b = random_points(1, 2, 20) * scale
    with pytest.raises(DegenerateGeometryError, match="collinear"):
        Plane(a, b, a + 0.3 * (b - a))
    with pytest.raises(DegenerateGeometryError):
        Plane(a, a, b)
    with pytest.raises(DegenerateGeometryError):
        Segment(a, a)


def test_a_thin_but_honest_plane_is_accepted() -> None:
    plane = Plane([0, 0, 0], [1, 0, 0], [0.5, 1e-9, 0])
    np.testing.assert_allclose(plane.basis[1], [0, 1, 0], atol=1e-6)


def test_slice_refuses_dependent_directions_and_wrong_shapes() -> None:
    with pytest.raises(DegenerateGeometryError, match="rank 1"):
        Slice([0, 0], [[1, 1], [2, 2]], Box(0, 1, 2))
    with pytest.raises(ShapeError):
        Slice([0, 0], [[1, 1, 1]], Box(0, 1, 1))
    with pytest.raises(ShapeError):
        Slice([0, 0], [[1, 1]], Box(0, 1, 2))
    with pytest.raises(InputError):
        Slice([0, np.nan], [[1, 1]], Box(0, 1, 1))


def test_polyline_is_one_segment_per_leg() -> None:
    legs = polyline([[0, 0], [1, 0], [1, 2]])
    assert [leg.window.hi[0] for leg in legs] == [1, 2]
    with pytest.raises(DegenerateGeometryError, match="points 1 and 2"):
        polyline([[0, 0], [1, 0], [1, 0]])
    with pytest.raises(ShapeError):
        polyline([[0, 0]])


TRIANGLE = Polyhedron([[-1.0, 0.0], [0.0, -1.0], [3.0, 4.0]], [0.0, 0.0, 12.0])  # sides 3, 4, 5
ALIKE = {
    "box": (Box([0, 0], [3, 4]), 12.0, 5.0, [1.0, 1.0], [4.0, 1.0]),
    "polyhedron": (TRIANGLE, 6.0, 5.0, [1.0, 1.0], [3.0, 3.0]),
    "space": (Space(2), np.inf, np.inf, [1.0, 1.0], [np.inf, 0.0]),
    "segment": (Segment([1, 1, 1], [1, 4, 5]), 5.0, 5.0, [1.0, 2.5, 3.0], [1.0, 2.5, 3.1]),
    "turned square": (Slice([0, 0, 1], [[2, 0, 0], [0, 0, 3]], Box(0, 1, 2)), 6.0, np.sqrt(13), [1, 0, 2], [1, 0, 4.1]),
    "turned triangle": (Slice([0, 0, 1], [[2, 0, 0], [0, 0, 2]], TRIANGLE), 24.0, 10.0, [2, 0, 3], [2, 1e-6, 3]),
}


@pytest.mark.parametrize("name", ALIKE)
def test_all_domains_answer_the_same_questions(name):
    domain, volume, diameter, inside, outside = ALIKE[name]
    assert domain.is_bounded() is np.isfinite(volume).item()
    assert domain.volume() == pytest.approx(volume)
    found = domain.diameter()
    assert (found.lower, found.upper) == pytest.approx((diameter, diameter))
    if domain.is_bounded():
        assert np.linalg.norm(found.ends[0] - found.ends[1]) == pytest.approx(diameter)
        assert domain.contains(found.ends, 1e-9).all()
    assert domain.contains([inside, outside]).tolist() == [True, False]
    assert domain.contains(inside).item() is True


def test_points_that_were_lifted_lie_in_their_slice():
    draw = np.random.default_rng(0)
    window = Box(-1, 1, 2)
    for scale in (1e-8, 1.0, 1e8):
        plane = Slice(scale * draw.normal(size=9), scale * draw.normal(size=(2, 9)), window)
        assert plane.contains(plane.lift(draw.uniform(-1, 1, size=(500, 2)))).all()
        assert plane.contains(plane.lift(window.corners())).all()
        assert not plane.contains(plane.lift([[1.0 + 1e-9, 0.0], [0.0, -1.0 - 1e-9]])).any()
        assert not plane.contains(plane.lift([[0.5, 0.5]]) + 1e-9 * scale).any()


def test_a_box_with_equal_ends_is_the_slice_of_the_inputs_that_vary():
    flat = Box([0.0, 5.0, 0.0], [1.0, 5.0, 2.0])
    assert isinstance(flat, Slice)
    np.testing.assert_array_equal(flat.lift([0.25, 1.5]), [0.25, 5.0, 1.5])
    net = rs.load([(np.eye(3) - 0.5, np.zeros(3)), (np.ones((1, 3)), np.zeros(1))])
    whole = rs.partition(net, rs.Slice([0, 5, 0], [[1, 0, 0], [0, 0, 1]], Box([0, 0], [1, 2])))
    assert len(rs.partition(net, flat)) == len(whole)
    assert float(rs.maximize(net, flat)) == pytest.approx(float(whole.outputs.max()))
    with pytest.raises(DegenerateGeometryError, match="lo < hi in some coordinate"):
        Box([1.0, 2.0], [1.0, 2.0])
    with pytest.raises(DegenerateGeometryError, match=r"lo < hi in every coordinate, got \[3, 2\] in coordinate 1"):
        Box([1.0, 3.0], [1.0, 2.0])
