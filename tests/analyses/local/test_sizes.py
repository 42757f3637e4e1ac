"""Sizes and shares of regions against the regions' own polygons and exact areas of classes."""

import numpy as np
import pytest

import reluscope as rs
from reluscope.testing import default_network


@pytest.fixture(scope="module")
def net():
    return rs.load(default_network([2, 8, 6, 3], 5))


BOX = rs.Box(-2, 2, 2)


def test_sizes_of_plane_regions_are_exact(net) -> None:
    points = np.random.default_rng(0).uniform(-2, 2, (5, 2))
    found = rs.local.region_sizes(net, points, domain=BOX)
    assert found.is_done.tolist() == [True] * 5
    for row, region in enumerate(rs.regions(net, points, domain=BOX)):
        corners = region.polyhedron.vertices()
        across = np.linalg.norm(corners[:, None] - corners[None], axis=2).max()
        assert (
            found.finding("diameter", row).claim
            == found.finding("minimal_width", row).claim
            == found.finding("inradius", row).claim
            == "EXACT"
        )
        assert float(found.finding("diameter", row)) == pytest.approx(across)
        # Of a polygon the least extent is across one of its sides.
        normals = region.polyhedron.A[[group[0] for group in region.polyhedron.facets()]]
        normals = normals / np.linalg.norm(normals, axis=1, keepdims=True)
        assert float(found.finding("minimal_width", row)) == pytest.approx(np.ptp(corners @ normals.T, axis=0).min())
        assert 2 * float(found.finding("inradius", row)) <= float(found.finding("minimal_width", row)) * (1 + 1e-9)


def test_claims_in_more_dimensions() -> None:
    net = rs.load(default_network([8, 12, 3], 1))
    points = np.random.default_rng(1).uniform(-1, 1, (2, 8))
    found = rs.local.region_sizes(net, points, domain=rs.Box(-1, 1, 8))
    for row in range(2):
        width, diameter = found.finding("minimal_width", row), found.finding("diameter", row)
        assert (width.claim, diameter.claim) == ("UPPER", "LOWER")
        assert width.interval[1] == width.value
        assert 2 * float(found.finding("inradius", row)) <= width.interval[0] * (1 + 1e-9)
        assert diameter.value == diameter.interval[0] <= diameter.interval[1] == pytest.approx(2 * np.sqrt(8))


def test_unbounded_and_missing_regions() -> None:
    net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    found = rs.local.region_sizes(net, [[1.0, 1.0]])
    assert [
        float(f)
        for f in (found.finding("inradius", 0), found.finding("minimal_width", 0), found.finding("diameter", 0))
    ] == [np.inf] * 3
    assert found.finding("diameter", 0).claim == "EXACT"
    # On the kink, where the tie rule's code is a half-line.
    flat = rs.load([([[1.0, 0.0], [-1.0, 0.0]], [0.0, 0.0]), (np.ones((1, 2)), np.zeros(1))])
    assert rs.local.region_sizes(flat, [[0.0, 1.0]], domain=BOX).status == ("undefined",)
    assert rs.local.class_shares(flat, [[0.0, 1.0]], domain=BOX).status == ("undefined",) * 2


def interval(finding) -> tuple[float, float]:
    assert finding.interval is not None
    return finding.interval


def test_shares_are_those_of_exact_areas(net) -> None:
    points = np.random.default_rng(2).uniform(-2, 2, (4, 2))
    found = rs.local.class_shares(net, points, domain=BOX, draws=100, chains=16, seed=3)
    inside = 0
    for row, region in enumerate(rs.regions(net, points, domain=BOX)):
        weight, bias = region.map.weight[0].numpy(), region.map.bias[0].numpy()
        for label in range(3):
            others = np.arange(3) != label
            rivals = rs.Polyhedron((weight - weight[label])[others], (bias[label] - bias)[others])
            truth = region.polyhedron.intersect(rivals).volume() / region.polyhedron.volume()
            low, high = interval(found.where(sample=row, label=label).finding("class_share"))
            inside += low <= truth <= high
            assert low - (high - low) <= truth <= high + (high - low)
    assert inside >= 8  # of 12 intervals of 95 %, each by itself: fewer come once in 60,000 draws
    assert found["class_share"].value.reshape(4, 3).sum(axis=1) == pytest.approx(np.ones(4))


def test_mean_distances_are_those_of_a_square() -> None:
    """The mean distance from the centre of a square of side 2 is (sqrt 2 + log(1 + sqrt 2)) / 3."""
    net = rs.load([([[1.0, 0.0]], [0.0])])
    found = rs.local.mean_distances(net, [[0.0, 0.0]], domain=rs.Box(-1, 1, 2), draws=200)
    low, high = interval(found.finding("mean_distance_in_region"))
    truth = (np.sqrt(2) + np.log(1 + np.sqrt(2))) / 3
    assert low - (high - low) <= truth <= high + (high - low)
    assert high - low < 0.05


def test_a_class_that_no_point_shows_may_still_be_there() -> None:
    net = rs.load([([[1.0, 0.0]], [-5.0])])
    found = rs.local.class_shares(net, [[0.0, 0.0]], domain=rs.Box(-1, 1, 2), draws=5, chains=8)
    assert found["class_share"].value.tolist() == [1.0, 0.0]
    assert found["class_share"].upper[1] == pytest.approx(1 - 0.025 ** (1 / 8))
    with pytest.raises(rs.errors.InputError, match="two chains"):
        rs.local.class_shares(net, [[0.0, 0.0]], domain=BOX, chains=1)


def test_time_and_interruption(net, monkeypatch) -> None:
    points = np.random.default_rng(4).uniform(-2, 2, (3, 2))
    assert rs.local.region_sizes(net, points, domain=BOX, budget=rs.Budget(seconds=0.0)).stopped == "time"
    asked = []
    original = rs.Polyhedron.width

    def width(polyhedron):
        asked.append(1)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return original(polyhedron)

    monkeypatch.setattr(rs.Polyhedron, "width", width)
    found = rs.local.region_sizes(net, points, domain=BOX)
    assert (found.stopped, found.is_done.tolist()) == ("interrupted", [True, False, False])
    assert np.isnan(found["diameter"].value).tolist() == [False, True, True]
