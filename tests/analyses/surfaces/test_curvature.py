"""Curvature: closed forms of bodies, hulls by qhull, the theorem of Gauss and Bonnet, ends that rounding decides."""

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.spatial import ConvexHull

import reluscope as rs
from partitions import bodies
from partitions.test_level_sets import AROUND, random_network
from reluscope.analyses.surfaces import curvature
from reluscope.errors import InputError
from reluscope.partitions.levels.level_sets import LevelSet

BALL = rs.load([(np.r_[np.eye(3), -np.eye(3)], np.zeros(6)), (np.ones((1, 6)), -np.ones(1))])


def polar(seed, dim=3):
    """Return the network whose level 0 is a convex body around the origin, with many facets."""
    rng = np.random.default_rng(seed)
    normals = np.concatenate([np.eye(dim), -np.eye(dim), rng.standard_normal((4, dim))])
    return rs.load([(normals, np.zeros(len(normals))), (np.ones((1, len(normals))), -np.ones(1))])


def mean_curvature_of_hull(points):
    """Return half the sum of angles times lengths over the edges of a convex hull of qhull's triangles."""
    hull, total = ConvexHull(points), 0.0
    for one, (simplex, others) in enumerate(zip(hull.simplices, hull.neighbors, strict=True)):
        for corner, other in zip(simplex, others, strict=True):
            if other > one:
                tail, head = (end for end in simplex if end != corner)
                a, b = hull.equations[one, :3], hull.equations[other, :3]
                turn = np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b)
                total += turn * np.linalg.norm(points[tail] - points[head]) / 2
    return total


@pytest.mark.parametrize(
    ("name", "mean", "gauss"), [("cube", 3.0, 4), ("two", 7.0, 8), ("hollow", 9.0 - 3.0, 8), ("frame", 8.0, 0)]
)
def test_bodies_of_boxes(name, mean, gauss):
    # A box has half a right angle times its edges: pi (a + b + c); a hollow counts negatively, edges inside, too: of
    # the frame outer edges 4 (3 + 3 + 1) and 8 + 4 inner ones, of these 4 concave.
    found = rs.level_set(bodies.by_units(bodies.KNOWN[name][0]), AROUND)
    edges, vertices = rs.surfaces.edge_curvature(found), rs.surfaces.vertex_curvature(found)
    assert float(edges.summary.finding("mean_curvature")) == pytest.approx(np.pi * mean)
    assert str(edges.summary.finding("mean_curvature").claim) == "EXACT"
    assert vertices["gauss_curvature"].value.sum() == pytest.approx(np.pi * gauss, abs=1e-12)
    assert vertices["gauss_curvature"].is_exact.all()
    angles = edges["dihedral_angle"].value / (np.pi / 2)
    assert np.allclose(angles, np.rint(angles), atol=1e-13)
    assert edges["dihedral_angle"].is_exact.all()


@pytest.mark.parametrize("seed", range(4))
def test_convex_bodies_beside_hulls(seed):
    found = rs.level_set(polar(seed), rs.Box(-2, 2, 3))
    table = rs.surfaces.edge_curvature(found)
    total = table.summary.finding("mean_curvature")
    assert float(total) == pytest.approx(mean_curvature_of_hull(found.vertices), rel=1e-9)
    assert str(total.claim) == "EXACT"
    assert (table["dihedral_angle"].value > -1e-12).all()


@pytest.mark.parametrize("seed", range(4))
def test_gauss_and_bonnet_for_open_surfaces(seed):
    found = rs.level_set(random_network(3, 9, 8, 1, seed=seed), rs.Box(-1, 1, 3))
    table = rs.surfaces.vertex_curvature(found)
    total = float(table.summary.finding("gauss_curvature"))
    column = table["gauss_curvature"]
    assert column.value.sum() == pytest.approx(total, abs=1e-9)
    assert column.lower.sum() <= total <= column.upper.sum()


def test_an_open_plane_has_the_angles_of_its_corners():
    plane = rs.load([(np.array([[0.0, 0.0, 1.0]]), np.zeros(1))])
    found = rs.level_set(plane, rs.Box(-1, 1, 3))
    terms = rs.surfaces.vertex_curvature(found)["gauss_curvature"].value
    assert terms.tolist() == pytest.approx([np.pi / 2] * 4)
    assert len(rs.surfaces.edge_curvature(found)) == 0


def test_cones_that_touch_keep_the_theorem():
    cone = rs.load(
        [
            (np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]), np.zeros(6)),
            (np.array([[1.0, 1, 1, 1, -1, -1]]), np.zeros(1)),
        ]
    )
    for network, box in ((cone, rs.Box([-2, -2, -1], [2, 2, 1])), (bodies.by_maxima(bodies.PINCHED), AROUND)):
        found = rs.level_set(network, box)
        assert not found.is_manifold
        table = rs.surfaces.vertex_curvature(found)
        assert table["gauss_curvature"].value.sum() == pytest.approx(2 * np.pi * found.euler_characteristic, abs=1e-9)


def test_the_sense_turns_with_the_function():
    there = rs.level_set(bodies.by_maxima(bodies.CUBE), AROUND)
    table = rs.surfaces.edge_curvature(there)["dihedral_angle"].value
    assert table.max() == pytest.approx(np.pi / 2)
    back = rs.level_set(bodies.by_units(bodies.CUBE, negated=True), AROUND, plateaus="above")
    assert rs.surfaces.edge_curvature(back)["dihedral_angle"].value.min() == pytest.approx(-np.pi / 2)


def test_blurred_vertices_widen_the_ends():
    found = rs.level_set(BALL, rs.Box(-2, 2, 3))
    blurred = replace(found, blur=np.full(len(found.vertices), 1e-3))
    edges, vertices = rs.surfaces.edge_curvature(blurred), rs.surfaces.vertex_curvature(blurred)
    # Corners that move by 1e-3 turn a side of length sqrt(2) by up to its share, at both ends.
    angle, gauss = edges["dihedral_angle"], vertices["gauss_curvature"]
    assert (angle.upper - angle.value > 2e-3).all()
    assert (angle.value - angle.lower > 2e-3).all()
    assert (angle.upper - angle.lower < 1e-1).all()
    assert (gauss.upper - gauss.value > 4 * 2 * 1e-3).all()
    total = edges.summary["mean_curvature"]
    assert (total.upper - total.value > 12 * 1e-3).all()
    rng = np.random.default_rng(0)
    for _ in range(20):
        step = rng.standard_normal(found.vertices.shape)
        moved = found.vertices + 1e-3 * step / np.linalg.norm(step, axis=1, keepdims=True)
        other = replace(found, vertices=moved)
        terms = rs.surfaces.vertex_curvature(other)["gauss_curvature"].value
        assert ((gauss.lower <= terms) & (terms <= gauss.upper)).all()
        turned = mean_curvature_of_hull(moved)
        assert total.lower[0] <= turned <= total.upper[0]


@pytest.mark.parametrize("scale", [1e-110, 1e-80, 1e80])
def test_a_body_of_any_size_bends_as_much(scale):
    small = rs.load([(np.r_[np.eye(3), -np.eye(3)], np.zeros(6)), (np.ones((1, 6)), np.array([-scale]))])
    found = rs.level_set(small, rs.Box(-2 * scale, 2 * scale, 3))
    edges, vertices = rs.surfaces.edge_curvature(found), rs.surfaces.vertex_curvature(found)
    for column, expected in (
        (edges["dihedral_angle"], np.arccos(1 / 3)),
        (edges["mean_curvature"], np.arccos(1 / 3) / 2**0.5 * scale),
        (vertices["gauss_curvature"], 2 * np.pi / 3),
    ):
        assert np.allclose(column.value, expected, rtol=1e-12, atol=0)
        assert ((column.lower <= expected) & (expected <= column.upper)).all()
        assert column.is_exact.all()
    total = edges.summary.finding("mean_curvature")
    assert float(total) == pytest.approx(12 * np.arccos(1 / 3) / 2**0.5 * scale, rel=1e-12, abs=0)


def angle_of(one, two):
    """Return the angle between vectors, with 40 digits."""
    with mpmath.workdps(60):
        one, two = (mpmath.matrix([mpmath.mpf(entry) for entry in part.tolist()]) for part in (one, two))
        across = [one[i] * two[j] - one[j] * two[i] for i, j in ((1, 2), (2, 0), (0, 1))]
        return mpmath.atan2(mpmath.sqrt(sum(entry**2 for entry in across)), sum(one[i] * two[i] for i in range(3)))


@pytest.mark.parametrize("seed", range(3))
def test_angles_at_corners_that_are_exact_have_the_rounding_of_angles(seed, monkeypatch):
    monkeypatch.setattr(LevelSet, "_length_error", 0.0)
    found = rs.level_set(random_network(3, 9, 8, 1, seed=seed), rs.Box(-1, 1, 3))
    found = replace(found, blur=np.zeros(len(found.vertices)))
    table = rs.surfaces.vertex_curvature(found)["gauss_curvature"]
    edges = {}
    with mpmath.workdps(40):
        lacking = [2 * mpmath.pi] * len(found.vertices)
        for first, last in zip(found.offsets, found.offsets[1:], strict=False):
            ids = found.ids[first:last].tolist()
            for before, here, after in zip(ids[-1:] + ids[:-1], ids, ids[1:] + ids[:1], strict=True):
                x, y, z = (found.vertices[one].astype(object) for one in (before, here, after))
                x, y, z = ([Fraction(entry) for entry in one] for one in (x, y, z))
                ends = [np.array([float(a - b) for a, b in zip(end, y, strict=True)]) for end in (x, z)]
                lacking[here] -= angle_of(*ends)
                edges.setdefault(frozenset((here, after)), []).append(here)
        for ends, sides in edges.items():
            for end in ends:
                lacking[end] += mpmath.pi / 2 * (len(sides) - 2)
        for row, exact in enumerate(lacking):
            assert mpmath.mpf(table.lower[row]) <= exact <= mpmath.mpf(table.upper[row])
    assert (table.upper - table.lower < 1e-12).all()


def test_vectors_turn_by_no_more_than_their_ends_allow():
    rng = np.random.default_rng(0)
    along = rng.standard_normal((400, 3)) * 10.0 ** rng.integers(-9, 9, (400, 1))
    moved = np.linalg.norm(along, axis=1) * np.concatenate(
        [10.0 ** rng.uniform(-17, 0.5, 380), 1 + rng.uniform(-1e-15, 1e-15, 20)]
    )
    turned = curvature._turned(moved, along)
    for row in range(400):
        with mpmath.workdps(50):
            share = mpmath.mpf(moved[row]) / mpmath.sqrt(sum(mpmath.mpf(entry) ** 2 for entry in along[row].tolist()))
            assert turned[row] >= (mpmath.asin(share) if share < 1 else np.pi)
            assert turned[row] <= mpmath.asin(share) * (1 + 1e-6) if share < 0.999 else turned[row] <= np.pi
    assert curvature._turned(np.zeros(1), np.zeros((1, 3))).tolist() == [np.pi]


def test_products_of_ends_hold_all_products():
    rng = np.random.default_rng(1)
    low, high = np.sort(rng.uniform(-np.pi, np.pi, (2, 500)), axis=0)
    high = np.where(rng.random(500) < 0.3, low, high)
    lengths = 10.0 ** rng.uniform(-5, 5, 500)
    moved = lengths * np.where(rng.random(500) < 0.4, 0.0, 10.0 ** rng.uniform(-17, 1, 500))
    least, most = curvature._products(low, high, lengths, moved)
    for row in range(500):
        angles = [Fraction(low[row]), Fraction(high[row])]
        length, off = Fraction(lengths[row]), Fraction(moved[row])
        exact = [angle * one / 2 for angle in angles for one in (max(length - off, 0), length + off)]
        assert Fraction(least[row]) <= min(exact)
        assert max(exact) <= Fraction(most[row])
        assert most[row] - least[row] <= float(max(exact) - min(exact)) + 1e-12 * (lengths[row] + moved[row])


def test_angles_of_edges_turn_with_corners_that_move():
    found = rs.level_set(polar(0), rs.Box(-2, 2, 3))
    blurred = replace(found, blur=np.full(len(found.vertices), 1e-4))
    table = rs.surfaces.edge_curvature(blurred)
    lengths = np.linalg.norm(np.diff(found.vertices[np.stack(list(table.keys.values()), axis=1)], axis=1)[:, 0], axis=1)
    angle, mean = table["dihedral_angle"], table["mean_curvature"]
    # Each of two sides turns; a long edge has less of it.
    assert (angle.upper - angle.lower > 4 * 1e-4 / lengths).all()
    assert (angle.lower > 0).all()
    assert (mean.lower <= angle.lower * (lengths - 2e-4) / 2).all()
    assert (angle.upper * (lengths + 2e-4) / 2 <= mean.upper).all()
    assert (angle.lower >= -np.pi).all()
    assert (angle.upper <= np.pi).all()


def test_edges_of_sides_without_direction_have_any_angle():
    found = rs.level_set(BALL, rs.Box(-2, 2, 3))
    blurred = replace(found, blur=np.full(len(found.vertices), 5.0))
    table = rs.surfaces.edge_curvature(blurred)["dihedral_angle"]
    assert table.lower.tolist() == [-np.pi] * 12
    assert table.upper.tolist() == [np.pi] * 12
    # No angle at a corner is beyond a half turn: each vertex has four.
    column = rs.surfaces.vertex_curvature(blurred)["gauss_curvature"]
    assert np.allclose(column.upper - column.value, 4 * np.pi)
    assert np.allclose(column.value - column.lower, 4 * np.pi)


def test_a_sharp_fold_may_be_one_to_the_other_side():
    wide = np.diag([1.0, 1.0, 20.0])
    disc = rs.load([(np.r_[wide, -wide], np.zeros(6)), (np.ones((1, 6)), -np.ones(1))])
    found = rs.level_set(disc, rs.Box(-2, 2, 3))
    ends = np.stack(list(rs.surfaces.edge_curvature(found).keys.values()), axis=1)
    is_rim = np.abs(found.vertices[ends][..., 2]).max(axis=1) < 1e-9
    assert is_rim.sum() == 4
    for blur, said in ((1e-3, 3.0), (0.02, -np.pi)):
        column = rs.surfaces.edge_curvature(replace(found, blur=np.full(len(found.vertices), blur)))["dihedral_angle"]
        assert np.allclose(column.value[is_rim], np.pi - 2 * np.arctan(2**0.5 / 20))
        assert np.allclose(column.lower[is_rim], said, atol=0.02)
        assert (column.upper[is_rim] <= np.pi).all()


def test_work_that_stopped_claims_no_sums():
    found = rs.level_set(random_network(3, 12, 12, 1, seed=2), rs.Box(-1, 1, 3), budget=rs.Budget(regions=20))
    assert found.num_open
    for table, name in (
        (rs.surfaces.edge_curvature(found), "mean_curvature"),
        (rs.surfaces.vertex_curvature(found), "gauss_curvature"),
    ):
        assert str(table.summary.finding(name).claim) == "ESTIMATE"
    doubtful = replace(rs.level_set(BALL, rs.Box(-2, 2, 3)), num_undecided=1)
    assert not rs.surfaces.edge_curvature(doubtful)["dihedral_angle"].is_exact.any()
    assert not rs.surfaces.vertex_curvature(doubtful)["gauss_curvature"].is_exact.any()


def test_nothing_and_the_plane():
    empty = rs.level_set(BALL, rs.Box(-2, 2, 3), level=50.0)
    assert len(rs.surfaces.edge_curvature(empty)) == len(rs.surfaces.vertex_curvature(empty)) == 0
    flat = rs.load([(np.eye(2)[:1], np.zeros(1))])
    for ask in (rs.surfaces.edge_curvature, rs.surfaces.vertex_curvature):
        with pytest.raises(InputError, match="in space"):
            ask(rs.level_set(flat, rs.Box(-1, 1, 2)))
