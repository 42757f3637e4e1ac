"""Decision surfaces: power diagrams, regions clipped class by class, level sets, the plane, ties, and any chunks."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import ConvexHull, HalfspaceIntersection

import reluscope as rs
from partitions.test_level_sets import small_integers
from reluscope.errors import InputError
from reluscope.partitions.complexes import incidence
from reluscope.testing import default_network

BOX = rs.Box(-1, 1, 3)


def layers_of(*sizes, seed):
    """Layers whose outputs are of like size on the box."""
    layers = default_network(list(sizes), seed=seed)
    values = rs.load(layers)(np.random.default_rng(seed).uniform(-1, 1, (2000, sizes[0]))).numpy()
    weight, bias = layers[-1]
    return [*layers[:-1], (weight, bias - np.median(values, axis=0))]


def network_of(*sizes, seed):
    """A network with such layers."""
    return rs.load(layers_of(*sizes, seed=seed))


def areas_of(found):
    """Area by pair of classes."""
    table = found.findings()
    areas = [float(table.finding("decision_area", row)) for row in range(len(table))]
    return dict(zip(zip(table.keys["first"].tolist(), table.keys["second"].tolist(), strict=True), areas, strict=True))


def flat_area(points):
    """Area of the hull of points in a plane."""
    centered = points - points.mean(axis=0)
    _, sizes, axes = np.linalg.svd(centered, full_matrices=False)
    return ConvexHull(centered @ axes[:2].T).volume if len(points) > 2 and sizes[1] > 1e-9 else 0.0


@pytest.mark.parametrize("seed", range(5))
def test_power_diagrams(seed):
    """Of affine scores each class is a polyhedron, whose facets qhull knows."""
    rng = np.random.default_rng(seed)
    weight, bias = rng.standard_normal((5, 3)), rng.standard_normal(5) / 4
    found = rs.decision_boundary(rs.load([(weight, bias)]), BOX)
    sides = np.r_[np.c_[np.eye(3), -np.ones(3)], np.c_[-np.eye(3), -np.ones(3)]]
    inside = rng.uniform(-1, 1, (20_000, 3))
    classes = (inside @ weight.T + bias).argmax(axis=1)
    expected = {}
    for one in np.unique(classes).tolist():
        ahead = np.delete(np.c_[weight - weight[one], bias - bias[one]], one, axis=0)
        points = inside[classes == one]
        start = points[(-(ahead[:, :3] @ points.T).T - ahead[:, 3]).min(axis=1).argmax()]
        corners = HalfspaceIntersection(np.r_[sides, ahead], start).intersections
        for other in range(one + 1, 5):
            tied = np.abs(corners @ (weight[one] - weight[other]) + bias[one] - bias[other]) < 1e-9
            if tied.sum() > 2:
                expected[one, other] = flat_area(corners[tied])
    assert found.num_unmatched == 0
    assert found.claim is rs.Claim.EXACT
    assert areas_of(found) == {pair: pytest.approx(area, abs=1e-9) for pair, area in expected.items()}
    scores = found.vertices[found.junctions.reshape(-1)] @ weight.T + bias
    assert (np.abs(np.sort(scores, axis=1)[:, -3:] - scores.max(axis=1, keepdims=True)) < 1e-12).all()


def clipped(polygon, heights):
    """Return the part of a polygon (corners in cyclic order, with rows of values) where a column of values is >= 0."""
    for column in range(heights.shape[1]):
        points, rows = [], []
        for k in range(len(polygon)):
            after = (k + 1) % len(polygon)
            one, two = heights[k, column], heights[after, column]
            if one >= 0:
                points.append(polygon[k])
                rows.append(heights[k])
            if one * two < 0:
                share = one / (one - two)
                points.append(polygon[k] + share * (polygon[after] - polygon[k]))
                rows.append(heights[k] + share * (heights[after] - heights[k]))
        if len(points) < 3:
            return np.zeros((0, 3))
        polygon, heights = np.array(points), np.array(rows)
    return polygon


@pytest.mark.parametrize("seed", range(4))
def test_regions_clipped_class_by_class(seed, monkeypatch):
    monkeypatch.setattr(incidence, "_chunk_cells", lambda *_: 7 + 9 * seed)
    network = network_of(3, 6, 6, 4, seed=seed)
    found = rs.decision_boundary(network, BOX)
    part = rs.partition(network, BOX)
    offsets, ids = part.region_vertices
    expected = dict.fromkeys(itertools.combinations(range(4), 2), 0.0)
    for start, stop in itertools.pairwise(offsets):
        corners, scores = part.vertices[ids[start:stop]], part.outputs[ids[start:stop]]
        for one, other in expected:
            gap = scores[:, one] - scores[:, other]
            above, below = np.flatnonzero(gap > 0), np.flatnonzero(gap < 0)
            if not len(above) or not len(below):
                continue
            share = (gap[above][:, None] / (gap[above][:, None] - gap[below]))[..., None]
            points = (corners[above][:, None] + share * (corners[below] - corners[above][:, None])).reshape(-1, 3)
            there = (scores[above][:, None] + share * (scores[below] - scores[above][:, None])).reshape(-1, 4)
            centered = points - points.mean(axis=0)
            _, sizes, axes = np.linalg.svd(centered, full_matrices=False)
            if len(points) < 3 or sizes[1] < 1e-9:
                continue
            ring = ConvexHull(centered @ axes[:2].T).vertices
            others = [k for k in range(4) if k not in (one, other)]
            left = clipped(points[ring], there[ring][:, [one]] - there[ring][:, others])
            expected[one, other] += flat_area(left) if len(left) else 0.0
    assert found.num_unmatched == 0
    areas = areas_of(found)
    for pair, area in expected.items():
        assert areas.get(pair, 0.0) == pytest.approx(area, abs=1e-8)
    assert found.area == pytest.approx(sum(expected.values()), abs=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_classes_on_both_sides(seed):
    network = network_of(3, 8, 8, 3, seed=seed)
    found = rs.decision_boundary(network, BOX)
    assert len(found.junctions)
    middles = np.array([found.vertices[found.ids[i:j]].mean(axis=0) for i, j in itertools.pairwise(found.offsets)])
    sized = found.piece_areas > 1e-6
    for side, sign in ((0, -1), (1, 1)):
        beside = network(middles + sign * 1e-8 * found.normals).numpy().argmax(axis=1)
        assert np.array_equal(beside[sized], found.classes[sized, side])
    assert np.array_equal(network(found.witnesses).numpy().argmax(axis=1), found.classes[:, 1])
    assert np.array_equal(network.codes(found.witnesses).words, found.codes.words)
    total = sum(len(found.between(*pair)) for pair in itertools.combinations(range(3), 2))
    assert total == len(found)
    assert np.array_equal(found.between(1, 0), found.between(0, 1))
    assert len(found.between(0, 7)) == 0


@pytest.mark.parametrize("seed", range(3))
def test_two_classes_are_a_level_set(seed):
    network = network_of(3, 7, 7, 2, seed=seed)
    found, level = rs.decision_boundary(network, BOX), rs.level_set(network, BOX, output=(1, 0))
    assert len(found) == len(level) > 0
    assert found.area == pytest.approx(level.area, rel=1e-12)
    assert np.allclose(found.normals, level.normals)
    assert len(found.junctions) == 0
    single = network_of(3, 7, 7, 1, seed=seed)
    assert rs.decision_boundary(single, BOX).area == pytest.approx(rs.level_set(single, BOX).area, rel=1e-12)
    raised = rs.decision_boundary(single.with_decision(0.1), BOX)
    assert raised.area == pytest.approx(rs.level_set(single, BOX, level=0.1).area, rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_in_the_plane_it_is_the_decision_boundary(seed):
    layers = small_integers(2, 6, 5, 3, seed=seed) if seed % 2 else None
    network = network_of(2, 8, 8, 4, seed=seed) if layers is None else rs.load(layers)
    square = rs.Box(-1, 1, 2)
    found = rs.decision_boundary(network, square)
    assert found.num_unmatched == 0
    if layers is None:
        assert found.area == pytest.approx(rs.decision_boundary(rs.partition(network, square)).length, rel=1e-9)
    else:
        classes = network(found.witnesses).numpy().argmax(axis=1) if len(found) else np.zeros(0)
        assert np.array_equal(classes, found.classes[:, 1])


def test_the_smallest_output_may_be_the_class():
    layers = layers_of(3, 6, 6, 3, seed=2)
    negated = [*layers[:-1], (-layers[-1][0], -layers[-1][1])]
    one = rs.decision_boundary(rs.load(layers).with_decision("smallest"), BOX)
    other = rs.decision_boundary(rs.load(negated), BOX)
    assert len(one)
    assert np.array_equal(one.classes, other.classes)
    assert one.area == pytest.approx(other.area)


def test_a_copy_of_a_class_is_nowhere_and_ties_are_of_the_lower_one():
    layers = layers_of(3, 6, 6, 3, seed=1)
    weight, bias = layers[-1]
    twice = rs.load([*layers[:-1], (np.r_[weight, weight[:1]], np.r_[bias, bias[:1]])])
    one, other = rs.decision_boundary(rs.load(layers), BOX), rs.decision_boundary(twice, BOX)
    assert len(one)
    assert 3 not in other.classes
    assert other.area == pytest.approx(one.area)
    assert {*map(tuple, one.classes.tolist())} == {*map(tuple, other.classes.tolist())}
    flat = rs.load([(np.zeros((2, 3)), np.zeros(2))])
    assert len(rs.decision_boundary(flat, BOX)) == 0


@pytest.mark.slow
def test_chunks_workers_and_budgets(monkeypatch):
    network = network_of(3, 9, 9, 4, seed=3)
    whole = rs.decision_boundary(network, BOX)
    monkeypatch.setattr(incidence, "_chunk_cells", lambda *_: 11)
    monkeypatch.setattr(incidence, "TASKS", 6)
    with ThreadPoolExecutor(2) as executor:
        for one in (rs.decision_boundary(network, BOX), rs.decision_boundary(network, BOX, executor=executor)):
            assert np.array_equal(one.ids, whole.ids)
            assert np.array_equal(one.classes, whole.classes)
            assert np.abs(one.vertices - whole.vertices).max() < 1e-13
    part = rs.decision_boundary(network, BOX, budget=rs.Budget(regions=15))
    assert part.num_open
    assert part.claim is rs.Claim.LOWER
    assert "budget of 15 regions" in repr(part)
    assert {str(claim) for claim in part.findings()["decision_pieces"].claims} == {"LOWER"}


def test_slices_and_refusals():
    network = network_of(5, 8, 3, seed=0)
    found = rs.decision_boundary(network, rs.Slice(np.zeros(5), np.eye(5)[:3], BOX))
    assert found.dim == 3
    for domain in (rs.Space(5), rs.Box(-1, 1, 5), rs.Segment(np.zeros(5), np.ones(5))):
        with pytest.raises(InputError, match="bounded domains of two or three dimensions"):
            rs.decision_boundary(network, domain)
    with pytest.raises(InputError, match=r"decision_boundary\(network, domain\)"):
        rs.decision_boundary(rs.partition(network_of(3, 4, 2, seed=0), BOX))


@pytest.mark.slow
def test_files_and_trimesh(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    found = rs.decision_boundary(network_of(3, 8, 8, 3, seed=0), BOX)
    found.write(tmp_path / "classes.glb", color=found.classes[:, 1])
    assert trimesh.load(tmp_path / "classes.glb", force="mesh").area == pytest.approx(found.area, rel=1e-5)
    mesh = found.to_trimesh(color="region")
    assert mesh.area == pytest.approx(found.area)
    # At a junction three triangles share an edge.
    edges, counts = np.unique(mesh.edges_sorted, axis=0, return_counts=True)
    assert {*map(tuple, edges[counts > 2].tolist())} == {*map(tuple, found.junctions.tolist())}


def test_areas_are_at_least_those_without_their_errors():
    found = rs.decision_boundary(network_of(3, 5, 3, seed=1), rs.Box(-1, 1, 3))
    table = found.findings()["decision_area"]
    assert (table.value - table.lower > 0).all()
    assert (table.value - table.lower).sum() == pytest.approx(found._area_errors.sum(), rel=1e-3)


@pytest.mark.parametrize("num_open", [0, 1])
def test_no_area_is_below_zero_however_far_off_corners_are(num_open):
    whole = rs.decision_boundary(network_of(2, 6, 3, seed=0), rs.Box(-1, 1, 2))
    found = replace(whole, blur=np.full(len(whole.vertices), 10.0), num_open=num_open).findings()["decision_area"]
    assert found.lower.tolist() == [0.0] * len(found.lower)
    assert (found.value == 0.0).all() == (num_open > 0)
    sharp = replace(whole, num_open=num_open).findings()["decision_area"]
    assert (sharp.lower > 0).all()


def test_options_go_with_a_partition_or_with_a_network():
    network, square = network_of(2, 4, 2, seed=0), rs.Box(-1, 1, 2)
    part = rs.partition(network, square)
    for options, words in (
        ({"domain": square}, "takes no domain"),
        ({"tolerance": rs.Tolerance()}, "takes no tolerance"),
        ({"budget": rs.Budget(regions=3)}, "seconds alone"),
    ):
        with pytest.raises(InputError, match=words):
            rs.decision_boundary(part, **options)
    with pytest.raises(InputError, match="domain must be given"):
        rs.decision_boundary(network)
