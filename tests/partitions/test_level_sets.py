"""Level sets: bodies with known measures, the plane against clipped regions, and the same mesh whatever the work."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import torch

import reluscope as rs
from partitions import bodies
from reluscope.errors import IncompletePartitionError, InputError, ShapeError
from reluscope.partitions.complexes import incidence
from reluscope.partitions.levels import level_assembly, level_pieces

AROUND = rs.Box([-2, -2, -2], [4.1, 4.2, 4.3])


def small_integers(*sizes, seed, duplicates=True):
    """Layers with small whole numbers: units that coincide, that are dead, that vanish at corners of the domain."""
    rng = np.random.default_rng(seed)
    layers = []
    for fan_in, fan_out in itertools.pairwise(sizes):
        weight, bias = rng.integers(-2, 3, (fan_out, fan_in)).astype(float), rng.integers(-1, 2, fan_out).astype(float)
        if duplicates and fan_out > 2 and len(layers) < len(sizes) - 2:
            weight[1], bias[1] = 2 * weight[0], 2 * bias[0]
            weight[2], bias[2] = 0.0, 0.0
        layers.append((weight, bias))
    return layers


def random_network(*sizes, seed):
    """A network as PyTorch makes them, whose median on the box is 0."""
    rng = np.random.default_rng(seed)
    layers = [
        (rng.standard_normal((m, n)) / np.sqrt(n / 2), rng.standard_normal(m) / 2) for n, m in itertools.pairwise(sizes)
    ]
    values = rs.load(layers)(rng.uniform(-1, 1, (2000, sizes[0])))[:, 0]
    layers[-1][1][0] -= float(values.median())
    return rs.load(layers)


def values(network, points, output=0):
    """Outputs of a network, also at no points at all."""
    return network(points)[:, output].numpy() if len(points) else np.zeros(0)


def same_mesh(one, other):
    """Two meshes are equal, positions up to rounding."""
    assert np.array_equal(one.offsets, other.offsets)
    assert np.array_equal(one.ids, other.ids)
    assert np.abs(one.vertices - other.vertices).max(initial=0.0) < 1e-13
    assert np.array_equal(one.codes.words, other.codes.words)
    assert np.array_equal(one.border, other.border)


@pytest.mark.few(3)
@pytest.mark.parametrize("make", [bodies.by_maxima, bodies.by_units])
@pytest.mark.parametrize("name", list(bodies.KNOWN))
def test_bodies_of_boxes(name, make):
    boxes, area, volume, characteristic, components = bodies.KNOWN[name]
    found = rs.level_set(make(boxes), AROUND)
    assert found.claim is rs.Claim.EXACT
    assert found.is_closed
    assert found.is_manifold
    assert found.area == pytest.approx(area, abs=1e-12)
    assert found.volume() == pytest.approx(volume, abs=1e-12)
    assert (found.euler_characteristic, found.num_components) == (characteristic, components)
    # By units bodies are plateaus, by maxima the function is negative inside.
    assert bool(len(found.solid_cells)) == (make is bodies.by_units)
    network = make(boxes)
    assert np.abs(values(network, found.vertices)).max() < 1e-14
    assert (values(network, found.witnesses) > 0).all()
    assert not values(network, found.solid_witnesses).any()


def test_a_plateau_counts_on_the_side_that_is_asked_for():
    network = bodies.by_units(bodies.CUBE)
    assert len(rs.level_set(network, AROUND, plateaus="above")) == 0
    assert len(rs.level_set(network, AROUND, plateaus="below")) == 6


def test_a_pinched_body_says_so():
    found = rs.level_set(bodies.by_maxima(bodies.PINCHED), AROUND)
    assert found.is_closed
    assert not found.is_manifold
    assert found.area == pytest.approx(12)
    # The shared edge has two vertices and one edge less than two cubes apart.
    assert (found.euler_characteristic, found.num_components) == (3, 1)


def test_the_box_cuts_open_edges():
    ball = rs.load([(np.r_[np.eye(3), -np.eye(3)], np.zeros(6)), (np.ones((1, 6)), -np.ones(1))])
    found = rs.level_set(ball, rs.Box([-2, -2, -2], [2, 2, 0.5]))
    assert not found.is_closed
    assert found.num_unmatched == 0
    assert np.allclose(found.vertices[found.boundary_edges][..., 2], 0.5)
    assert found.area == pytest.approx(8 * np.sqrt(3) / 2 * (1 - 0.25 / 2))
    assert found.claim is rs.Claim.EXACT
    with pytest.raises(InputError, match="4 open edges"):
        found.volume()


def test_normals_and_senses_point_to_larger_values():
    found = rs.level_set(random_network(3, 8, 8, 1, seed=1), rs.Box(-1, 1, 3))
    network = random_network(3, 8, 8, 1, seed=1)
    first = found.vertices[found.ids[found.offsets[:-1]]]
    assert (((found.witnesses - first) * found.normals).sum(1) > 0).all()
    assert np.allclose(np.linalg.norm(found.normals, axis=1), 1)
    corners = found.vertices[found.triangles()]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    piece = np.repeat(np.arange(len(found)), np.diff(found.offsets) - 2)
    assert ((across * found.normals[piece]).sum(1) > -1e-15).all()
    assert np.linalg.norm(across, axis=1).sum() / 2 == pytest.approx(found.area)
    assert np.array_equal(network.codes(found.witnesses).words, found.codes.words)


@pytest.mark.slow
def test_the_mesh_does_not_depend_on_chunks_or_workers(monkeypatch):
    network, box = random_network(3, 10, 10, 1, seed=3), rs.Box(-1, 1, 3)
    whole = rs.level_set(network, box)
    assert whole.num_unmatched == 0
    assert whole.claim is rs.Claim.EXACT
    for most in (5, 37):
        monkeypatch.setattr(incidence, "_chunk_cells", lambda *_, most=most: most)
        many = rs.level_set(network, box)
        assert many.work["chunks"] > whole.work["chunks"]
        same_mesh(many, whole)
    with ThreadPoolExecutor(2) as executor:
        same_mesh(rs.level_set(network, box, executor=executor), whole)


@pytest.mark.parametrize("dim", [2, 3])
def test_the_mesh_does_not_depend_on_which_cell_of_a_facet_comes_first(dim, monkeypatch):
    """A plateau between two slopes, as the first cell."""
    patches, real = [], level_assembly.assemble_level
    monkeypatch.setattr(level_pieces, "assemble_level", lambda *of: (patches.append(of), real(*of))[1])
    slopes = np.concatenate([np.eye(dim)[:1], -np.eye(dim)[:1]])
    rs.level_set(rs.load([(slopes, -np.ones(2)), (np.ones((1, 2)), np.zeros(1))]), rs.Box(-2, 3, dim))
    (part, *others), *rest = patches[0]
    row = np.arange(len(part.sides))
    busy = int(np.bincount(part.cells[(part.cells >= 0).all(axis=1)].ravel()).argmax())
    row[[0, busy]] = busy, 0
    cells = np.where(part.cells < 0, -1, row[part.cells])
    cells = np.where((cells >= 0).all(axis=1)[:, None], np.sort(cells, axis=1), cells)
    given = replace(part, cells=cells, words=part.words[row], witnesses=part.witnesses[row], sides=part.sides[row])
    turned = replace(given, cells=np.where((cells >= 0).all(axis=1)[:, None], cells[:, ::-1], cells))
    assert (turned.cells[:, 1] == 0).sum() > 1
    one, other = real([given, *others], *rest), real([turned, *others], *rest)
    for name in ("vertices", "offsets", "ids", "below", "above", "border", "sides"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("most", [1, 3, 100])
@pytest.mark.parametrize("dim", [2, 3])
def test_the_level_may_run_along_the_seam_of_two_chunks(dim, most, monkeypatch):
    monkeypatch.setattr(incidence, "_chunk_cells", lambda *_: most)
    weight = np.concatenate([np.eye(dim), -np.eye(dim)])
    last = np.zeros((1, 2 * dim))
    last[0, [0, dim]] = 1, -1
    found = rs.level_set(rs.load([(weight, np.zeros(2 * dim)), (last, np.zeros(1))]), rs.Box(-1, 1, dim))
    assert len(found) == 2 ** (dim - 1)
    assert found.area == pytest.approx(2 ** (dim - 1))
    assert (found.normals[:, 0] == 1).all()
    assert (found.num_unmatched, found.num_components, found.euler_characteristic) == (0, 1, 1)


@pytest.mark.parametrize("seed", range(6))
def test_the_mesh_does_not_depend_on_what_is_dropped(seed, monkeypatch):
    layers = small_integers(3, 5, 5, 1, seed=seed)
    network = rs.load(layers) if seed % 2 else random_network(3, 7, 7, 1, seed=seed)
    pruned = rs.level_set(network, rs.Box(-1, 1, 3), level=0.25 * (seed % 2))
    monkeypatch.setattr(level_pieces, "proved_sides", lambda chunk, *_: np.zeros(len(chunk), dtype=np.int8))
    whole = rs.level_set(network, rs.Box(-1, 1, 3), level=0.25 * (seed % 2))
    assert pruned.work["tested_cells"] < whole.work["tested_cells"] or not len(whole)
    same_mesh(pruned, whole)


@pytest.mark.few(7)
@pytest.mark.parametrize("seed", range(12))
def test_segments_are_the_chords_of_regions(seed, monkeypatch):
    """In the plane, against the polygons of a partition, clipped; small chunks, so that level and seams meet."""
    monkeypatch.setattr(incidence, "_chunk_cells", lambda *_: 3 + seed)
    layers = small_integers(2, 5, 4, 1, seed=seed) if seed % 3 else None
    network = random_network(2, 8, 6, 1, seed=seed) if layers is None else rs.load(layers)
    box, level = rs.Box(-2, 2, 2), 0.0 if seed % 2 else 0.5
    found = rs.level_set(network, box, level=level)
    assert found.num_unmatched == 0
    assert found.claim is rs.Claim.EXACT
    assert found.area == pytest.approx(_clipped_length(network, box, level), abs=1e-9)


def _clipped_length(network, box, level):
    """Return the length of the boundary of f > level, region by region."""
    part = rs.partition(network, box)
    values = part.outputs[:, 0] - level
    values[np.abs(values) < 1e-12] = 0
    offsets, ids = part.region_vertices
    total = 0.0
    is_above = []
    for start, stop in itertools.pairwise(offsets):
        corners, heights = part.vertices[ids[start:stop]], values[ids[start:stop]]
        is_above.append(heights.max() > 0)
        if heights.max() > 0 and heights.min() < 0:
            ends = [corners[heights == 0]]
            for i in range(len(heights)):
                j = (i + 1) % len(heights)
                if heights[i] * heights[j] < 0:
                    share = heights[i] / (heights[i] - heights[j])
                    ends.append(corners[i : i + 1] + share * (corners[j] - corners[i]))
            one, other = np.concatenate(ends)
            total += float(np.linalg.norm(one - other))
    facets = part.facets
    for left, right, ends in zip(facets.left, facets.right, facets.vertices, strict=True):
        if right >= 0 and not values[ends].any():
            # A region that touches the level along a side is on one side of it.
            total += (is_above[left] != is_above[right]) * float(np.linalg.norm(np.diff(part.vertices[ends], axis=0)))
    return total


@pytest.mark.parametrize("seed", range(4))
def test_slices_of_level_sets_are_level_sets_of_slices(seed):
    network, box = random_network(3, 8, 8, 1, seed=seed), rs.Box(-1, 1, 3)
    space = rs.level_set(network, box)
    plane = rs.Slice(np.array([0.0, 0.0, 0.1]), np.eye(3)[:2], rs.Box(-1, 1, 2))
    flat = rs.level_set(network, plane)
    total = 0.0
    for start, stop in zip(space.offsets, space.offsets[1:], strict=False):
        corners = space.vertices[space.ids[start:stop]]
        heights = corners[:, 2] - 0.1
        ends = []
        for i in range(len(heights)):
            j = (i + 1) % len(heights)
            if heights[i] * heights[j] < 0:
                share = heights[i] / (heights[i] - heights[j])
                ends.append(corners[i] + share * (corners[j] - corners[i]))
        if ends:
            total += float(np.linalg.norm(ends[0] - ends[1]))
    assert flat.area == pytest.approx(total, abs=1e-10)
    assert flat.num_unmatched == 0


@pytest.mark.parametrize("seed", range(8))
def test_degenerate_networks_close(seed, monkeypatch):
    monkeypatch.setattr(incidence, "_chunk_cells", lambda *_: 40)
    network = rs.load(small_integers(3, 6, 5, 1, seed=seed))
    for level in (0.0, 1.0):
        found = rs.level_set(network, rs.Box(-2, 2, 3), level=level)
        assert found.num_unmatched == 0
        assert found.num_undecided == 0
        assert np.abs(values(network, found.vertices) - level).max(initial=0.0) < 1e-13


def test_duplicates_and_dead_units_change_nothing():
    rng = np.random.default_rng(5)
    layers = [(rng.standard_normal((6, 3)), rng.standard_normal(6) / 2), (rng.standard_normal((1, 6)), np.zeros(1))]
    (weight, bias), (last, shift) = layers
    more = [
        (np.concatenate([weight, weight[:2], np.zeros((1, 3))]), np.concatenate([bias, bias[:2], [-1.0]])),
        (np.concatenate([last[:, :2] / 2, last[:, 2:], last[:, :2] / 2, np.ones((1, 1))], axis=1), shift),
    ]
    one, other = (rs.level_set(rs.load(each), rs.Box(-1, 1, 3)) for each in (layers, more))
    assert len(one) == len(other) > 5
    assert one.area == pytest.approx(other.area, rel=1e-13)
    assert one.euler_characteristic == other.euler_characteristic


def test_a_network_that_ends_with_a_gate_and_one_without_gates():
    relu = rs.load(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()), input_shape=(2,))
    found = rs.level_set(relu, rs.Box(-3, 3, 2), output=1, level=0.5)
    assert len(found)
    assert np.allclose(values(relu, found.vertices, 1), 0.5)
    assert (found.normals == found.normals[0]).all()
    weight = np.array([[1.0, 2.0, 2.0]])
    plane = rs.level_set(rs.load([(weight, np.zeros(1))]), rs.Box(-1, 1, 3))
    assert len(plane) == 1
    assert plane.normals[0] == pytest.approx(weight[0] / 3)


def test_differences_of_outputs():
    network = rs.load([(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.zeros(3))])
    found = rs.level_set(network, rs.Box(-1, 1, 2), output=(0, 1))
    assert len(found) == 1
    assert found.area == pytest.approx(2 * np.sqrt(2))
    assert found.normals[0] == pytest.approx([0.5**0.5, -(0.5**0.5)])
    same = rs.level_set(network, rs.Box(-1, 1, 2), output=(-3, -2))
    assert np.array_equal(same.vertices, found.vertices)


def test_a_level_that_is_not_reached_or_not_crossed():
    absolute = rs.load([(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    for level in (-1.0, 0.0, 5.0):
        found = rs.level_set(absolute, rs.Box(-1, 1, 2), level=level)
        assert len(found) == 0
        assert found.claim is rs.Claim.EXACT
        assert "empty" in repr(found)
        assert (found.num_components, found.euler_characteristic, found.volume()) == (0, 0, 0)
        assert found.triangles is not None
    assert len(rs.level_set(absolute, rs.Box(-1, 1, 2), level=0.5)) == 2


def test_polyhedra_and_slices_of_wide_networks():
    ball = rs.load([(np.r_[np.eye(3), -np.eye(3)], np.zeros(6)), (np.ones((1, 6)), -np.ones(1))])
    corner = rs.Polyhedron(np.r_[-np.eye(3), np.ones((1, 3))], np.array([0.0, 0.0, 0.0, 2.0]))
    found = rs.level_set(ball, corner)
    assert len(found) == 1
    assert found.area == pytest.approx(3**0.5 / 2)
    wide = rs.load([(np.r_[np.eye(5), -np.eye(5)], np.zeros(10)), (np.ones((1, 10)), -np.ones(1))])
    basis = np.eye(5)[1:4]
    assert rs.level_set(wide, rs.Slice(np.zeros(5), basis, rs.Box(-2, 2, 3))).volume() == pytest.approx(4 / 3)


def test_what_was_stopped_says_so():
    network = random_network(3, 12, 12, 1, seed=2)
    whole = rs.level_set(network, rs.Box(-1, 1, 3))
    found = rs.level_set(network, rs.Box(-1, 1, 3), budget=rs.Budget(regions=20))
    assert found.num_open
    assert 0 < len(found) < len(whole)
    assert found.claim is rs.Claim.LOWER
    assert found.area_finding().claim is rs.Claim.LOWER
    assert not found.is_closed
    assert "budget of 20 regions" in repr(found)
    with pytest.raises(IncompletePartitionError, match="budget of 20 regions"):
        found.volume()


def test_other_libraries_agree():
    trimesh = pytest.importorskip("trimesh")
    boxes, area, volume, characteristic, _ = bodies.KNOWN["linked"]
    found = rs.level_set(bodies.by_maxima(boxes), AROUND)
    mesh = trimesh.Trimesh(found.vertices, found.triangles(), process=False)
    assert mesh.is_watertight
    assert mesh.is_winding_consistent
    assert mesh.euler_number == characteristic
    assert mesh.area == pytest.approx(area)
    assert mesh.volume == pytest.approx(volume)


def test_refusals():
    network = rs.load([(np.eye(3), np.zeros(3))])
    with pytest.raises(InputError, match="bounded domains of two or three dimensions"):
        rs.level_set(network, rs.Space(3))
    with pytest.raises(ShapeError):
        rs.level_set(network, rs.Box(-1, 1, 2))
    with pytest.raises(InputError, match="output"):
        rs.level_set(network, rs.Box(-1, 1, 3), output=3)
    with pytest.raises(InputError, match="two different ones"):
        rs.level_set(network, rs.Box(-1, 1, 3), output=(1, 1))
    with pytest.raises(InputError, match="plateaus"):
        rs.level_set(network, rs.Box(-1, 1, 3), plateaus="beside")


def test_the_area_knows_how_exactly_its_corners_are_known():
    """Two nearly parallel cuts meet where rounding over their angle says: without it the area would be too sure."""
    slope = 1e-6
    net = rs.load([(np.array([[0.0, 1.0], [slope, 1.0]]) / 3, np.zeros(2)), (np.array([[3.0, -3.0]]), np.zeros(1))])
    found = rs.level_set(net, rs.Box(-1, 1, 2), level=-slope / 4)
    assert found.blur.max() > 1e-9
    length = found.area_finding()
    assert length.tolerance is not None
    assert length.tolerance > found.blur.max()


def test_each_outline_begins_with_its_lowest_vertex():
    draw = np.random.default_rng(0)
    for _ in range(50):
        lists = [draw.permutation(20)[:count] for count in draw.integers(2, 7, draw.integers(1, 6))]
        offsets = np.cumsum([0, *map(len, lists)])
        found = level_assembly._from_lowest(offsets, np.concatenate(lists))
        expected = [np.roll(one, -one.argmin()) for one in lists]
        np.testing.assert_array_equal(found, np.concatenate(expected))
    assert len(level_assembly._from_lowest(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64))) == 0
