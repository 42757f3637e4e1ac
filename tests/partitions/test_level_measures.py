"""Measures of level sets: volumes on either side against clipped regions, pinched vertices, plateaus above."""

import itertools
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from inspect import unwrap
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.spatial import ConvexHull, QhullError

import reluscope as rs
from partitions import bodies
from partitions.test_decision_surfaces import network_of
from partitions.test_level_sets import AROUND, random_network, small_integers
from reluscope.errors import IncompletePartitionError, InputError
from reluscope.networks.building.builder import GraphBuilder
from reluscope.partitions.complexes import incidence
from reluscope.partitions.levels import level_pieces, level_sets, level_walk
from reluscope.partitions.levels.level_bounds import above_or_below
from reluscope.partitions.levels.level_polygons import fans
from reluscope.partitions.levels.piece_geometry import PieceGeometry

PLANE = rs.Box(-2, 2, 2)
# |x| / a + |y| / b - c, whose level line is a rhombus with corners that float64 does not hold.
TENTS = [
    (np.array([[a, b, a, b]]), -np.array([c])) for a, b, c in ((1.0, 1.0, 1 / 3), (0.7, 1.3, 0.9), (3.1, 0.2, 0.3))
]
CONE = rs.load(
    [
        (np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]), np.zeros(6)),
        (np.array([[1.0, 1, 1, 1, -1, -1]]), np.zeros(1)),
    ]
)


def clipped_volume(network, box, level, sense):
    """Return the volume where ``sense * (f - level) > 0``: hulls of corners there and of crossings."""
    part = rs.partition(network, box)
    heights = sense * (part.outputs[:, 0] - level)
    heights[np.abs(heights) < 1e-12] = 0
    offsets, ids = part.region_vertices
    total = 0.0
    for start, stop in itertools.pairwise(offsets):
        corners, values = part.vertices[ids[start:stop]], heights[ids[start:stop]]
        if values.max() <= 0:
            continue
        above, below = np.flatnonzero(values > 0), np.flatnonzero(values < 0)
        share = values[above][:, None] / (values[above][:, None] - values[below])
        crossings = corners[above][:, None] + share[..., None] * (corners[below] - corners[above][:, None])
        try:
            total += ConvexHull(np.concatenate([corners[values >= 0], crossings.reshape(-1, box.dim)])).volume
        except QhullError:  # thinner than what qhull can see
            continue
    return total


@pytest.mark.few(5)
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_capped_volumes_are_those_of_clipped_regions(dim, seed, monkeypatch):
    monkeypatch.setattr(incidence, "_chunk_cells", lambda *_: 5 + 11 * seed)
    layers = small_integers(dim, 5, 4, 1, seed=seed) if seed % 2 else None
    network = random_network(dim, 7, 6, 1, seed=seed) if layers is None else rs.load(layers)
    box, level = rs.Box(-1, 1, dim), 0.25 * (seed % 3)
    found = rs.level_set(network, box, level=level)
    for sense, side in ((-1, "below"), (1, "above")):
        finding = found.volume_finding(side)
        expected = clipped_volume(network, box, level, sense)
        # Plateaus count as below.
        if side == "below":
            expected = 2.0**dim - clipped_volume(network, box, level, 1)
        assert float(finding) == pytest.approx(expected, abs=1e-9)
        assert found.volume(side) == float(finding)
    assert found.volume("below") + found.volume("above") == pytest.approx(2.0**dim, rel=1e-13)


def test_plateaus_above_have_their_normals_from_below():
    network = bodies.by_units(bodies.CUBE, negated=True)
    found = rs.level_set(network, AROUND, plateaus="above")
    assert len(found.solid_cells) == 1
    assert np.allclose(np.linalg.norm(found.normals, axis=1), 1)
    middles = np.array([found.vertices[found.ids[i:j]].mean(0) for i, j in itertools.pairwise(found.offsets)])
    # Towards larger f is into the cube, and the polygons run counter-clockwise seen from there.
    assert (((0.5 - middles) * found.normals).sum(1) > 0.4).all()
    corners = found.vertices[found.triangles()]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (((0.5 - corners[:, 0]) * across).sum(1) > 0).all()
    assert found.volume("above") == pytest.approx(1)
    assert found.volume() == pytest.approx(1)
    assert not len(rs.level_set(network, AROUND, plateaus="below"))


@pytest.mark.few(2)
@pytest.mark.parametrize("name", list(bodies.KNOWN))
def test_bodies_of_plateaus_above(name):
    boxes, area, volume, characteristic, components = bodies.KNOWN[name]
    found = rs.level_set(bodies.by_units(boxes, negated=True), AROUND, plateaus="above")
    assert found.area == pytest.approx(area)
    assert (found.volume(), found.volume("above")) == pytest.approx((volume, volume))
    assert (found.euler_characteristic, found.num_components) == (characteristic, components)


def test_a_body_that_fills_the_domain_to_its_walls():
    box = rs.Box([-1, -1, 0], [0.5, 0.5, 1])
    for make in (bodies.by_maxima, bodies.by_units):
        found = rs.level_set(make(bodies.CUBE), box)
        assert not found.is_closed
        assert found.volume("below") == pytest.approx(0.25)
        assert found.volume("above") == pytest.approx(2)
    flat = rs.load([(np.array([[0.0, 0.0]]), np.zeros(1))])
    on = rs.level_set(flat, rs.Box(-1, 1, 2)), rs.level_set(flat, rs.Box(-1, 1, 2), plateaus="above")
    assert [(one.volume("below"), one.volume("above")) for one in on] == [(4, 0), (0, 4)]


def test_vertices_may_be_as_far_off_as_the_rounding_of_outputs_moves_them():
    # A slope of 1e-6 beside an output of 1000: rounding of the output moves the level line by 1e-9.
    layers = [(np.array([[1.0, 0.3], [0.2, 1.0]]), np.array([0.7, 5.0])), (np.array([[1e-6, 0.0]]), np.array([1000.1]))]
    level = 1000.1 + 1e-7
    found = rs.level_set(rs.load(layers), rs.Box(-1, 1, 2), level=level)
    over = [Fraction(x) + Fraction(0.3) * Fraction(y) + Fraction(0.7) for x, y in found.vertices.tolist()]
    values = [Fraction(1e-6) * one + Fraction(1000.1) - Fraction(level) for one in over]
    apart = np.abs([float(value / Fraction(1e-6)) for value in values]) / np.hypot(1, 0.3)
    assert (apart <= found.vertex_errors).all()
    assert apart.max() > 1e-10
    (across,) = found.area_vectors
    turned = abs(across[0] * 0.3 - across[1]) / np.hypot(*across) / np.hypot(1, 0.3)
    assert 1e-12 < turned <= found.normal_errors[0]


def as_if_exact(found):
    """Return a level set whose vertices are taken for the true ones: the rounding of sums is all that is left."""
    return replace(found, blur=0 * found.blur, tolerance=rs.Tolerance(0.0, 0.0))


@pytest.mark.parametrize("seed", range(3))
def test_areas_are_within_the_rounding_of_their_sums(seed):
    found = as_if_exact(rs.level_set(rs.load([(np.r_[np.eye(2), -np.eye(2)], np.zeros(4)), TENTS[seed]]), PLANE))
    ends = [[Fraction(entry) for entry in found.vertices[at].tolist()] for at in found.ids]
    exact = abs(sum(a[0] * b[1] - a[1] * b[0] for a, b in zip(ends[::2], ends[1::2], strict=True))) / 2
    volume = found.volume_finding(None)
    assert volume.tolerance > 0
    assert abs(Fraction(float(volume)) - exact) <= Fraction(volume.tolerance)


@pytest.mark.parametrize("seed", range(3))
def test_normals_are_within_the_rounding_of_their_sums(seed):
    found = as_if_exact(rs.level_set(random_network(3, 7, 6, 1, seed=seed), rs.Box(-1, 1, 3)))
    assert found.normal_errors.max() > 0
    apart = []
    for start, stop, normal, error in zip(
        found.offsets, found.offsets[1:], found.area_vectors.tolist(), found.normal_errors, strict=False
    ):
        corners = [[Fraction(entry) for entry in corner] for corner in found.vertices[found.ids[start:stop]].tolist()]
        exact = [Fraction(0)] * 3
        for one, two in zip(corners, corners[1:] + corners[:1], strict=True):
            for axis in range(3):
                i, j = (axis + 1) % 3, (axis + 2) % 3
                exact[axis] += one[i] * two[j] - one[j] * two[i]
        across = [
            float(
                exact[(k + 1) % 3] * Fraction(normal[(k + 2) % 3]) - exact[(k + 2) % 3] * Fraction(normal[(k + 1) % 3])
            )
            for k in range(3)
        ]
        apart.append(np.linalg.norm(across) / np.linalg.norm(normal) / np.linalg.norm([*map(float, exact)]))
        assert apart[-1] <= np.sin(min(error, np.pi / 2)) * (1 + 1e-9)
    assert max(apart) > 0


def test_volumes_of_polyhedra_and_slices():
    half = rs.load([(np.array([[1.0, 0.0, 0.0]]), np.zeros(1))])
    simplex = rs.Polyhedron(np.r_[-np.eye(3), np.ones((1, 3))], np.array([0.0, 0.0, 0.0, 1.0]))
    found = rs.level_set(half, simplex, level=0.5)
    assert found.volume("above") == pytest.approx(1 / 6 / 8)
    assert found.volume("below") == pytest.approx(1 / 6 * 7 / 8)
    wide = rs.load([(np.eye(4)[:1], np.zeros(1))])
    assert rs.level_set(wide, rs.Slice(np.zeros(4), np.eye(4)[:3], rs.Box(-1, 1, 3))).volume("below") == pytest.approx(
        4
    )


def test_in_the_plane_a_vertex_of_more_than_two_segments_is_pinched():
    """A square around the middle, and the two lines of |x| = |y|, which meet there."""
    eye = np.eye(2)
    tents = (np.concatenate([eye, -eye]), np.zeros(4))
    square = rs.level_set(rs.load([tents, (np.ones((1, 4)), np.zeros(1))]), PLANE, level=1.0)
    assert (square.pinched_vertices.tolist(), square.is_manifold) == ([], True)
    cross = rs.level_set(rs.load([tents, (np.array([[1.0, -1.0, 1.0, -1.0]]), np.zeros(1))]), PLANE)
    assert cross.vertices[cross.pinched_vertices].tolist() == [[0.0, 0.0]]
    assert not cross.is_manifold


def test_no_volume_beside_walls_is_below_zero():
    """Cones over walls that rounding has made less than nothing."""
    empty = rs.level_set(rs.load([(np.ones((1, 2)), np.zeros(1))]), PLANE, level=50.0)
    rounded = replace(empty, walls=replace(empty.walls, cones=np.array([16.0, 0.0, -1e-15])))
    assert rounded.volume_finding("above").value == 0.0


def test_what_has_no_length_or_area_has_its_middle_no_normal_and_any_angle(monkeypatch):
    """A polygon that is a single point, and one that is a segment, beside a square."""
    vertices = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0], [0.5, 0, 0]])
    offsets, ids = np.array([0, 4, 7, 10]), np.array([0, 1, 2, 3, 0, 4, 5, 0, 6, 1])
    given = {"vertices": vertices, "offsets": offsets, "ids": ids, "dim": 3, "_area_errors": np.full(3, 2.0**-60)}
    given |= {"piece_areas": np.array([1.0, 0.0, 0.0]), "piece_extents": np.array([4.0, 0.0, 2.0])}
    with np.errstate(all="raise"):
        middles = unwrap(PieceGeometry._centers.func)(SimpleNamespace(**given))
        angles = unwrap(PieceGeometry.normal_errors.fget)(SimpleNamespace(**given))
    assert middles.tolist() == [[0.5, 0.5, 0.0], [0.0, 0.0, 0.0], [0.5, 0.0, 0.0]]
    assert angles[0] < 1e-12
    assert angles[1:].tolist() == [np.pi, np.pi]
    monkeypatch.setattr(level_walk, "_gradients", lambda *told: (np.zeros((len(told[2]), 2)), np.zeros(len(told[2]))))
    net = rs.load([(np.array([[1.0, 0.0]]), np.zeros(1))])
    assert (rs.level_set(net, PLANE).normals == 0.0).all()


def test_fans_begin_at_the_straightest_corner_and_none_at_a_doubled_one():
    """A square with the middle of a side, alone and beside one with a doubled corner; each triangle has an area."""
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0.5, 1, 0], [0, 1, 0]])
    doubled = square[[0, 1, 1, 2, 3, 4]]
    for polygons in ([square], [doubled, square], [square[:3]], []):
        offsets = np.cumsum([0, *map(len, polygons)])
        vertices = np.concatenate([np.zeros((0, 3)), *polygons])
        corners = fans(vertices, offsets, np.arange(len(vertices)))
        assert len(corners) == sum(len(one) - 2 for one in polygons)
        assert all(vertices[one].tolist() == [0.5, 1.0, 0.0] for one in corners[:, 0] if len(polygons[0]) > 3)
        sides = np.diff(vertices[corners], axis=1)
        areas = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1) / 2
        assert areas.sum() == pytest.approx(sum(0.5 if len(one) == 3 else 1.0 for one in polygons))


def test_cones_that_touch_with_their_tips_are_pinched():
    found = rs.level_set(CONE, rs.Box([-2, -2, -1], [2, 2, 1]))
    assert not found.is_manifold
    assert found.vertices[found.pinched_vertices].tolist() == [[0, 0, 0]]
    assert found.num_components == 1
    assert found.volume("below") == pytest.approx(2 * 2 / 3)
    half = rs.level_set(CONE, rs.Box([-2, -2, 0], [2, 2, 1]))
    assert half.is_manifold
    plane = rs.load(
        [(np.array([[1.0, 1], [-1, -1], [1, -1], [-1, 1]]), np.zeros(4)), (np.array([[1.0, 1, -1, -1]]), [0])]
    )
    crossing = rs.level_set(plane, rs.Box(-1, 1, 2))
    assert crossing.vertices[crossing.pinched_vertices].tolist() == [[0, 0]]
    edge = rs.level_set(bodies.by_maxima(bodies.PINCHED), AROUND)
    assert len(edge.pinched_vertices) >= 2
    assert np.allclose(edge.vertices[edge.pinched_vertices][:, :2], 1)


def test_the_table_has_all_numbers_with_their_claims():
    found = rs.level_set(bodies.by_maxima(bodies.FRAME), AROUND).findings()
    said = {name: (float(found.finding(name)), str(found.finding(name).claim)) for name in found.columns}
    assert said["level_set_area"] == (pytest.approx(32), "EXACT")
    assert said["level_set_enclosed_volume"] == (pytest.approx(8), "EXACT")
    assert said["level_set_volume_below"] == (pytest.approx(8), "EXACT")
    assert said["level_set_euler_characteristic"] == (0, "EXACT")
    assert said["level_set_components"] == (1, "EXACT")
    assert said["level_set_open_edges"] == (0, "EXACT")
    opened = rs.level_set(CONE, rs.Box(-1, 1, 3)).findings()
    assert "level_set_enclosed_volume" not in opened.columns
    assert float(opened.finding("level_set_pinched_vertices")) == 1


def test_in_the_plane_curves_have_lengths_and_their_sides_areas():
    half = rs.load([(np.array([[1.0, 0.0]]), np.zeros(1))])
    found = rs.level_set(half, rs.Box(-1, 1, 2)).findings()
    measures = ("level_set_length", "level_set_area_below", "level_set_area_above")
    assert [(float(found.finding(one)), str(found.finding(one).claim)) for one in measures] == [(2, "EXACT")] * 3
    nowhere = rs.level_set(half, rs.Box(-1, 1, 2), level=5).findings()
    sizes = [(float(nowhere.finding(one)), str(nowhere.finding(one).claim)) for one in measures]
    assert sizes == [(0, "EXACT"), (4, "EXACT"), (0, "EXACT")]


def test_the_table_of_work_that_stopped_claims_little():
    found = rs.level_set(random_network(3, 12, 12, 1, seed=2), rs.Box(-1, 1, 3), budget=rs.Budget(regions=20))
    table = found.findings()
    assert str(table.finding("level_set_components").claim) == "ESTIMATE"
    assert str(table.finding("level_set_pieces").claim) == "LOWER"
    assert "level_set_volume_below" not in table.columns
    with pytest.raises(IncompletePartitionError):
        found.volume("below")


def test_the_ends_of_a_volume_hold_what_blurred_corners_may_move():
    slope = 1e-6
    net = rs.load([(np.array([[0.0, 1.0], [slope, 1.0]]) / 3, np.zeros(2)), (np.array([[3.0, -3.0]]), np.zeros(1))])
    found = rs.level_set(net, rs.Box(-1, 1, 2), level=-slope / 4)
    volume = found.volume_finding("below")
    assert volume.tolerance is not None
    assert volume.tolerance > found.blur.max()


@pytest.mark.parametrize("middle", [0.0, 1e6, 1e9])
def test_errors_of_vertices_hold_where_they_are(middle):
    net = rs.load([(np.array([[3.0, 0.0]]), np.array([-3 * middle])), (np.ones((1, 1)), np.zeros(1))])
    found = rs.level_set(net, rs.Box([middle - 1] * 2, [middle + 1] * 2), level=1.0)
    right = Fraction(middle) + Fraction(1, 3)
    gaps = [float(abs(Fraction(float(x)) - right)) for x in found.vertices[:, 0]]
    assert len(gaps) == 2
    assert (found.vertex_errors >= gaps).all()


def test_caps_are_as_blurred_as_the_pieces_they_share_corners_with():
    """A box at 7.8 that is 1.24e-6 thick: rounding of a corner by 4e-16 moves a wall of area 0.8."""
    ends = [-7.8, -7.799998759785203]
    net = rs.load([(np.array([[-1.37, 0.0, -1.03]]), np.array([-6.930882818882972])), (np.ones((1, 1)), np.zeros(1))])
    found = rs.level_set(net, rs.Box([0.0, -1.0, ends[0]], [1.0, 0.0, ends[1]])).volume_finding("above")
    weight, bias = (Fraction(number) for number in (-1.37, -6.930882818882972))
    low, high = (-(Fraction(-1.03) * Fraction(end) + bias) / weight for end in ends)  # where f is zero
    right = (low + high) / 2 * (Fraction(ends[1]) - Fraction(ends[0]))
    assert found.tolerance is not None
    assert abs(Fraction(found.value) - right) <= Fraction(found.tolerance)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("capped", ["below", "above", None])
def test_volumes_are_off_by_their_terms(dim, capped, monkeypatch):
    """By hand, with blurs and roundings so large that every term counts."""
    monkeypatch.setattr(level_sets, "ROUNDED", 1e-2)
    rng, ends = np.random.default_rng(dim), np.array([[-1.0, -2.0, -1.5], [1.5, 1.0, 2.5]])[:, :dim]
    tents = np.concatenate([np.eye(dim), -np.eye(dim)])
    net = rs.load([(tents, np.zeros(2 * dim)), (np.ones((1, 2 * dim)) + 0.2 * rng.random(2 * dim), np.zeros(1))])
    found = rs.level_set(net, rs.Box(*ends), level=0.9)
    for blur, resolution in ((1e-2, 1e-3), (0.0, 1e-3), (1e-3, 1e-9)):
        blurs = blur * (1 + rng.random(len(found.blur)))
        one = replace(found, blur=blurs, tolerance=rs.Tolerance(resolution=resolution))
        moved, sides = one._moved, ends[1] - ends[0]
        around = 2 * sum(np.prod(sides) / side for side in sides)
        swept = moved * (one.piece_areas + moved * (one.piece_extents + np.pi * moved * np.diff(one.offsets)))
        center = one.walls.apex if capped else one.vertices.mean(axis=0)
        centers = [one.vertices[one.ids[a:b]].mean(axis=0) for a, b in itertools.pairwise(one.offsets.tolist())]
        sums = [
            np.abs(x - center).sum() * np.abs(area).sum() for x, area in zip(centers, one.area_vectors, strict=True)
        ]
        expected = swept.sum() + 1e-2 * (sum(sums) + (one.walls.total if capped else 0.0))
        if capped:
            corner = 16 * one.tolerance.unit * np.abs(ends).max()
            expected += around * (max(moved.max(), corner) + resolution * np.linalg.norm(sides))
        volume = one.volume_finding(capped)
        assert volume.interval == pytest.approx((max(0.0, volume.value - expected), volume.value + expected), rel=1e-9)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("kind", ["level", "classes"])
def test_ridges_that_do_not_fit_together_are_counted(dim, kind):
    """Pieces are left out at random. Off the border a curve or surface meets a ridge twice, and classes not once."""
    net, box, rng = network_of(dim, 8, 6, 4, seed=dim), rs.Box(-1, 1, dim), np.random.default_rng(dim)
    whole = rs.level_set(net, box, output=0) if kind == "level" else rs.decision_boundary(net, box)
    assert len(whole) > 5
    assert (whole.num_unmatched, whole._is_doubtful) == (0, False)
    pieces = [whole.ids[start:stop] for start, stop in itertools.pairwise(whole.offsets)]
    for _ in range(12):
        kept = np.flatnonzero(rng.random(len(pieces)) < 0.8)
        some = [pieces[row] for row in kept]
        offsets, ids = np.cumsum([0, *map(len, some)]), np.concatenate(some)
        fields = {"normals": whole.normals[kept], "witnesses": whole.witnesses[kept], "codes": whole.codes[kept]}
        fields |= {"classes": whole.classes[kept]} if kind == "classes" else {}
        part = replace(whole, offsets=offsets, ids=ids, **fields)
        ridges = [
            frozenset(pair)
            for ids in some
            for pair in (zip(ids, np.roll(ids, 1), strict=True) if dim == 3 else ids[:, None])
        ]
        border = {frozenset(one) for one in whole.border.tolist()}
        inner = [number for ridge, number in Counter(ridges).items() if ridge not in border]
        unmatched = sum(number % 2 for number in inner) if kind == "level" else inner.count(1)
        assert part.num_unmatched == unmatched
        assert part._is_doubtful == (unmatched > 0)
        assert not replace(part, num_open=1)._is_doubtful
        assert replace(part, num_open=1, num_undecided=1)._is_doubtful


def test_vertices_of_one_name_lie_as_far_apart_as_resolution_and_rounding_allow(monkeypatch):
    """Sixteen times the larger of the two: a share of the diameter, or what is rounded of the farthest coordinate."""
    lengths, real = [], level_pieces.assemble_level
    monkeypatch.setattr(level_pieces, "assemble_level", lambda *of: (lengths.append(of[3]), real(*of))[1])
    for middle in (0.0, -1e9):
        for resolution in (1e-9, 1e-15):
            box = rs.Box([middle - 1, 0.0], [middle + 1, 1.0])
            rs.level_set(network_of(2, 5, 2, seed=0), box, tolerance=rs.Tolerance(resolution=resolution))
            far = max(abs(middle - 1), 1.0)
            assert lengths.pop() == pytest.approx(16 * max(resolution * 5**0.5, 2.0**-52 * far))


@pytest.mark.parametrize("kind", ["level_walk", "decision_walk"])
def test_what_the_walk_leaves_undecided_and_what_lies_apart_is_counted_together(kind, monkeypatch):
    module = import_module(f"reluscope.partitions.levels.{kind}")
    real = module.find_pieces

    def doubtful(*of, **named):
        pieces, walked, walls = real(*of, **named)
        assert (pieces.num_unmatched, walked.num_undecided) == (0, 0)
        return replace(pieces, num_unmatched=3), replace(walked, num_undecided=4), walls

    monkeypatch.setattr(module, "find_pieces", doubtful)
    net = network_of(2, 5, 2, seed=0)
    found = rs.level_set(net, PLANE) if kind == "level_walk" else rs.decision_boundary(net, PLANE)
    assert found.num_undecided == 7
    assert found.claim is rs.Claim.ESTIMATE


@pytest.mark.parametrize("dim", [2, 3])
def test_ridges_between_pieces_that_face_different_ways_are_counted(dim):
    """Pieces are turned over at random: ridges of two of which one was turned, by hand."""
    net, rng = network_of(dim, 8, 6, 4, seed=dim), np.random.default_rng(dim)
    whole = rs.level_set(net, rs.Box(-1, 1, dim), output=0)
    pieces = [whole.ids[start:stop] for start, stop in itertools.pairwise(whole.offsets)]
    for share in (0.1, 0.5, 1.0):
        some = [
            ids[::-1] if turned else ids for ids, turned in zip(pieces, rng.random(len(pieces)) < share, strict=True)
        ]
        senses, numbers = Counter(), Counter()
        for ids in some:
            for one, other in itertools.pairwise([*ids.tolist(), int(ids[0])] if dim == 3 else ids.tolist()):
                ridges = {(min(one, other), max(one, other)): np.sign(other - one)} if dim == 3 else {one: -1, other: 1}
                for ridge, sense in ridges.items():
                    senses[ridge] += int(sense)
                    numbers[ridge] += 1
        expected = sum(numbers[ridge] % 2 == 0 and senses[ridge] != 0 for ridge in numbers)
        assert replace(whole, ids=np.concatenate(some)).num_unmatched == expected
        assert (expected > 0) == (share < 1)


def test_no_side_is_proved_where_what_is_unknown_might_change_it(monkeypatch):
    """What errors of values and of pre-activations, signs put to zero and places of vertices add: each is enough."""
    proved, known, unknown = (
        level_pieces.proved_sides,
        [],
        {name: [] for name in ("error", "snapped", "errors", "blur")},
    )

    def asked(chunk, *options):
        found = proved(chunk, *options)
        known.append(int((found != 0).sum()))
        most = 1e6
        opened, errors = chunk.opened, {position: error + most for position, error in chunk.errors.items()}
        changed = {
            "error": replace(chunk, opened=replace(opened, error=opened.error + most)),
            "snapped": replace(chunk, opened=replace(opened, snapped=opened.snapped + most)),
            "errors": replace(chunk, errors=errors),
            "blur": replace(chunk, blur=chunk.blur + most),
        }
        for name, one in changed.items():
            if len(chunk) > 1 and (errors or name != "errors"):
                unknown[name].append(int((proved(one, *options) != 0).sum()))
        return found

    monkeypatch.setattr(level_pieces, "proved_sides", asked)
    builder, draw = GraphBuilder(), np.random.default_rng(3)
    first, inner, behind, last = (torch.from_numpy(draw.normal(size=size)) for size in ((8, 2), (8, 8), (6, 8), (1, 6)))
    x = builder.relu(builder.linear(builder.input((2,)), first, 0.5 * first[:, 0]))
    x = builder.relu(builder.linear(builder.add(x, builder.relu(builder.linear(x, inner, first[:, 1]))), behind))
    net = builder.build(builder.linear(x, last))
    rs.level_set(net, PLANE, level=float(np.median(net(draw.uniform(-2, 2, (500, 2))).numpy())))
    assert sum(known) > 20
    assert all(len(numbers) > 0 for numbers in unknown.values())
    assert sum(map(sum, unknown.values())) == 0


def test_refusals():
    found = rs.level_set(CONE, rs.Box(-1, 1, 3))
    with pytest.raises(InputError, match=r'volume\(capped="below"\)'):
        found.volume()
    with pytest.raises(InputError, match="capped"):
        found.volume("beside")


@pytest.mark.parametrize("above", [0.0, 2.0**-52])
def test_a_piece_at_a_plateau_hardly_above_the_level_faces_it(above):
    """The gradient on the plateau has no direction; the piece lies at the end of the slope below."""
    net = rs.load([([[0.0, 0.0, 1.0]], [0.0]), ([[-1.0]], [1 + above])])
    found = rs.level_set(net, rs.Box([0, 0, -1], [1, 1, 3]), level=1.0, plateaus="above")
    assert len(found) == 1
    assert found.volume_finding("above").value == pytest.approx(1)
    assert found.volume_finding("below").value == pytest.approx(3)


@pytest.mark.parametrize("scale", [1.0, 2.0**-100, 2.0**100])
@pytest.mark.parametrize("plateaus", ["above", "below"])
def test_a_piece_beside_a_slope_of_rounding_alone_faces_across_its_plane(scale, plateaus):
    """``1 - max(z, 0) + (0.1 + 0.2 - 0.3) (x + 2)``; seen red: a normal along x, of the one piece of a set."""
    first = (np.array([[0.0, 0.0, 1.0], *[[1.0, 0.0, 0.0]] * 3]), np.array([0.0, 2.0, 2.0, 2.0]))
    net = rs.load([first, (scale * np.array([[-1.0, 0.1, 0.2, -0.3]]), np.array([scale]))])
    found = rs.level_set(net, rs.Box([0, 0, -1], [1, 1, 3]), level=scale, plateaus=plateaus)
    assert found.normals == pytest.approx(np.array([[0.0, 0.0, -1.0]]))
    assert found.volume_finding("above").value == pytest.approx(1)


@pytest.mark.parametrize("error", [0.25, 4.0])
def test_areas_are_off_by_their_errors_and_not_negative(error):
    said = {"domain": "", "method": ""}
    found = unwrap(PieceGeometry.area_finding)(
        SimpleNamespace(area=2.0, _area_errors=np.full(2, error / 2), num_open=0, _is_doubtful=False, dim=3, _said=said)
    )
    assert found.interval == (max(0.0, 2 - error), 2 + error)


def test_cells_are_above_or_below_unless_the_level_may_touch_them():
    low, high = np.array([[0.5, 0.0, -1.0, -1.0, -1.0]]).T, np.array([[1.0, 1.0, 1.0, 0.0, -0.5]]).T
    assert above_or_below(low, high).tolist() == [1, 0, 0, 0, -1]


def test_lengths_around_pieces_are_those_of_their_sides():
    """Eight triangles of the octahedron with sides of sqrt(2) each."""
    ball = rs.load([(np.r_[np.eye(3), -np.eye(3)], np.zeros(6)), (np.ones((1, 6)), -np.ones(1))])
    surface = rs.level_set(ball, rs.Box(-2, 2, 3))
    assert surface.piece_extents == pytest.approx(np.full(8, 3 * np.sqrt(2)))
