"""Distances to surfaces: closed forms of boxes, dense points on pieces, all pairs of points and triangles, sides."""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

import reluscope as rs
from partitions import bodies
from partitions.test_level_sets import AROUND, random_network
from reluscope.analyses.surfaces import nearest_points as module
from reluscope.analyses.surfaces.box_tree import BoxTree
from reluscope.analyses.surfaces.distance import _sides
from reluscope.analyses.surfaces.nearest_points import NearestPieces, distance_ends, nearest_points
from reluscope.errors import InputError, ShapeError

BALL = rs.load([(np.r_[np.eye(3), -np.eye(3)], np.zeros(6)), (np.ones((1, 6)), -np.ones(1))])


def from_boxes(points, boxes):
    """Return the signed distance to disjoint boxes, negative inside."""
    found = []
    for low, high in boxes:
        beyond = np.maximum(np.array(low) - points, points - np.array(high))
        found.append(np.linalg.norm(np.maximum(beyond, 0), axis=1) + np.minimum(beyond.max(axis=1), 0))
    return np.min(found, axis=0)


def dense(surface, side=40):
    """Return many points of a level set, and how far any of its points is from them."""
    if surface.dim == 2:
        ends = surface.vertices[surface.ids].reshape(-1, 2, 2)
        share = np.linspace(0, 1, side + 1)
        length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).max(initial=0)
        return (ends[:, :1] + share[:, None] * (ends[:, 1:] - ends[:, :1])).reshape(-1, 2), length / side
    corners = surface.vertices[surface.triangles()]
    one, two = (part.reshape(-1) for part in np.meshgrid(np.arange(side + 1), np.arange(side + 1)))
    kept = one + two <= side
    shares = np.stack([side - one[kept] - two[kept], one[kept], two[kept]], axis=1) / side
    widest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(initial=0)
    return np.einsum("kc,tcd->tkd", shares, corners).reshape(-1, 3), widest / side


@pytest.mark.parametrize("boxes", [bodies.CUBE, bodies.TWO])
@pytest.mark.parametrize("make", [bodies.by_maxima, bodies.by_units])
def test_boxes_have_closed_forms(boxes, make):
    points = np.random.default_rng(0).uniform(-2, 4, (500, 3))
    points = np.concatenate([points, [(0.5, 0.5, 0.5), (0, 0, 0), (1, 1, 0.5), (-1, 0.5, 0.5), (9, 9, 9)]])
    network = make(boxes)
    found = rs.level_set(network, AROUND)
    table = rs.surfaces.distance(found, points, network=network)
    expected = from_boxes(points, boxes)
    column = table["signed_surface_distance"]
    assert np.allclose(column.value, expected, atol=1e-13)
    assert ((column.lower <= expected) & (expected <= column.upper)).all()
    # In a body on the level of f itself, its value cannot tell the side.
    open_side = (make is bodies.by_units) & (expected < 0)
    assert column.is_exact[~open_side].all()
    off = np.linalg.norm(table.details["nearest"] - points, axis=1)
    assert np.allclose(off, np.abs(expected), atol=1e-13)
    plain = rs.surfaces.distance(found, points)["surface_distance"]
    assert np.allclose(plain.value, np.abs(expected), atol=1e-13)
    for row in range(20):  # the piece holds the point
        piece = int(table.details["piece"][row])
        corners = found.vertices[found.ids[found.offsets[piece] : found.offsets[piece + 1]]]
        assert abs((table.details["nearest"][row] - corners[0]) @ found.normals[piece]) < 1e-13


@pytest.mark.few(3)
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_beside_dense_points(dim, seed):
    found = rs.level_set(random_network(dim, 9, 7, 1, seed=seed), rs.Box(-1, 1, dim))
    points = np.random.default_rng(seed).uniform(-2, 2, (40, dim))
    cloud, spacing = dense(found)
    nearest = np.array([np.linalg.norm(cloud - one, axis=1).min() for one in points])
    column = rs.surfaces.distance(found, points)["surface_distance"]
    assert (column.lower <= nearest + 1e-13).all()
    assert (nearest <= np.hypot(column.upper, spacing) + 1e-13).all()


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(3))
def test_the_tree_leaves_nothing_out(seed):
    found = rs.level_set(random_network(3, 16, 12, 1, seed=seed), rs.Box(-1, 1, 3))
    points = np.random.default_rng(seed).uniform(-3, 3, (300, 3))
    pieces = NearestPieces(found)
    mine = pieces.find(points)
    every = np.array([np.linalg.norm(nearest_points(np.tile(x, (len(pieces), 1)), pieces.corners) - x, axis=1).min()
                      for x in points])  # fmt: skip
    assert np.array_equal(mine.distances, every)
    assert ((mine.low <= every) & (every <= mine.high)).all()
    assert (mine.high - mine.low < 1e-9).mean() > 0.9


def test_trees_of_few_and_equal_boxes():
    for number in (0, 1, 2, 3, 7, 8, 9):
        low = np.zeros((number, 2))
        rows, things = BoxTree(low, low).pairs(2, lambda rows, _low, _high: rows == 1)
        assert rows.tolist() == [1] * number
        assert sorted(things.tolist()) == list(range(number))


def test_ends_hold_for_any_point_that_was_found():
    rng = np.random.default_rng(1)
    corners, points = rng.standard_normal((200, 3, 3)), rng.standard_normal((200, 3))
    best = nearest_points(points, corners)
    true = np.linalg.norm(best - points, axis=1)
    shares = rng.dirichlet(np.ones(3), 200)
    other = np.einsum("kc,kcd->kd", shares, corners)
    normals = np.tile([1.0, 0, 0], (200, 1))
    for given in (best, other):
        low, high = distance_ends(points, given, corners, normals, np.zeros(200))
        assert ((low <= true + 1e-14) & (true <= high)).all()
    low, high = distance_ends(points, best, corners, normals, np.full(200, 1e-3))
    assert ((true - low > 9e-4) & (high - true > 9e-4)).all()
    # Above the inside of a triangle the normal alone serves.
    flat = np.tile([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]], (1, 1, 1))
    low, _ = distance_ends(
        np.array([[0.2, 0.2, 1.0]]), np.array([[0.3, 0.2, 0]]), flat, np.array([[0, 0, 1.0]]), np.zeros(1)
    )
    assert low == pytest.approx(1)


def dot(one, two):
    return sum(a * b for a, b in zip(one, two, strict=True))


def squared_distance(point, corners):
    """Return the square of the distance of a point to a triangle in fractions: to its inside, else to its sides."""
    point, *corners = ([Fraction(entry) for entry in one.tolist()] for one in (point, *corners))
    found = []
    for tail, head in ((0, 1), (1, 2), (2, 0)):
        along, away = (np.subtract(end, corners[tail]) for end in (corners[head], point))
        share = min(max(dot(along, away) / (dot(along, along) or 1), Fraction(0)), Fraction(1))
        rest = away - share * along
        found.append(dot(rest, rest))
    one, two, away = (np.subtract(end, corners[0]) for end in (corners[1], corners[2], point))
    size = dot(one, one) * dot(two, two) - dot(one, two) ** 2
    if size:
        s = (dot(two, two) * dot(away, one) - dot(one, two) * dot(away, two)) / size
        t = (dot(one, one) * dot(away, two) - dot(one, two) * dot(away, one)) / size
        rest = away - s * one - t * two
        if s >= 0 and t >= 0 and s + t <= 1:
            found.append(dot(rest, rest))
    return min(found)


def wild_triangles(rng, number, dim):
    """Return points, triangles and normals of all sizes, near the origin and far from it, thin ones and flat ones."""
    corners, points = rng.standard_normal((number, 3, dim)), rng.standard_normal((number, dim))
    corners *= 10.0 ** rng.integers(-8, 1, (number, 1, dim))
    same = slice(None, None, 5 if dim == 3 else 1)  # segments
    corners[same, 2] = corners[same, 1]
    corners[1::5, 2] = (corners[1::5, 0] + corners[1::5, 1]) / 2 if dim == 3 else corners[1::5, 1]
    far = (
        rng.standard_normal((number, dim)) * 10.0 ** rng.integers(-2, 14, (number, 1)) * (rng.random((number, 1)) < 0.6)
    )
    points, corners = points * 10.0 ** rng.integers(-8, 1, (number, 1)) + far, corners + far[:, None]
    inside = rng.random(number) < 0.3  # up to rounding
    points[inside] = np.einsum("kc,kcd->kd", rng.dirichlet(np.ones(3), inside.sum()), corners[inside])
    near = rng.random(number) < 0.3  # small beside the triangle, which has the origin in its plane
    corners[near] = rng.standard_normal((near.sum(), 3, dim)) * 1e10
    corners[near, 2] = -corners[near, 0] - corners[near, 1] if dim == 3 else corners[near, 1]
    points[near] = rng.standard_normal((near.sum(), dim))
    scale = 10.0 ** rng.integers(-100, 100, number)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) if dim == 3 else corners[:, 0]
    normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    return points * scale[:, None], corners * scale[:, None, None], normals


@pytest.mark.parametrize("dim", [2, 3])
def test_ends_hold_in_fractions_for_triangles_of_all_sizes(dim):
    number = 200
    points, corners, normals = wild_triangles(np.random.default_rng(dim), number, dim)
    nearest = nearest_points(points, corners)
    low, high = distance_ends(points, nearest, corners, normals, np.zeros(number))
    sizes = np.abs(corners).max(axis=(1, 2)) + np.abs(points).max(axis=1)
    assert (high >= low).all()
    assert np.mean(high - low <= 1e-12 * sizes) > 0.8
    squares = [squared_distance(*one) for one in zip(points, corners, strict=True)]
    for square, least, most in zip(squares, low, high, strict=True):
        assert Fraction(least) ** 2 <= square <= Fraction(most) ** 2
    # What was found is no farther than the nearest point, but for rounding; triangles may be too thin for that.
    true = np.array([float(square / Fraction(size) ** 2) ** 0.5 for square, size in zip(squares, sizes, strict=True)])
    away = np.linalg.norm((nearest - points) / sizes[:, None], axis=1)
    assert np.mean(away <= true + 1e-12) > 0.9


@pytest.mark.parametrize("toward", [True, False])
def test_ends_hold_for_corners_that_are_off(toward):
    rng = np.random.default_rng(5)
    points, corners, normals = wild_triangles(rng, 200, 3)
    errors = np.abs(corners).max(axis=(1, 2)) * 10.0 ** rng.integers(-12, 0, 200)
    nearest = nearest_points(points, corners)
    low, high = distance_ends(points, nearest, corners, normals, errors)
    step = nearest - points
    lengths = np.linalg.norm(step, axis=1)
    rows = np.flatnonzero(lengths > 1e-3 * errors)
    for row in rows:
        # Fractions of no more than the error in the direction of the nearest point.
        way = [Fraction(entry) for entry in (step[row] * (errors[row] / lengths[row]) * (1 - 1e-9)).tolist()]
        moved = [
            [
                Fraction(entry) - along if toward else Fraction(entry) + along
                for entry, along in zip(corner, way, strict=True)
            ]
            for corner in corners[row].tolist()
        ]
        square = squared_distance(points[row], [np.array(corner, dtype=object) for corner in moved])
        assert Fraction(low[row]) ** 2 <= square <= Fraction(high[row]) ** 2


@pytest.mark.parametrize("dim", [2, 3])
def test_pieces_in_batches_beside_all_triangles_in_fractions(dim, monkeypatch):
    monkeypatch.setattr(module, "BATCH", 3)
    found = rs.level_set(random_network(dim, 5, 4, 1, seed=1), rs.Box(-1, 1, dim))
    rng = np.random.default_rng(dim)
    points = rng.uniform(-2, 2, (8, dim))
    pieces = NearestPieces(found)
    mine = pieces.find(points)
    chosen = rng.integers(0, len(found), 8)
    to_chosen = pieces.distances_to(points, chosen)
    for row, point in enumerate(points):
        squares = [squared_distance(point, corners) for corners in pieces.corners]
        assert Fraction(mine.low[row]) ** 2 <= min(squares) <= Fraction(mine.high[row]) ** 2
        assert mine.low[row] <= mine.distances[row] <= mine.high[row]
        assert mine.high[row] - mine.low[row] < 1e-9
        assert pieces.pieces[int(np.argmin(squares))] == mine.pieces[row]
        of_chosen = min(one for one, piece in zip(squares, pieces.pieces, strict=True) if piece == chosen[row])
        assert of_chosen <= Fraction(to_chosen[row]) ** 2
        assert to_chosen[row] <= float(of_chosen) ** 0.5 + 1e-9


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_pieces_that_may_be_nearer_than_they_seem_are_looked_at(side):
    net = rs.load([(np.array([[1.0, 0], [-1, 0]]), np.zeros(2)), (np.ones((1, 2)), -np.ones(1))])
    found = rs.level_set(net, rs.Box([-2, -0.1], [2, 0.1]))  # x = -1 and x = 1
    blurred = replace(found, blur=np.where(found.vertices[:, 0] == side, 0.9, 0.0))
    mine = NearestPieces(blurred).find(np.array([[-0.2 * side, 0.0]]))
    # As it is stored the other piece is nearer, at 0.8; this one is at 1.2, or at 0.3.
    assert (mine.low[0], mine.high[0], mine.distances[0]) == pytest.approx((0.3, 0.8, 0.8))


def test_sides_that_rounding_leaves_open():
    third = rs.load([(np.array([[1 / 3, 1 / 3, 1 / 3]]), np.array([-0.1]))])
    found = rs.level_set(third, rs.Box(-1, 1, 3))
    table = rs.surfaces.distance(found, [[0.1, 0.1, 0.1], [0.2, 0.1, 0.1], [0.0, 0.0, 0.0]], network=third)
    column = table["signed_surface_distance"]
    assert column.lower[0] < 0 < column.upper[0]
    assert column.lower[1] > 0
    assert column.upper[2] < 0


@pytest.mark.parametrize("outputs", [(0,), (0, 1)])
def test_sides_are_sure_where_fractions_are(outputs, monkeypatch):
    found = rs.level_set(BALL, rs.Box(-2, 2, 3))
    rng = np.random.default_rng(len(outputs))
    open_sides = 0
    for _ in range(40):
        level = float(rng.normal() * 10.0 ** rng.integers(-3, 20))
        first = rng.normal(size=40) * 10.0 ** rng.integers(-3, 20) if len(outputs) == 2 else np.full(40, level)
        first = first + rng.integers(-4, 5, 40) * np.spacing(first)
        second = (first - level) + rng.integers(-4, 5, 40) * np.spacing(first)
        table = np.stack([first, second], axis=1)
        size = np.abs(first - second * (len(outputs) == 2) - level)
        errors = size[:, None] * rng.uniform(0.3, 0.7, table.shape) * (3 - len(outputs))
        at = SimpleNamespace(outputs=table, errors=errors)
        surface = replace(found, level=level, outputs=outputs)
        monkeypatch.setattr(rs.Network, "at", lambda self, points, at=at: at)
        below, above = _sides(surface, BALL, np.zeros((40, 3)))
        for row in range(40):
            known = [[Fraction(entry) for entry in part[row].tolist()][: len(outputs)] for part in (table, errors)]
            height = known[0][0] - sum(known[0][1:]) - Fraction(level)
            assert below[row] or height - sum(known[1]) > 0
            assert above[row] or height + sum(known[1]) < 0
            open_sides += below[row] and above[row]
        clear = SimpleNamespace(outputs=table, errors=0 * errors)
        monkeypatch.setattr(rs.Network, "at", lambda self, points, at=clear: at)
        below, above = _sides(surface, BALL, np.zeros((40, 3)))
        far = size > 64 * np.spacing(np.abs(table).max(axis=1) + abs(level))
        assert (below != above)[far].all()
    assert open_sides > 100


def test_sides_are_sure_where_errors_are_as_large_as_values(monkeypatch):
    found, rng, near = rs.level_set(BALL, rs.Box(-2, 2, 3)), np.random.default_rng(0), 0
    for _ in range(60):
        level = float(rng.normal() * 10.0 ** rng.integers(-2, 3))
        table = rng.normal(size=(60, 2)) * 10.0 ** rng.integers(-2, 3, (60, 2))
        surface = replace(found, level=level, outputs=(0, 1))
        heights = (table[:, 0] - level) - table[:, 1]
        shares = rng.choice([0.0, 0.3, 1.0], 60)
        errors = (np.abs(heights) + rng.integers(-3, 4, 60) * np.spacing(heights))[:, None] * np.stack(
            [shares, 1 - shares], 1
        )
        at = SimpleNamespace(outputs=table, errors=np.abs(errors))
        monkeypatch.setattr(rs.Network, "at", lambda self, points, at=at: at)
        below, above = _sides(surface, BALL, np.zeros((60, 3)))
        for row in range(60):
            values, off = ([Fraction(entry) for entry in part[row].tolist()] for part in (table, at.errors))
            height = values[0] - values[1] - Fraction(level)
            assert below[row] or height - sum(off) > 0
            assert above[row] or height + sum(off) < 0
            near += below[row] != above[row]
    assert near > 100


def test_sides_that_rounding_inside_leaves_open():
    # Two units that cancel but for a third: what is lost between them hides the sign of x.
    weights = np.array([[1e8, 1e8, 1e8], [1e8, 1e8, 1e8], [1.0, 0, 0]])
    net = rs.load([(weights, np.array([1e9 + 1 / 3, 1e9, 2.0])), (np.array([[1.0, -1.0, 1.0]]), np.array([-7 / 3]))])
    found = rs.level_set(net, rs.Box(-1, 1, 3))
    table = rs.surfaces.distance(found, [[3e-8, 0.1, 0.2], [0.1, 0.1, 0.2]], network=net)
    column = table["signed_surface_distance"]
    assert abs(float(net([[3e-8, 0.1, 0.2]])[0, 0])) > 1e-12
    assert column.lower[0] < 0 < column.upper[0]
    assert column.lower[1] > 0


def test_sides_of_plateaus_differences_and_slices():
    cube = bodies.by_units(bodies.CUBE)
    inside = [[0.5, 0.5, 0.5]]
    table = rs.surfaces.distance(rs.level_set(cube, AROUND), inside, network=cube)
    column = table["signed_surface_distance"]
    assert (column.value[0], column.lower[0], column.upper[0]) == pytest.approx((-0.5, -0.5, 0.5))
    above = bodies.by_units(bodies.CUBE, negated=True)
    column = rs.surfaces.distance(rs.level_set(above, AROUND, plateaus="above"), inside, network=above)
    assert column["signed_surface_distance"].value[0] == pytest.approx(0.5)
    two = rs.load([(np.eye(3)[:2], np.zeros(2))])
    found = rs.level_set(two, rs.Box(-1, 1, 3), level=0.25, output=(0, 1))
    column = rs.surfaces.distance(found, [[0.0, 0.5, 0.0], [0.75, 0.0, 0.0]], network=two)["signed_surface_distance"]
    assert column.value.tolist() == pytest.approx([-0.75 / 2**0.5, 0.5 / 2**0.5])
    wide = rs.load([(np.eye(5)[4:], np.zeros(1))])
    part = rs.Slice(np.zeros(5), np.eye(5)[2:], rs.Box(-1, 1, 3))
    column = rs.surfaces.distance(rs.level_set(wide, part), [[0.0, 0.0, -0.5]], network=wide)
    assert column["signed_surface_distance"].value.tolist() == [-0.5]


def test_what_is_not_whole_is_an_upper_end():
    network = random_network(3, 12, 12, 1, seed=2)
    found = rs.level_set(network, rs.Box(-1, 1, 3), budget=rs.Budget(regions=20))
    assert str(rs.surfaces.distance(found, [[0.0, 0.0, 0.0]]).finding("surface_distance", 0).claim) == "UPPER"
    doubtful = replace(rs.level_set(BALL, rs.Box(-2, 2, 3)), num_undecided=1)
    column = rs.surfaces.distance(doubtful, [[0.0, 0.0, 0.0]])["surface_distance"]
    assert (column.lower[0], column.upper[0]) == (0, np.inf)
    empty = rs.level_set(BALL, rs.Box(-2, 2, 3), level=50.0)
    table = rs.surfaces.distance(empty, [[0.0, 0.0, 0.0]], network=BALL)
    assert table["signed_surface_distance"].value.tolist() == [-np.inf]
    assert table.details["piece"].tolist() == [-1]
    assert len(rs.surfaces.distance(empty, np.zeros((0, 3)))) == 0


def test_refusals():
    found = rs.level_set(BALL, rs.Box(-2, 2, 3))
    with pytest.raises(ShapeError, match="3 coordinates"):
        rs.surfaces.distance(found, [[0.0, 0.0]])
    with pytest.raises(InputError, match="another"):
        rs.surfaces.distance(found, [[0.0, 0.0, 0.0]], network=bodies.by_maxima(bodies.CUBE))
