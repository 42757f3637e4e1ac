"""How far corners and sides of regions are from the true ones, against rows in fractions."""

import itertools
from dataclasses import replace
from fractions import Fraction
from inspect import unwrap
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope.geometry.numbers.resolutions import CORNERS
from reluscope.partitions.corner_errors import corner_errors, side_errors, stored_side_errors, volume_errors
from reluscope.partitions.table.largest_discs import largest_discs


class Largest(torch.nn.Module):
    """The larger of two affine functions, times 2."""

    def __init__(self, weight, bias):
        super().__init__()
        self.weight, self.bias = (torch.nn.Parameter(torch.from_numpy(one)) for one in (weight, bias))

    def forward(self, x):
        return 2 * (x @ self.weight.T + self.bias).amax(dim=1, keepdim=True)


@pytest.mark.parametrize("angle", [1e-3, 1e-5, 1e-7])
def test_sides_that_are_nearly_parallel_are_known_better_than_the_corner_where_they_meet(angle):
    weight, bias = np.array([[1.0, 0.3], [1.0, 0.3 + angle]]), np.array([0.1, 0.1 + angle / 7])
    part = rs.partition(rs.load([(weight, bias), (np.ones((1, 2)), np.zeros(1))]), rs.Box(-1, 1, 2))
    assert len(part) == 4
    sides, corners = side_errors(part), corner_errors(part)
    assert sides.max() < 1e-10
    assert (corners.max() > 1e-9) == (angle < 1e-4)
    for place, facet in enumerate(part.facets.vertices):
        ((_, unit),) = part.facets.flips_at(place).tolist()
        row = [Fraction(entry) for entry in (*weight[unit].tolist(), bias[unit].item())]
        for x, y in part.vertices[facet].tolist():
            distance = abs(row[0] * Fraction(x) + row[1] * Fraction(y) + row[2])  # rows are at least as long as 1
            assert distance <= min(sides.max(), corners.max())


@pytest.mark.parametrize("dim", [1, 2, 3, 4])
def test_sides_of_units_that_hardly_vary_are_known_as_badly_as_rounding_moves_them(dim):
    """Two forms whose slopes differ by 5e-12 cross where rounding says; seen red: 8.6e-6 off, and 6e-11 allowed."""
    weight = np.full((2, dim), -1.75)
    weight[0] -= 5.25e-12
    bias = np.array([0.875000000001, 0.875])
    module = Largest(weight, bias)
    part = rs.partition(rs.load(module, input_shape=(dim,)), rs.Box(-1, 1, dim))
    row = [Fraction(one) - Fraction(other) for one, other in zip(*weight.tolist(), strict=True)]
    level = Fraction(bias[0].item()) - Fraction(bias[1].item())
    length = float(np.linalg.norm([float(one) for one in row]))
    allowed = side_errors(part)
    assert len(part) == 2
    for place, (low, high) in enumerate(itertools.pairwise(part.region_vertices[0])):
        for vertex in part.vertices[part.region_vertices[1][low:high]].tolist():
            if min(map(abs, vertex)) < 1:  # no corner of the domain
                value = sum(a * Fraction(x) for a, x in zip(row, vertex, strict=True)) + level
                assert abs(float(value)) / length <= allowed[place]
    assert allowed.max() < 5e-2
    truth = part.volumes().sum()
    assert truth == pytest.approx(2.0**dim)


@pytest.fixture
def nearly_equal():
    """Cells in space that are cut where two functions are equal whose slopes differ by 5e-12."""
    weight = np.full((2, 3), -1.75)
    weight[0] -= 5.25e-12
    layers = [(weight, np.array([8.875000000001, 8.875])), (np.array([[1.0, -1.0]]), np.zeros(1))]
    return rs.partition(rs.load([*layers, (np.ones((1, 1)), np.zeros(1))]), rs.Box(-1, 1, 3), method="cellwise")


def test_files_keep_how_well_sides_are_known(nearly_equal, tmp_path):
    """Seen red: without the network volumes were EXACT that were 1e-5 off."""
    assert 1e-7 < side_errors(nearly_equal).max() < 0.1
    nearly_equal.save(tmp_path / "part.arrow")
    alone = rs.Partition.load(tmp_path / "part.arrow")
    np.testing.assert_array_equal(side_errors(alone), side_errors(nearly_equal))
    kept = alone.geometry.take(np.array([1])).side_errors
    np.testing.assert_array_equal(kept, side_errors(nearly_equal)[1:])


def test_sides_of_an_early_file_are_unknown(nearly_equal, tmp_path):
    early = replace(nearly_equal, network=None)
    assert np.isinf(side_errors(early)).all()
    early.save(tmp_path / "part.arrow")
    assert np.isinf(side_errors(rs.Partition.load(tmp_path / "part.arrow"))).all()


@pytest.mark.parametrize("seed", range(20))
def test_short_sides_of_polygons_far_from_the_origin_cut_nothing_off(seed):
    """A side of two rounding steps has any direction; seen red: it cut parts off regions, and made discs smaller."""
    generator = np.random.default_rng(seed)
    weight, middle = generator.integers(-8, 9, (5, 2)) / 4, np.array([1e9, -1e9]) + generator.integers(-8, 9, 2) / 7
    layers = [
        (weight, -(weight @ middle)),
        (generator.integers(-8, 9, (5, 5)) / 4, np.zeros(5)),
        (np.ones((1, 5)), np.zeros(1)),
    ]
    part = rs.partition(rs.load(layers), rs.Box(middle - 0.3, middle + 0.2))
    volumes, radii = part.volumes(), largest_discs(part.vertices, *part.region_vertices)
    for place in range(len(part)):
        body, corners = part[place].polyhedron, part[place].vertices
        assert (corners @ body.A.T <= body.b + 1e-6).all()
        assert abs(body.volume() - volumes[place]) <= 2e-6
        around = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1).sum()
        assert (radii[place] + 2e-6) * (around + 2e-6) >= volumes[place] - 2e-6  # as for any convex polygon


class Fake(SimpleNamespace):
    """What is asked of a partition of two regions, or of so many."""

    number = 2

    def __len__(self):
        return self.number


def test_regions_without_corners_take_what_the_engine_lets_pass():
    """One of two has none: the largest coordinate and the width of all corners say how far sides may be."""
    vertices = np.array([[0.0, 0.0], [3.0, 4.0]])
    part = Fake(
        vertices=vertices,
        has_vertices=True,
        tolerance=rs.Tolerance(resolution=2.0**-30),
        region_vertices=(np.array([0, 0, 2]), np.array([0, 1])),
    )

    found = unwrap(side_errors)(part)
    assert found.tolist() == [32 * 2.0**-30 * 5 + CORNERS * 4] * 2
    inside = Fake(has_vertices=False, witnesses=vertices, tolerance=part.tolerance)
    assert unwrap(side_errors)(inside).tolist() == [2 * found[0]] * 2


def test_corners_are_off_by_their_blur_and_the_rounding_of_coordinates():
    """Corners of the domain are not; without blur all are off by a share of how large, or how far apart they are."""
    vertices = np.array([[0.0, 0.0], [8.0, 1.0], [-3.0, -16.0], [0.5, 0.25]])
    blur = np.array([0.0, 1e-9, 0.0, 1e-18])
    geometry = SimpleNamespace(corners=SimpleNamespace(vertex_blur=blur))
    part = Fake(vertices=vertices, geometry=geometry, tolerance=rs.Tolerance(resolution=2.0**-30))
    expected = [0.0, 1e-9 + 32 * 2.0**-52, 0.0, 1e-18 + 2 * 2.0**-52]
    find = unwrap(corner_errors)
    assert find(part).tolist() == pytest.approx(expected, rel=1e-12, abs=0)
    assert find(part, np.array([3, 1])).tolist() == pytest.approx([expected[3], expected[1]], rel=1e-12, abs=0)
    part.geometry = SimpleNamespace(corners=None)
    assert find(part).tolist() == pytest.approx([(CORNERS + 2.0**-30) * np.hypot(11, 17)] * 4)
    part.vertices = vertices + 1000.0
    assert find(part, np.array([2])).tolist() == pytest.approx([(CORNERS + 2.0**-30) * 1008.0])
    part.vertices = vertices[:0]
    assert find(part).tolist() == []


@pytest.mark.parametrize("carried", [True, False])
def test_sides_are_off_by_corners_or_by_rows_where_these_are_known_better(carried, monkeypatch):
    """The worst corner of each region; of three that are worse than the engine lets pass rows say the rest."""
    vertices = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0], [0.0, 4.0]])
    offsets, ids = np.array([0, 2, 4, 6, 8]), np.array([0, 1, 1, 2, 2, 3, 3, 0])
    tolerance = rs.Tolerance(resolution=2.0**-40)
    most = 32 * 2.0**-40 * 5 + CORNERS * 4
    corners = np.array([0.5, 9.0, 2.0, 0.25]) * most
    blur = np.ones(4) if carried else None
    rows = np.array([3.0, 20.0, 0.5, 4.0]) * most
    part = Fake(
        vertices=vertices,
        has_vertices=True,
        tolerance=tolerance,
        region_vertices=(offsets, ids),
        geometry=SimpleNamespace(corners=SimpleNamespace(vertex_blur=blur), side_errors=None),
        network=True,
        dim=2,
        number=4,
    )
    names = unwrap(side_errors).__globals__
    monkeypatch.setitem(names, "corner_errors", lambda part: corners)
    monkeypatch.setitem(names, "_row_errors", lambda part, asked, width: rows[asked] * (width == 5.0))
    found = unwrap(side_errors)(part) / most
    assert found.tolist() == pytest.approx([3.0, 9.0, 1.0, 0.5] if carried else [9.0, 20.0, 2.0, 4.0])
    part.dim = 1
    if carried:
        assert (unwrap(side_errors)(part) / most).tolist() == pytest.approx([9.0, 9.0, 2.0, 0.5])
    part.network = None
    part.dim = 2
    assert (unwrap(side_errors)(part) / most).tolist() == pytest.approx(
        [9.0, 9.0, 2.0, 0.5] if carried else [np.inf] * 4
    )


@pytest.mark.parametrize("memory", [0, 16 * 2 * 4])
def test_rows_are_moved_by_their_noise_if_regions_can_reach_them(memory, monkeypatch):
    """Noise of the constant and, over the width, of every slope; a row that noise cannot bring within reach is none."""
    normals = np.array(
        [[[3.0, 4.0], [0.0, 2.0], [0.0, 0.0], [1.0, 0.0]], [[0.6, 0.8], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]]
    )
    rows = SimpleNamespace(
        normals=normals,
        noise=np.array([[0.5, 0.25, 0.0, 0.125], [0.25, 0.125, 8.0, 0.0]]),
        constant_below=np.array([[0.0, 0.125, 0.0, 0.0], [0.25, 0.0, 0.0, 0.0]]),
        exists=np.array([[True, True, False, True], [True, True, False, True]]),
        slack=np.array([[10.5, 9.0, 0.0, 2.125], [2.0, 2.5, 0.0, 9.0]]),
    )
    asked = []

    def at(points, tolerance):
        asked.append(points)
        place = len(asked) - 1
        one = {name: getattr(rows, name)[place : place + 1] for name in vars(rows)}
        return SimpleNamespace(half_spaces=[SimpleNamespace(**one)])

    network = SimpleNamespace(num_units=4, at=at)
    part = Fake(network_on_domain=network, dim=2, witnesses=np.array([[1.0, 1.0], [2.0, 2.0]]), tolerance=None)
    names = unwrap(side_errors).__globals__
    monkeypatch.setitem(names, "MEMORY", memory)
    found = names["_row_errors"](part, np.array([1, 0]), 2.0)
    expected = []
    for place in range(2):
        worst = 0.0
        for k in range(4):
            noise = rows.noise[place, k] + rows.constant_below[place, k] * 2 * 2
            length = float(np.hypot(*normals[place, k]))
            if rows.exists[place, k] and rows.slack[place, k] - noise <= length * 2:
                worst = max(worst, noise / length)
        expected.append(worst)
    assert found.tolist() == pytest.approx(expected)
    assert [points.tolist() for points in asked] == [[[2.0, 2.0]], [[1.0, 1.0]]]


def test_volumes_are_off_by_twice_the_surface_of_boxes_times_what_is_moved():
    ends = np.array([[[0.0, 0.0, 1.0], [2.0, 3.0, 5.0]], [[0.0, 0.0, 0.0], [0.0, 1.0, 1.0]]])
    for moved in (0.0, 0.25):
        found = volume_errors(np.full(2, moved), ends)
        for one, (low, high) in zip(found.tolist(), ends, strict=True):
            a, b, c = high - low + 2 * moved
            assert one == pytest.approx(2 * moved * (a * b + b * c + c * a))


def test_sides_that_nothing_is_known_of_are_finite_in_files(nearly_equal, monkeypatch):
    monkeypatch.setitem(unwrap(stored_side_errors).__globals__, "side_errors", lambda part: np.full(len(part), np.inf))
    (errors,) = stored_side_errors(nearly_equal).values()
    assert np.isfinite(errors).all()
    assert (errors > 1e300).all()


def test_files_keep_errors_of_sides_only_where_corners_carry_none(nearly_equal):
    plain = rs.partition(rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]), rs.Box(-1, 1, 2))
    assert plain.geometry.corners.vertex_blur is not None
    assert stored_side_errors(plain) == {}
    assert set(stored_side_errors(nearly_equal)) == {"side_errors"}
    without = replace(nearly_equal, geometry=replace(nearly_equal.geometry, corners=None))
    assert stored_side_errors(without) == {}
