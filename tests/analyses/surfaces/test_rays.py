"""Rays: closed forms, parity against the sign of f, meshes that are watertight at edges and vertices, all fractions."""

import itertools
from dataclasses import replace
from fractions import Fraction
from inspect import unwrap

import numpy as np
import pytest

import reluscope as rs
from analyses.surfaces.test_curvature import polar
from partitions import bodies
from partitions.test_level_sets import AROUND, random_network
from reluscope.analyses.surfaces.ray_signs import parameters_at, signs_beside
from reluscope.errors import InputError, ShapeError

BALL = rs.load([(np.r_[np.eye(3), -np.eye(3)], np.zeros(6)), (np.ones((1, 6)), -np.ones(1))])
SURFACE = rs.level_set(BALL, rs.Box(-2, 2, 3))


def every_direction():
    return np.array([one for one in itertools.product((-1.0, 0.0, 1.0), repeat=3) if any(one)])


def test_from_the_middle_through_faces_edges_and_vertices():
    ways = every_direction()
    table = rs.surfaces.cast_rays(SURFACE, np.zeros_like(ways), ways)
    assert table["ray_hits"].value.tolist() == [1] * 26
    # The l1 norm of a unit vector says how far the ball goes.
    expected = np.linalg.norm(ways, axis=1) / np.abs(ways).sum(axis=1)
    assert np.allclose(table["ray_distance"].value, expected, atol=1e-15)
    assert table["ray_distance"].is_exact.all()
    assert table["ray_hits"].is_exact.all()
    assert np.allclose(np.abs(table.details["points"]).sum(axis=1), 1, atol=1e-15)
    inside = [found @ way > 0 for found, way in zip(SURFACE.normals[table.details["piece"]], ways, strict=True)]
    assert all(inside)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", list(bodies.KNOWN))
def test_rays_through_edges_and_corners_of_bodies_have_the_parity_of_sides(name):
    network = bodies.by_units(bodies.KNOWN[name][0])
    found = rs.level_set(network, AROUND)
    rng = np.random.default_rng(0)
    origins = rng.integers(-4, 9, (300, 3)) / 2
    origins = origins[(network(origins)[:, 0] > 0).numpy()]
    ways = rng.integers(-2, 3, origins.shape).astype(float)
    origins, ways = origins[ways.any(axis=1)], ways[ways.any(axis=1)]
    table = rs.surfaces.cast_rays(found, origins, ways)
    assert (table["ray_hits"].value % 2 == 0).all()
    inner = np.array([(low + np.array(high)) / 2 for low, high in map(np.array, bodies.KNOWN[name][0])])
    for middle in inner:
        ways = every_direction()
        table = rs.surfaces.cast_rays(found, np.tile(middle, (26, 1)), ways)
        assert (table["ray_hits"].value % 2 == 1).all()


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(4))
def test_towards_every_vertex_and_the_middle_of_every_edge(seed):
    found = rs.level_set(polar(seed), rs.Box(-2, 2, 3))
    targets = np.concatenate([found.vertices, found.vertices[found.edges].mean(axis=1)])
    for origin in (np.zeros(3), np.full(3, 0.01)):
        table = rs.surfaces.cast_rays(found, np.tile(origin, (len(targets), 1)), targets - origin)
        assert (table["ray_hits"].value == 1).all()
        assert np.allclose(table["ray_distance"].value, np.linalg.norm(targets - origin, axis=1), atol=1e-12)
    # From beyond, through a vertex: in and out, or past it.
    table = rs.surfaces.cast_rays(found, np.tile([4.0, 5.0, 6.0], (len(targets), 1)), targets - [4.0, 5.0, 6.0])
    assert set(table["ray_hits"].value) <= {0, 2}


def dull(surface, origin, way):
    """Return all parameters at which a ray meets triangles of a surface, in fractions."""
    found = []
    origin, way = ([Fraction(entry) for entry in part.tolist()] for part in (origin, way))
    for triangle in surface.triangles():
        a, b, c = ([Fraction(entry) for entry in surface.vertices[corner].tolist()] for corner in triangle)
        matrix = [[b[i] - a[i], c[i] - a[i], -way[i], origin[i] - a[i]] for i in range(3)]
        for column in range(3):
            pivot = next((row for row in range(column, 3) if matrix[row][column]), None)
            if pivot is None:
                break
            matrix[column], matrix[pivot] = matrix[pivot], matrix[column]
            matrix[column] = [entry / matrix[column][column] for entry in matrix[column]]
            for row in range(3):
                if row != column:
                    factor = matrix[row][column]
                    matrix[row] = [one - factor * two for one, two in zip(matrix[row], matrix[column], strict=True)]
        else:
            s, t, where = (matrix[row][3] for row in range(3))
            if s >= 0 and t >= 0 and s + t <= 1 and where >= 0:
                found.append((where, s > 0 and t > 0 and s + t < 1))
    return found


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(3))
def test_beside_all_triangles_in_fractions(seed):
    found = rs.level_set(random_network(3, 7, 6, 1, seed=seed), rs.Box(-1, 1, 3))
    rng = np.random.default_rng(seed)
    origins, ways = rng.uniform(-2, 2, (15, 3)), rng.standard_normal((15, 3))
    ways[:5] = rng.uniform(-1, 1, (5, 3)) - origins[:5]
    table = rs.surfaces.cast_rays(found, origins, ways)
    reach, hits = table["ray_distance"], table["ray_hits"]
    for row in range(15):
        expected = dull(found, origins[row], ways[row])
        assert all(inside for _, inside in expected)
        assert hits.value[row] == len(expected)
        length = float(np.linalg.norm(ways[row]))
        first = float(min((where for where, _ in expected), default=float("inf"))) * length
        assert reach.lower[row] <= first <= reach.upper[row]
        assert reach.value[row] == pytest.approx(first)


def test_signs_are_those_of_fractions_and_turn_with_the_edge():
    rng = np.random.default_rng(3)
    parts = [rng.integers(-2, 3, (400, 3)) / 3 for _ in range(4)]  # thirds: floats that nearly cancel
    signs = signs_beside(*parts)
    assert np.array_equal(signs, -signs_beside(parts[0], parts[1], parts[3], parts[2]))
    for row in range(400):
        o, d, a, b = ([Fraction(entry) for entry in part[row].tolist()] for part in parts)
        one, two = ([x - y for x, y in zip(end, o, strict=True)] for end in (a, b))
        value = sum(d[i] * (one[j] * two[k] - one[k] * two[j]) for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)))
        assert value == 0 or (value > 0) == (signs[row] > 0)
        assert value == 0 or signs[row] != 0


def fractions(*rows):
    return [[Fraction(entry) for entry in row.tolist()] for row in rows]


def cross(one, two):
    return [one[j] * two[k] - one[k] * two[j] for j, k in ((1, 2), (2, 0), (0, 1))]


def sparse(rng, shape):
    """Return vectors of all sizes with zeros, so that sums have few terms."""
    return rng.standard_normal(shape) * (rng.random(shape) < 0.6) * 10.0 ** rng.integers(-9, 1, shape)


def nearly_across(rng, vectors):
    """Return vectors that are perpendicular to others up to rounding, or to many digits."""
    found = sparse(rng, vectors.shape)
    last = np.abs(vectors).argmax(axis=1)
    rows = np.arange(len(vectors))
    found[rows, last] = 0
    sizes = np.where(vectors[rows, last] == 0, 1.0, vectors[rows, last])
    found[rows, last] = -(found * vectors).sum(axis=1) / sizes
    return found * (1 + 10.0 ** rng.integers(-30, -6, vectors.shape))


@pytest.mark.parametrize("scale", [1.0, 1e-104, 1e90])
def test_signs_that_hang_on_the_last_digits_are_those_of_fractions(scale):
    rng = np.random.default_rng(11)
    tails, heads, ways = (sparse(rng, (600, 3)) for _ in range(3))
    ways[:300] = nearly_across(rng, np.cross(tails, heads)[:300])
    # Sums of two products, of those terms alone that one half of a cross product has.
    for place in range(3):
        here, there, across = (np.roll(np.arange(3), -place)).tolist()
        for start, (one, two) in ((300, (tails, heads)), (450, (heads, tails))):
            rows = slice(start + 50 * place, start + 50 * place + 50)
            one[rows], two[rows], ways[rows] = rng.standard_normal((3, 50, 3))
            one[rows, here] = two[rows, there] = ways[rows, across] = 0.0
            normals = np.cross(one[rows], two[rows])
            ways[rows, there] = -ways[rows, here] * normals[:, here] / normals[:, there]
    origins = np.zeros((600, 3))
    far = rng.random(600) < np.where(np.arange(600) < 300, 0.5, 0.0)  # differences are rounded, too
    origins[far] = rng.standard_normal((far.sum(), 3)) * 10.0 ** rng.integers(-3, 4, (far.sum(), 1))
    parts = [origins * scale, ways * scale, (tails + origins) * scale, (heads + origins) * scale]
    signs = signs_beside(*parts)
    close = 0
    for row, sign in enumerate(signs):
        origin, way, tail, head = fractions(*(part[row] for part in parts))
        ends = [np.subtract(end, origin) for end in (tail, head)]
        value = sum(d * c for d, c in zip(way, cross(*ends), strict=True))
        moved = [value, *cross(way, np.subtract(head, tail))]
        first = next((entry for entry in moved if entry), 0)
        assert sign == (first > 0) - (first < 0)
        close += value != 0
    assert close > 200


@pytest.mark.parametrize("scale", [1.0, 1e-104, 1e90])
def test_parameters_that_lose_digits_are_off_by_no_more_than_they_say(scale):
    rng = np.random.default_rng(13)
    one, two = (sparse(rng, (600, 3)) for _ in range(2))
    normals = np.cross(one, two)
    kept = normals.any(axis=1)
    one, two, normals = one[kept], two[kept], normals[kept]
    away = np.where(rng.random((len(one), 1)) < 0.5, nearly_across(rng, normals), sparse(rng, one.shape))
    ways = np.where(rng.random((len(one), 1)) < 0.5, nearly_across(rng, normals), sparse(rng, one.shape))
    origins = np.where(rng.random((len(one), 1)) < 0.5, 0.0, sparse(rng, one.shape))
    corners = np.stack([away + origins, away + origins + one, away + origins + two], axis=1) * scale
    origins, kept = origins * scale, []
    for row in range(len(one)):
        way, *ends = fractions(ways[row], *corners[row])
        kept.append(sum(d * c for d, c in zip(way, cross(*np.subtract(ends[1:], ends[0])), strict=True)) != 0)
    origins, ways, corners = origins[kept], ways[kept], corners[kept]
    where, errors = parameters_at(origins, ways, corners)
    for row in range(len(where)):
        origin, way, first, *ends = fractions(origins[row], ways[row], *corners[row])
        normal = cross(*np.subtract(ends, [first]))
        top, bottom = (
            sum(d * c for d, c in zip(normal, one, strict=True)) for one in (np.subtract(first, origin), way)
        )
        exact = top / bottom
        assert abs(Fraction(where[row]) - exact) <= Fraction(errors[row])
        assert errors[row] <= 1e-3 * abs(where[row])
        assert (where[row] > 0) == (exact > 0)
    assert scale != 1 or (errors > 1e-11 * np.abs(where)).sum() > 30


@pytest.mark.parametrize("length", [5e-324, 1e-200, 1e200, 1e308])
def test_directions_of_any_length(length):
    ways = every_direction()
    table = rs.surfaces.cast_rays(SURFACE, np.zeros_like(ways), ways * length)
    expected = np.linalg.norm(ways, axis=1) / np.abs(ways).sum(axis=1)
    assert np.allclose(table["ray_distance"].value, expected, atol=1e-15)
    assert table["ray_distance"].is_exact.all()
    assert table["ray_hits"].value.tolist() == [1] * 26


def test_planes_that_rounding_hides_are_met_in_fractions():
    third = 1 / 3
    corners = np.array([[[third, third, third], [1 + third, third, third], [third, 1 + third, third]]])
    where, errors = parameters_at(np.array([[0.5, 0.5, third]]), np.array([[0.0, 0.0, 1.0]]), corners)
    assert (where[0], errors[0]) == (0, 0)
    # Nearly parallel: by floats alone the parameter would have no digit.
    thin = np.array([[[0.0, 0.0, third], [1.0, 0.0, third], [0.0, 1.0, third + 1e-15]]])
    where, errors = parameters_at(np.array([[0.1, -0.1, 0.3]]), np.array([[0.0, 1.0, 1e-3]]), thin)
    assert abs(where[0] - (third - 0.3) / 1e-3) < 1e-8
    assert errors[0] < 1e-10


@pytest.mark.parametrize("is_level", [False, True])
def test_parameters_beside_fractions(is_level):
    rng = np.random.default_rng(7)
    corners = rng.standard_normal((60, 3, 3))
    shares = rng.dirichlet(np.ones(3), (2, 60))
    origins, others = np.einsum("ekc,kcd->ekd", shares, corners)
    # Origins on the plane up to rounding, or ways along it.
    ways = rng.standard_normal((60, 3))
    if is_level:
        origins, ways = origins + 0.1 * ways, others - origins
    where, errors = parameters_at(origins, ways, corners)
    for row in range(60):
        o, d, a, b, c = (
            [Fraction(entry) for entry in part.tolist()] for part in (origins[row], ways[row], *corners[row])
        )
        one, two = ([x - y for x, y in zip(end, a, strict=True)] for end in (b, c))
        across = [one[j] * two[k] - one[k] * two[j] for j, k in ((1, 2), (2, 0), (0, 1))]
        top = sum(n * (x - y) for n, x, y in zip(across, a, o, strict=True))
        exact = top / sum(n * x for n, x in zip(across, d, strict=True))
        assert abs(Fraction(where[row]) - exact) <= Fraction(errors[row])
        assert errors[row] <= 1e-3 * abs(where[row])
        assert (where[row] >= 0) == (exact >= 0)


def test_rays_that_touch_lie_within_or_begin_on_the_surface():
    cube = rs.level_set(bodies.by_maxima(bodies.CUBE), AROUND)
    corner = cube.vertices[cube.vertices.sum(axis=1).argmax()]
    origins = np.array([[-1.0, 0.5, corner[2]], corner, corner, [0.5, 0.5, 2.0], [-1.0, corner[1], corner[2]]])
    ways = np.array([[1.0, 0, 0], [1.0, 1.0, 1.0], [-1.0, -1.0, -1.0], [0, 0, 1.0], [1.0, 0, 0]])
    table = rs.surfaces.cast_rays(cube, origins, ways)
    hits, reach = table["ray_hits"].value, table["ray_distance"].value
    assert hits[0] in (0, 2)
    assert (hits[1], reach[1], hits[2], reach[2]) == (1, 0, 2, 0)
    assert (hits[3], reach[3]) == (0, np.inf)
    assert hits[4] in (0, 2)
    assert table.details["piece"][3] == -1
    assert np.isnan(table.details["points"][3]).all()


def test_what_is_not_whole_claims_less():
    found = rs.level_set(random_network(3, 12, 12, 1, seed=2), rs.Box(-1, 1, 3), budget=rs.Budget(regions=20))
    middle = found.vertices[found.ids[found.offsets[0] : found.offsets[1]]].mean(axis=0)
    table = rs.surfaces.cast_rays(found, [middle - found.normals[0]], [found.normals[0]])
    assert str(table.finding("ray_distance", 0).claim) == "UPPER"
    assert str(table.finding("ray_hits", 0).claim) == "LOWER"
    table = rs.surfaces.cast_rays(replace(SURFACE, num_undecided=1), [[0.0, 0.0, 0.0]], [[1.0, 0.0, 0.0]])
    assert not table["ray_distance"].is_exact.any()
    assert not table["ray_hits"].is_exact.any()
    empty = rs.level_set(BALL, rs.Box(-2, 2, 3), level=50.0)
    assert rs.surfaces.cast_rays(empty, [[0.0, 0.0, 0.0]], [[1.0, 0.0, 0.0]])["ray_distance"].value[0] == np.inf


def test_refusals():
    with pytest.raises(InputError, match="zero"):
        rs.surfaces.cast_rays(SURFACE, [[0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0]])
    with pytest.raises(ShapeError):
        rs.surfaces.cast_rays(SURFACE, [[0.0, 0.0]], [[1.0, 0.0]])
    flat = rs.level_set(rs.load([(np.eye(2)[:1], np.zeros(1))]), rs.Box(-1, 1, 2))
    with pytest.raises(InputError, match="in space"):
        rs.surfaces.cast_rays(flat, [[0.0, 0.0, 0.0]], [[1.0, 0.0, 0.0]])


def test_distances_are_off_by_the_errors_of_parameters(monkeypatch):
    """Times the length of the direction, and never below 0; the first of several hits has the least ends."""
    errors = [0.0, 0.125, 8.0]
    proper, ways = parameters_at, np.array([[2.0, 0.0, 0.0]] * 3)
    origins = np.array([[-3.0, 0.25, 0.125], [-3.0, 0.125, 0.25], [-3.0, 0.25, 0.25]])

    def rough(origins, directions, corners):
        where, _ = proper(origins, directions, corners)
        rows = [{0.25 + 0.125j: 0, 0.125 + 0.25j: 1, 0.25 + 0.25j: 2}[complex(*one[1:])] for one in origins]
        return where, np.array([errors[row] for row in rows])

    monkeypatch.setitem(unwrap(rs.surfaces.cast_rays).__globals__, "parameters_at", rough)
    found = rs.surfaces.cast_rays(SURFACE, origins, ways)["ray_distance"]
    first = np.array([3 - 0.625, 3 - 0.625, 3 - 0.5])
    assert found.value == pytest.approx(first)
    # Directions are scaled to a largest coordinate between 1/2 and 1, or 1 and 2.
    scales = (found.upper - first)[1:] / errors[1:]
    assert scales[0] == pytest.approx(scales[1])
    assert 0.5 <= scales[0] <= 2
    assert found.lower == pytest.approx(np.maximum(0.0, first - scales[0] * np.array(errors)))
    assert (found.upper - found.lower)[0] < 1e-12


def test_ends_of_distances_hold_the_rounding_of_their_products(monkeypatch):
    """Parameters that are taken for exact, times lengths of directions in fractions."""
    proper, seen = parameters_at, {}

    def taken(origins, directions, corners):
        where, _ = proper(origins, directions, corners)
        for one, origin, way in zip(where.tolist(), origins.tolist(), directions.tolist(), strict=True):
            if one >= 0:
                seen[tuple(origin)] = Fraction(one) ** 2 * sum(Fraction(entry) ** 2 for entry in way)
        return where, np.zeros(len(where))

    monkeypatch.setitem(unwrap(rs.surfaces.cast_rays).__globals__, "parameters_at", taken)
    generator = np.random.default_rng(0)
    origins = generator.uniform(-0.3, 0.3, (300, 3))  # inside, where each ray ends once
    found = rs.surfaces.cast_rays(SURFACE, origins, generator.normal(size=(300, 3)))["ray_distance"]
    assert len(seen) == 300
    for origin, low, high in zip(origins.tolist(), found.lower.tolist(), found.upper.tolist(), strict=True):
        assert Fraction(low) ** 2 <= seen[tuple(origin)] <= Fraction(high) ** 2
