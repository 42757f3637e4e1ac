"""Level sets against what is known by other ways: polar bodies, a ring, angles, marching tetrahedra, duplicates."""

import itertools

import numpy as np
import pytest
from scipy.spatial import ConvexHull, HalfspaceIntersection

import reluscope as rs
from partitions import bodies
from partitions.test_level_sets import AROUND, random_network, small_integers
from reluscope.partitions.complexes import incidence

# | |x| + |y| - 2 | + |z| = 1/2: a ring with a square section.
RING = rs.load(
    [
        (np.concatenate([np.eye(3), -np.eye(3)]), np.zeros(6)),
        (np.array([[1.0, 1, 0, 1, 1, 0], [-1, -1, 0, -1, -1, 0], [0, 0, 1, 0, 0, 1]]), np.array([-2.0, 2, 0])),
        (np.ones((1, 3)), np.array([-0.5])),
    ]
)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_bodies_polar_to_zonotopes(dim, seed, monkeypatch):
    """The sum of relu(n . x) is at most 1 where z . x is, for all sums z of some of the n: half-spaces for qhull."""
    monkeypatch.setattr(incidence, "_chunk_cells", lambda *_: 9)
    rng = np.random.default_rng(seed)
    normals = np.concatenate([np.eye(dim), -np.eye(dim), rng.standard_normal((4, dim))])
    found = rs.level_set(
        rs.load([(normals, np.zeros(len(normals))), (np.ones((1, len(normals))), -np.ones(1))]), rs.Box(-2, 2, dim)
    )
    sums = np.array(
        [
            np.sum(normals[list(chosen)], axis=0)
            for k in range(1, len(normals))
            for chosen in itertools.combinations(range(len(normals)), k)
        ]
    )
    outer = sums[ConvexHull(sums, qhull_options="QJ").vertices]
    corners = HalfspaceIntersection(np.c_[outer, -np.ones(len(outer))], np.zeros(dim)).intersections
    hull = ConvexHull(corners)
    assert found.is_closed
    assert found.is_manifold
    assert found.volume() == pytest.approx(hull.volume, rel=1e-8)
    assert found.area == pytest.approx(hull.area, rel=1e-8)
    assert (found.euler_characteristic, found.num_components) == (2 * (dim == 3), 1)


def test_a_ring_of_l1_distances():
    found = rs.level_set(RING, rs.Box(-3, 3, 3))
    assert found.area == pytest.approx(16 * 3**0.5)
    assert found.volume() == pytest.approx(4)
    assert (found.euler_characteristic, found.num_components) == (0, 1)
    assert found.is_manifold
    half = rs.level_set(RING, rs.Box([-3, -3, 0], 3 * np.ones(3)))
    assert half.volume("below") == pytest.approx(2)
    assert not half.is_closed


def angle_defects(found):
    """Return what angles at all vertices lack to a full turn, in full turns: by Gauss and Bonnet the characteristic."""
    total = float(len(found.vertices))
    for start, stop in itertools.pairwise(found.offsets):
        corners = found.vertices[found.ids[start:stop]]
        for before, here, after in zip(np.roll(corners, 1, 0), corners, np.roll(corners, -1, 0), strict=True):
            one, two = before - here, after - here
            total -= np.arctan2(np.linalg.norm(np.cross(one, two)), one @ two) / (2 * np.pi)
    return total


def closed_surfaces():
    return {
        "ring": (RING, rs.Box(-3, 3, 3)),
        **{name: (bodies.by_units(known[0]), AROUND) for name, known in bodies.KNOWN.items()},
    }


@pytest.mark.few(2)
@pytest.mark.parametrize("name", closed_surfaces())
def test_the_euler_characteristic_by_angles(name):
    found = rs.level_set(*closed_surfaces()[name])
    assert found.is_closed
    assert angle_defects(found) == pytest.approx(found.euler_characteristic, abs=1e-9)


def marching_tetrahedra(network, side):
    """Return the area of the level 0 and the volume below it in [-1, 1]^3, on cubes of six tetrahedra each."""
    axis = np.linspace(-1, 1, side + 1)
    grid = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1)
    values = network(grid.reshape(-1, 3))[:, 0].numpy().reshape(grid.shape[:3])
    area = below = 0.0
    for order in itertools.permutations(range(3)):
        steps = np.cumsum([np.zeros(3, int), *(np.eye(3, dtype=int)[one] for one in order)], axis=0)
        cuts = [tuple(slice(one, one + side) for one in step) for step in steps]
        points = np.stack([grid[cut].reshape(-1, 3) for cut in cuts], axis=1)
        heights = np.stack([values[cut].reshape(-1) for cut in cuts], axis=1)
        rank = np.argsort(heights, axis=1)
        points, heights = np.take_along_axis(points, rank[..., None], 1), np.take_along_axis(heights, rank, 1)
        number = (heights < 0).sum(axis=1)
        size = (2 / side) ** 3 / 6
        below += size * (number == 4).sum()

        def between(one, other, rows, points=points, heights=heights):
            low, high = heights[rows, one], heights[rows, other]
            return points[rows, one] + (low / (low - high))[:, None] * (points[rows, other] - points[rows, one])

        def triangles(one, two, three):
            return float(np.linalg.norm(np.cross(two - one, three - one), axis=1).sum()) / 2

        for alone, others in ((0, (1, 2, 3)), (3, (0, 1, 2))):
            rows = np.flatnonzero(number == (1 if alone == 0 else 3))
            corners = [between(alone, other, rows) for other in others]
            area += triangles(*corners)
            spans = np.stack([corner - points[rows, alone] for corner in corners], axis=1)
            tips = float(np.abs(np.linalg.det(spans)).sum()) / 6
            below += tips if alone == 0 else size * len(rows) - tips
        rows = np.flatnonzero(number == 2)
        ring = [between(one, other, rows) for one, other in ((0, 2), (0, 3), (1, 3), (1, 2))]
        area += triangles(ring[0], ring[1], ring[2]) + triangles(ring[0], ring[2], ring[3])
        for tip, face in (
            (0, (ring[0], ring[1], ring[2])),
            (0, (ring[0], ring[2], ring[3])),
            (0, (ring[3], ring[2], points[rows, 1])),
        ):
            spans = np.stack([corner - points[rows, tip] for corner in face], axis=1)
            below += float(np.abs(np.linalg.det(spans)).sum()) / 6
    return area, below


def test_marching_tetrahedra_are_exact_on_planes():
    network = rs.load([(np.array([[1.0, 0.7, 0.3]]), np.array([0.2]))])
    found = rs.level_set(network, rs.Box(-1, 1, 3))
    area, below = marching_tetrahedra(network, 7)
    assert area == pytest.approx(found.area)
    assert below == pytest.approx(found.volume("below"))


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(4))
def test_marching_tetrahedra_come_closer_with_the_grid(seed):
    """At the bends of a surface they are off by a strip as wide as a step: the error of its area falls like it."""
    network = random_network(3, 8, 8, 1, seed=seed)
    found = rs.level_set(network, rs.Box(-1, 1, 3))
    exact = np.array([found.area, found.volume("below")])
    coarse, fine = (np.abs(np.array(marching_tetrahedra(network, side)) - exact) for side in (12, 48))
    assert coarse[0] < 0.04 * exact[0]
    assert fine[0] < 0.01 * exact[0]
    assert coarse[1] < 0.02 * 4
    assert fine[1] < 0.001 * 4


def with_more_units(layers, rng):
    """Return the same function with units that are dead, or shared between copies, at random places."""
    layers = [(weight.copy(), bias.copy()) for weight, bias in layers]
    for depth in range(len(layers) - 1):
        (weight, bias), (after, shift) = layers[depth : depth + 2]
        for _ in range(rng.integers(1, 4)):
            place = int(rng.integers(len(bias) + 1))
            if rng.random() < 0.5:
                row, height = rng.integers(-2, 3, weight.shape[1]).astype(float) * 0, -float(rng.integers(0, 3))
                column = rng.standard_normal(len(after))
            else:
                twin = int(rng.integers(len(bias)))
                row, height = 2 * weight[twin], 2 * bias[twin]
                column = after[:, twin] / 4
                after[:, twin] /= 2
            weight, bias = np.insert(weight, place, row, 0), np.insert(bias, place, height)
            after = np.insert(after, place, column, 1)
        layers[depth], layers[depth + 1] = (weight, bias), (after, shift)
    return layers


@pytest.mark.few(7)
@pytest.mark.parametrize("seed", range(10))
def test_dead_units_and_twins_change_nothing(seed):
    rng = np.random.default_rng(seed)
    layers = small_integers(3, 6, 5, 1, seed=seed, duplicates=False)
    if seed % 2:
        layers = [(rng.standard_normal(weight.shape), rng.standard_normal(bias.shape) / 2) for weight, bias in layers]
    more = with_more_units(layers, rng)
    points = rng.uniform(-1, 1, (50, 3))
    assert np.allclose(rs.load(layers)(points), rs.load(more)(points), atol=1e-12)
    box = rs.Box(-1, 1, 3)
    one, other = rs.level_set(rs.load(layers), box), rs.level_set(rs.load(more), box)
    assert len(one) == len(other)
    assert len(one.vertices) == len(other.vertices)
    assert other.area == pytest.approx(one.area, abs=1e-11)
    assert other.volume("below") == pytest.approx(one.volume("below"), abs=1e-11)
    assert (other.euler_characteristic, other.num_components) == (one.euler_characteristic, one.num_components)
    assert len(other.pinched_vertices) == len(one.pinched_vertices)


@pytest.mark.slow
def test_the_trained_surface_is_watertight():
    from reluscope.datasets.demo_surface import surface_network

    network = surface_network()
    found = rs.level_set(network, rs.Box(-1, 1, 3))
    assert found.is_closed
    assert found.is_manifold
    assert angle_defects(found) == pytest.approx(found.euler_characteristic, abs=1e-6)
    assert float(network(found.vertices).abs().max()) < 1e-14
    area, below = marching_tetrahedra(network, 32)
    assert area == pytest.approx(found.area, rel=0.02)
    assert below == pytest.approx(found.volume(), rel=0.02)
    trimesh = pytest.importorskip("trimesh")
    mesh = found.to_trimesh()
    assert isinstance(mesh, trimesh.Trimesh)
    assert mesh.is_watertight
    assert mesh.is_winding_consistent
    assert mesh.euler_number == found.euler_characteristic
    assert mesh.volume == pytest.approx(found.volume())
