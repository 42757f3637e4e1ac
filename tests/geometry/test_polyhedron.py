"""Polyhedra: balls, boundedness, facets, vertices and volumes against closed forms, and against scipy at random."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull, HalfspaceIntersection

from fuzzer import true_cones as cones
from reluscope.errors import DegenerateGeometryError, InputError, ShapeError
from reluscope.geometry import Box, Plane, Polyhedron, Slice, Space
from reluscope.testing import dyadics


def simplex(dim: int) -> Polyhedron:
    return Polyhedron(np.vstack([-np.eye(dim), np.ones(dim)]), np.append(np.zeros(dim), 1.0))


def random_rotation(dim: int, seed: int) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(dim, dim)))[0]


def around_the_origin(seed: int, dim: int, number: int) -> Polyhedron:
    generator = np.random.default_rng(seed)
    normals = generator.normal(size=(number, dim))
    return Polyhedron(normals, generator.uniform(0.2, 2.0, number) * np.linalg.norm(normals, axis=1))


def facets_one_by_one(P: Polyhedron) -> set[int]:
    """Rows that some point beyond them shows to be needed: one program per row against all others."""
    found = set()
    for row in range(len(P.A)):
        relaxed = P.b.copy()
        relaxed[row] += 1
        if Polyhedron(P.A, relaxed).maximize(P.A[row]).value > P.b[row] + 1e-7:
            found.add(row)
    return found


@pytest.mark.parametrize("dim", [1, 2, 3, 7])
def test_box_and_simplex(dim: int) -> None:
    box, corner = Box(-1, 1, dim).polyhedron, simplex(dim)
    assert box.insphere().radius == pytest.approx(1)
    np.testing.assert_allclose(box.insphere().center, 0, atol=1e-9)
    assert corner.insphere().radius == pytest.approx(1 / (dim + np.sqrt(dim)))
    assert corner.insphere().gap < 1e-9
    assert box.is_bounded()
    assert corner.is_bounded()
    assert len(box.facets()) == 2 * dim
    assert len(corner.facets()) == dim + 1
    assert len(box.vertices()) == 2**dim
    assert len(corner.vertices()) == dim + 1
    assert box.volume() == pytest.approx(2**dim)
    assert corner.volume() == pytest.approx(1 / np.prod(range(1, dim + 1)))


@pytest.mark.parametrize("turn", [0, 1, 2])
def test_triangle_with_sides_3_4_5(turn: int) -> None:
    rotation = random_rotation(2, turn) if turn else np.eye(2)
    triangle = Polyhedron(np.array([[-1, 0], [0, -1], [4, 3]]) @ rotation, [0, 0, 12])
    ball = triangle.insphere()
    assert ball.radius == pytest.approx(1)
    np.testing.assert_allclose(ball.center, np.array([1, 1]) @ rotation, atol=1e-8)
    assert triangle.volume() == pytest.approx(6)
    np.testing.assert_allclose(
        sorted(np.linalg.norm(triangle.vertices(), axis=1)), [0, 3, 4], atol=1e-8
    )  # fmt: skip


def test_vertices_in_the_plane_go_counter_clockwise() -> None:
    x, y = around_the_origin(4, 2, 12).vertices().T
    assert np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)) > 0


def test_strips_have_a_ball_and_no_bound() -> None:
    for strip in (
        Polyhedron([[1, 0], [-1, 0]], [1, 1]),
        Polyhedron([[1, 0], [-1, 0], [0, 1]], [1, 1, 5]),
        Polyhedron([[1, 1e-3], [-1, 0], [0, -1]], [1, 1, 1]).intersect(Polyhedron([[-1, -1e-3]], [1])),
    ):
        assert np.isfinite(strip.insphere().radius)
    assert not Polyhedron([[1, 0], [-1, 0]], [1, 1]).is_bounded()
    half = Polyhedron([[1, 0], [-1, 0], [0, 1]], [1, 1, 5])
    assert not half.is_bounded()
    assert half.volume() == np.inf
    assert len(half.facets()) == 3
    np.testing.assert_allclose(sorted(half.vertices().tolist()), [[-1, 5], [1, 5]], atol=1e-8)
    assert len(Polyhedron([[1, 0], [-1, 0]], [1, 1]).vertices()) == 0


def test_whole_space_half_space_and_cone() -> None:
    space = Space(3).polyhedron
    assert (space.insphere().radius, space.volume(), space.is_bounded()) == (np.inf, np.inf, False)
    assert space.facets() == ()
    half = Polyhedron([[1, 2, 0]], [-4])
    assert half.insphere().radius == np.inf
    assert half.contains(half.insphere().center)
    assert [list(group) for group in half.facets()] == [[0]]
    cone = Polyhedron(-np.eye(3), np.zeros(3))
    assert not cone.is_bounded()
    assert cone.insphere().radius == np.inf
    assert len(cone.facets()) == 3
    np.testing.assert_allclose(cone.vertices(), [[0, 0, 0]], atol=1e-9)


def test_empty_and_flat_polyhedra() -> None:
    empty = Polyhedron([[1, 0], [-1, 0]], [0, -1])
    assert empty.is_empty()
    assert empty.is_bounded()
    assert empty.insphere().radius == pytest.approx(-0.5)
    assert empty.volume() == 0
    assert empty.maximize([0, 1]).value == -np.inf
    flat = Polyhedron([[1, 0], [-1, 0], [0, 1], [0, -1]], [0.1, -0.1, 1, 1])
    assert not flat.is_empty()
    assert flat.insphere().radius == 0
    assert flat.volume() == 0
    for P in (empty, flat):
        with pytest.raises(DegenerateGeometryError):
            P.facets()
        with pytest.raises(DegenerateGeometryError):
            P.vertices()
    impossible = Polyhedron([[0, 0], [1, 0]], [-1, 1])
    assert impossible.is_empty()
    assert impossible.insphere().radius == -np.inf
    assert Polyhedron([[0, 0], [0, 0]], [0, 1]).facets() == ()


@pytest.mark.parametrize("seed", range(5))
def test_a_rotated_flat_polyhedron_is_flat(seed: int) -> None:
    rotation = random_rotation(3, seed)
    rows = np.vstack([np.eye(3), -np.eye(3)]) @ rotation
    assert Polyhedron(rows, [1, 1, 0.3, 1, 1, -0.3]).insphere().radius == 0
    sliver = Polyhedron(rows, [1, 1, 0.3 + 1e-11, 1, 1, -0.3]).insphere()
    assert sliver.radius == pytest.approx(0.5e-11, rel=1e-3, abs=0)


def test_repeated_parallel_and_zero_rows() -> None:
    rows = [[1, 0], [3, 0], [-1, 0], [0, 1], [0, -1], [0, 0], [1, 0], [0, 1], [0.5, 0.5], [1, 1]]
    P = Polyhedron(rows, [1, 3, 1, 1, 1, 0, 2, 1 + 1e-14, 1, 1.5])
    assert [list(group) for group in P.facets()] == [[0, 1], [2], [3, 7], [4], [9]]
    assert len(P.vertices()) == 5
    touching = Polyhedron([[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1]], [1, 1, 1, 1, 2])  # touches one corner
    assert [list(group) for group in touching.facets()] == [[0], [1], [2], [3]]
    assert len(touching.vertices()) == 4


def test_equations_are_solved_first() -> None:
    square = Polyhedron(np.vstack([np.eye(3), -np.eye(3)]), np.ones(6), [[0, 0, 1], [0, 0, 2]], [0.5, 1])
    assert square.insphere().radius == pytest.approx(1)
    assert square.volume() == pytest.approx(4)
    assert [list(group) for group in square.facets()] == [[0], [1], [3], [4]]
    np.testing.assert_allclose(square.vertices()[:, 2], 0.5)
    assert square.is_bounded()
    assert square.contains(square.vertices(), 1e-9).all()
    assert square.maximize([1, 1, 1]).value == pytest.approx(2.5)
    point = Polyhedron([[1, 0]], [3], np.eye(2), [1, 2])
    assert point.is_bounded()
    np.testing.assert_allclose(point.vertices(), [[1, 2]])
    nothing = Polyhedron([[1, 0]], [3], [[1, 0], [1, 0]], [1, 2])
    assert nothing.is_empty()
    assert nothing.insphere().radius == -np.inf


@pytest.mark.slow
@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(8, 30))
def test_random_polytopes_agree_with_scipy(seed: int, dim: int, number: int) -> None:
    P = around_the_origin(seed, dim, number).intersect(Box(-3, 3, dim).polyhedron)
    reference = HalfspaceIntersection(np.column_stack([P.A, -P.b]), np.zeros(dim))
    corners = np.unique(reference.intersections.round(7), axis=0)
    assert len(P.vertices()) == len(corners)
    assert P.contains(P.vertices(), 1e-8).all()
    assert P.volume() == pytest.approx(ConvexHull(reference.intersections).volume, rel=1e-7)
    facets = [int(group[0]) for group in P.facets()]
    assert facets == sorted(set(reference.dual_vertices.tolist()))
    assert set(facets) == facets_one_by_one(P)
    ball = P.insphere()
    distances = (P.b - P.A @ ball.center) / np.linalg.norm(P.A, axis=1)
    assert distances.min() == pytest.approx(ball.radius)
    assert ball.gap < 1e-7


@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(1, 9))
def test_boundedness_of_random_cones(seed: int, dim: int, number: int) -> None:
    """Bounded iff the origin is strictly inside the convex hull of the normals."""
    generator = np.random.default_rng(seed)
    normals = generator.integers(-2, 3, size=(number, dim)).astype(float)
    normals = normals[normals.any(axis=1)]
    P = Polyhedron(normals.reshape(-1, dim), np.ones(len(normals)))
    caps = [Polyhedron(P.A, P.b).intersect(Box(-R, R, dim).polyhedron).volume() for R in (1e3, 2e3)]
    assert P.is_bounded() == (caps[1] == pytest.approx(caps[0], rel=1e-6))


@given(st.lists(st.tuples(dyadics(), dyadics(), dyadics(4)), min_size=3, max_size=12))
def test_small_integer_polygons(rows: list) -> None:
    """Many coincidences: parallel, repeated, redundant by touching; vertices lie on two facets and conversely."""
    table = np.array(rows)
    P = Polyhedron(table[:, :2], table[:, 2]).intersect(Box(-4, 4, 2).polyhedron)
    ball = P.insphere()
    if not ball.radius > 1e-9:
        return
    groups, vertices = P.facets(), P.vertices()
    assert len(groups) == len(vertices) >= 3
    facet_rows = [int(group[0]) for group in groups]
    assert Polyhedron(P.A[facet_rows], P.b[facet_rows]).volume() == pytest.approx(P.volume())
    for group in groups:
        on = np.abs(vertices @ P.A[group[0]] - P.b[group[0]]) < 1e-8
        assert on.sum() == 2
        lengths = np.linalg.norm(P.A[group], axis=1)
        lines = np.column_stack([P.A[group], P.b[group]]) / lengths[:, None]
        np.testing.assert_allclose(lines, lines[:1].repeat(len(group), axis=0), atol=1e-12)


def test_inequalities_alone_are_the_same_set() -> None:
    """Seen red with equations of one side only."""
    rng = np.random.default_rng(3)
    one = Polyhedron(rng.normal(size=(2, 3)), [1.0, 2.0], C=[[1.0, 0.0, -1.0]], d=[0.5])
    rows, ends = one.inequalities()
    assert rows.shape == (4, 3)
    points = rng.integers(-4, 5, (400, 3)) / 4  # a twelfth of them on the plane, without rounding
    inside = one.contains(points)
    assert np.array_equal((points @ rows.T <= ends).all(axis=1), inside)
    assert 0 < inside.sum() < len(points)


@pytest.mark.slow
@pytest.mark.parametrize("dim", [20, 60])
def test_many_dimensions(dim: int) -> None:
    box = Box(-1, 1, dim).polyhedron
    far = np.random.default_rng(0).normal(size=(200, dim))
    P = box.intersect(Polyhedron(far, 1.01 * np.abs(far).sum(axis=1)))
    assert [int(group[0]) for group in P.facets()] == list(range(2 * dim))
    cut = box.intersect(Polyhedron(far, 0.1 * np.abs(far).sum(axis=1)))
    some = np.random.default_rng(1).choice(len(cut.A), 20, replace=False)
    facets = {int(group[0]) for group in cut.facets()}
    for row in some:
        relaxed = cut.b.copy()
        relaxed[row] += 1
        assert (Polyhedron(cut.A, relaxed).maximize(cut.A[row]).value > cut.b[row] + 1e-7) == (row in facets)
    with pytest.raises(InputError, match="at most 9"):
        P.vertices()


@pytest.mark.parametrize("repeat", [False, True])
def test_fewer_rows_than_dimensions(repeat: bool) -> None:
    """A polygon times a space of 30 dimensions; and independent rows, which bound no ball."""
    frame = random_rotation(32, 5)
    polygon = around_the_origin(7, 2, 9)
    rows = polygon.A @ frame[:2]
    P = Polyhedron(rows, polygon.b)
    if repeat:
        P = P.intersect(Polyhedron(2 * rows, 2 * polygon.b))
    assert P.insphere().radius == pytest.approx(polygon.insphere().radius)
    assert [group[0] for group in P.facets()] == [group[0] for group in polygon.facets()]
    assert not P.is_bounded()
    wedge = Polyhedron(frame[:20], np.arange(20.0))
    assert wedge.insphere().radius == np.inf
    assert wedge.contains(wedge.insphere().center)
    assert len(wedge.facets()) == 20


def test_maximize_and_contains() -> None:
    P = Box([-1, 0], [2, 1]).polyhedron
    assert P.maximize([1, -1]).value == 2
    np.testing.assert_allclose(P.maximize([1, -1]).point, [2, 0])
    assert Polyhedron([[1, 0]], [1]).maximize([0, 1]).value == np.inf
    assert P.contains([[0, 0], [0, -1e-6], [3, 0]]).tolist() == [True, False, False]
    assert P.contains([0, -1e-6], tolerance=1e-5)
    assert P.contains(np.zeros((2, 3, 2))).shape == (2, 3)


def value(row: np.ndarray, point: np.ndarray) -> Fraction:
    terms = (Fraction(a) * Fraction(x) for a, x in zip(row.tolist(), point.tolist(), strict=True))
    return sum(terms, Fraction(0))


@pytest.mark.few(1)
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_points_on_half_spaces_are_inside_as_fractions_say(dim: int) -> None:
    generator = np.random.default_rng(dim)
    rows, points = generator.normal(size=(40, dim)), generator.normal(size=(60, dim))
    points[:40] *= 10.0 ** generator.integers(-9, 9, (40, 1))
    P = Polyhedron(rows, [row @ point for row, point in zip(rows, points, strict=False)])
    exact = [[value(row, point) <= Fraction(end) for row, end in zip(P.A, P.b, strict=True)] for point in points]
    alone = [[bool(Polyhedron(P.A[i : i + 1], P.b[i : i + 1]).contains(point)) for i in range(40)] for point in points]
    assert alone == exact
    assert P.contains(points).tolist() == [all(row) for row in exact]
    # Nor does it depend on what else is asked.
    assert P.contains(points[::7]).tolist() == [all(row) for row in exact[::7]]


@pytest.mark.parametrize("seed", range(12))
def test_half_spaces_far_away_change_nothing(seed: int) -> None:
    generator = np.random.default_rng(seed)
    dim = 1 + seed % 4
    rows = np.vstack([np.eye(dim), -np.eye(dim), generator.normal(size=(2, dim))])
    ends = (0.1 + generator.random(len(rows))) * 10.0 ** -(3.0 * (seed // 3))
    far, distances = generator.normal(size=(3, dim)), 10.0 ** generator.integers(2, 12, 3)
    scales = 10.0 ** generator.integers(-12, 12, 3)
    near = Polyhedron(rows, ends)
    both = Polyhedron(np.vstack([scales[:, None] * far, rows]), np.append(scales * distances, ends))
    assert both.insphere().gap <= 1e-6 * near.insphere().radius
    assert both.insphere().radius == pytest.approx(near.insphere().radius, rel=2e-6, abs=0)
    assert [(group - 3).tolist() for group in both.facets()] == [group.tolist() for group in near.facets()]
    assert both.volume() == pytest.approx(near.volume(), rel=1e-9, abs=0)


def test_bad_shapes_and_numbers() -> None:
    for arguments in (([1, 2], [1]), ([[1, 2]], [1, 2]), ([[1, 2]], [1], [[1]], [1]), ([[1, 2]], [1], [[1, 2]])):
        with pytest.raises(ShapeError):
            Polyhedron(*arguments)
    with pytest.raises(InputError):
        Polyhedron([[1, np.nan]], [1])
    with pytest.raises(InputError):
        Polyhedron([["a", "b"]], [1])
    with pytest.raises(ShapeError):
        Polyhedron([[1, 2]], [1]).contains([1, 2, 3])


def test_slices_need_windows_and_can_be_clipped() -> None:
    with pytest.raises(InputError, match="a Box, a Polyhedron or a Space"):
        Slice([0, 0], np.eye(2), Plane([0, 0], [1, 0], [0, 1]))
    half = Slice([0, 0], np.eye(2), Polyhedron([[1, 0]], [1]))
    assert half.clip(Box(0, 2, 2)).volume() == pytest.approx(2)
    plane = Plane(np.zeros(4), [1, 1, 0, 0], [0, 0, 1, 1], margin=0.5)
    clipped = plane.clip(Box(0, 1, 4))
    assert clipped.window.volume() == pytest.approx(2)
    assert plane.clip(Box(-9, 9, 4)) is plane
    with pytest.raises(DegenerateGeometryError):
        plane.clip(Box(5, 6, 4))


def test_a_corner_so_far_away_that_floats_take_it_for_a_direction() -> None:
    # The third and the last row meet some 1e17 away: the last one is the third one over -6, rounded.
    A, b = [[0.0, 1.0], [1.75, -1.0], [-1.75, 1.0], [1.75 / 6, -1 / 6]], [-3.0, 3.0, 3.0, 0.5]
    A[3][0] = np.nextafter(A[3][0], 0)
    truth = cones.polyhedron(2, [[*(-Fraction(x) for x in row), Fraction(end)] for row, end in zip(A, b, strict=True)])
    long = Polyhedron(A, b)
    assert long.is_bounded() == truth.is_bounded
    assert sorted(long.vertices().tolist()) == sorted([float(x) for x in corner] for corner in truth.vertices)
    assert long.volume() == float(cones.volume(truth)) > 1e16


@pytest.mark.parametrize("end", [5e-324, 1.5e-323, 2.5e-308, -5e-324])
def test_points_beside_ends_of_the_smallest_numbers(end):
    points = np.array([0.0, 5e-324, 1e-323, 1.5e-323, -5e-324, 2.5e-308, 1.0])[:, None]
    assert Polyhedron([[1.0]], [end]).contains(points).tolist() == (points[:, 0] <= end).tolist()
    assert Polyhedron([[-1.0]], [-end]).contains(points).tolist() == (points[:, 0] >= end).tolist()
    slanted = Polyhedron([[3.0, -1.0]], [end])
    for x in points[:, 0]:
        for y in points[:, 0]:
            inside = 3 * Fraction(x) - Fraction(y) <= Fraction(end)
            assert bool(slanted.contains([x, y])) == inside
