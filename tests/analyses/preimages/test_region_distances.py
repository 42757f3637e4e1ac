"""Distances to the features of regions: what is proved only where the partition is complete."""

import numpy as np
import pytest

import reluscope as rs
from empty_partitions import empty_partition
from networks.models import layers
from reluscope.analyses.preimages import region_distances
from reluscope.analyses.preimages.region_distances import RELATIVE
from reluscope.errors import InputError, ShapeError

BOX = rs.Box(-1, 1, 2)


def answer(found):
    """Whether features come from elsewhere; None if that is open."""
    truth = found.finding("is_reached_from_elsewhere")
    return bool(truth.value) if truth.claim == "EXACT" else None


def distance(found):
    return found.finding("distance_from_elsewhere")


def folds(number=6):
    """A zigzag of one input: the features of any point are those of many regions."""
    places = np.linspace(-0.9, 0.9, number)
    slopes = np.array([2.0 * (-1) ** k for k in range(number)])
    return rs.load([(np.ones((number, 1)), -places), (slopes[None], np.zeros(1))])


def test_an_incomplete_partition_proves_no_no():
    net, box = rs.load(layers([2, 80, 60, 3], seed=1)), rs.Box(-2, 2, 2)
    part = rs.partition(net, box, budget=rs.Budget(regions=40))
    assert part.claim == "LOWER"
    x = part[0].witness
    tiny = rs.preimages.reached_from_elsewhere(net, x, 1e-9, domain=part)
    assert answer(tiny) is None
    assert (distance(tiny).claim, distance(tiny).tolerance) == ("UPPER", None)
    assert distance(tiny).interval == (0.0, distance(tiny).value)
    yes = rs.preimages.reached_from_elsewhere(net, x, 1.01 * distance(tiny).value, domain=part)
    assert answer(yes) is True
    net = rs.load(layers([2, 6, 3], seed=1))
    whole = rs.partition(net, box)
    proved = rs.preimages.reached_from_elsewhere(net, whole[0].witness, 1e-9, domain=whole)
    assert answer(proved) is False
    assert (distance(proved).claim, distance(proved).interval) == ("EXACT", None)
    goal = net(whole[0].witness).numpy().ravel()
    assert proved.summary["distance_from_elsewhere"].scale[0] == pytest.approx(np.abs(goal).max())


def test_the_ball_is_closed_and_lists_what_it_meets_in_order():
    net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])  # |x|
    box = rs.Box(-1, 2, 1)
    found = rs.preimages.reached_from_elsewhere(net, [1.5], 0.5, domain=box)  # |x| <= 1 on the other side, 0.5 away
    assert answer(found) is True
    assert found["distance_from_region"].value == pytest.approx([0.5])
    assert distance(found).value == pytest.approx(0.5)
    assert answer(rs.preimages.reached_from_elsewhere(net, [1.5], 0.499, domain=box)) is False
    zigzag = folds()
    part = rs.partition(zigzag, rs.Box(-1, 1, 1))
    found = rs.preimages.reached_from_elsewhere(zigzag, [0.1], 0.05, domain=part)
    (own,), rows = found.summary.details["own"], found.keys["region"].tolist()
    distances = found["distance_from_region"].value
    assert (np.diff(distances) >= 0).all()
    assert own not in rows
    # Every region whose features meet the ball is there: its ends say which it spans.
    goal = float(zigzag([[0.1]])[0, 0])
    meets = []
    for row in range(len(part)):
        ends = zigzag(part[row].polyhedron.vertices()).numpy().ravel()
        gap = max(ends.min() - goal, goal - ends.max(), 0.0)
        if row != own and gap <= 0.05 - 1e-9:
            meets.append((row, gap))
    assert sorted(rows) == [row for row, _ in meets]
    for row, gap in meets:
        assert distances[rows.index(row)] == pytest.approx(gap, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("domain", [BOX, rs.Space(2)])
def test_boxes_around_features_leave_out_nothing_that_is_near(domain):
    net = rs.load(layers([2, 6, 3], seed=4))
    part = rs.partition(net, domain)
    goals = 3 * np.random.default_rng(0).normal(size=(6, 3))
    assert region_distances._lower(part, goals[-1]).any() == isinstance(domain, rs.Box)
    for goal in goals:
        below = region_distances._lower(part, goal)
        every = region_distances._nearest(part, goal, np.arange(len(part)), np.inf)
        assert len(every) == len(part)
        for one in every:
            assert below[one.row] <= one.distance + 1e-9
        best = min(one.distance for one in every)
        found = rs.preimages.distance_to_range(net, goal, domain=part)
        assert found["distance_to_image"].value[0] == pytest.approx(best, rel=1e-9, abs=1e-9)
        assert np.allclose(net(found.details["points"]).numpy(), found.details["features"], atol=1e-6)
        some = region_distances._nearest(part, goal, np.arange(len(part)), best + 0.5)
        expected = {one.row for one in every if one.distance <= best + 0.5}
        assert expected <= {one.row for one in some}


def test_features_outside_a_box_around_one_region():
    """The box of one region, by hand: below it, above it, and within it."""
    net = rs.load([(np.eye(2), 5 * np.ones(2)), (np.eye(2), np.zeros(2))])  # x + 5 on the box
    part = rs.partition(net, BOX)
    assert len(part) == 1
    slack = RELATIVE * 9.0
    assert region_distances._lower(part, np.array([9.0, 5.0])) == pytest.approx([3.0 - slack], abs=1e-12)
    slack = RELATIVE * 5.0
    assert region_distances._lower(part, np.array([1.0, 5.0])) == pytest.approx([3.0 - slack], abs=1e-12)
    assert region_distances._lower(part, np.array([4.5, 5.5])) == pytest.approx([0.0])


@pytest.mark.parametrize("epsilon", [-0.1, np.nan, np.inf])
def test_radii_that_are_none(epsilon):
    with pytest.raises(InputError, match="epsilon must be"):
        rs.preimages.reached_from_elsewhere(folds(), [0.0], epsilon, domain=rs.Box(-1, 1, 1))
    found = rs.preimages.reached_from_elsewhere(folds(), [0.0], 0.0, domain=rs.Box(-1, 1, 1))
    assert found.summary["is_reached_from_elsewhere"].given == "within 0"


def test_other_bad_input():
    net, box = folds(), rs.Box(-1, 1, 1)
    with pytest.raises(ShapeError, match="one point, got 2"):
        rs.preimages.reached_from_elsewhere(net, [[0.0], [0.5]], 0.1, domain=box)
    with pytest.raises(InputError, match="in a region of the partition"):
        rs.preimages.reached_from_elsewhere(net, [5.0], 0.1, domain=box)
    with pytest.raises(InputError, match="another network"):
        rs.preimages.distance_to_range(net, [0.0], domain=rs.partition(rs.load(layers([1, 3, 1])), box))
    with pytest.raises(ShapeError, match="expected 1 features, got 2"):
        rs.preimages.distance_to_range(net, [0.0, 1.0], domain=box)


@pytest.mark.parametrize("size", [1e-3, 1e3])
def test_tolerances_are_relative_to_the_distance_and_the_features(size):
    net = rs.load([(size * np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    found = rs.preimages.distance_to_range(net, [0.5 * size, 3.0 * size], domain=BOX)
    column = found["distance_to_image"]
    assert column.scale == 3.0 * size
    assert column.tolerance == pytest.approx(1e-6 * column.value)


def test_no_region_is_said_to_be_farther_than_is_proved(monkeypatch):
    """Distances of which less is proved, nothing, and by rounding more."""
    point = np.zeros(1)
    told = [region_distances._Nearest(0.05, lower, row, point, point) for row, lower in enumerate((0.03, -1.0, 0.06))]
    monkeypatch.setattr(region_distances, "_nearest", lambda *_: told)
    found = rs.preimages.reached_from_elsewhere(folds(), [0.1], 0.1, domain=rs.Box(-1, 1, 1))
    assert found["distance_from_region"].value.tolist() == [0.05] * 3
    assert found["distance_from_region"].lower.tolist() == [0.03, 0.0, 0.05]


def test_rounding_of_features_near_the_origin_counts_from_one():
    net = rs.load([(np.eye(2), 5 * np.ones(2)), (np.eye(2), np.zeros(2))])
    part = rs.partition(net, BOX)
    for goal, size in (([5.0, 0.0], 5.0), ([0.0, 0.5], 1.0)):
        far = np.linalg.norm(np.maximum(4.0 - np.array(goal), 0.0))
        assert region_distances._lower(part, np.array(goal)) == pytest.approx([far - RELATIVE * size], abs=1e-13, rel=0)


def test_without_corners_nothing_is_known_of_the_distance():
    net = rs.load(layers([8, 3, 2], seed=0))
    part = rs.partition(net, rs.Box(-1, 1, 8), method="tree")
    assert not part.has_vertices
    assert region_distances._lower(part, np.full(2, 1e3)).tolist() == [0.0] * len(part)
    plane = rs.load(layers([2, 3, 2], seed=0))
    assert region_distances._lower(empty_partition(plane, BOX), np.ones(2)).tolist() == []


def test_a_region_as_far_as_the_radius_is_looked_at(monkeypatch):
    net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])  # |x|
    part = rs.partition(net, rs.Box(-1, 2, 1))
    far = np.where(part.witnesses[:, 0] < 0, 0.5, 0.0)
    monkeypatch.setattr(region_distances, "_lower", lambda *_: far)
    for radius, number in ((0.5, 2), (0.499, 1)):
        found = region_distances._nearest(part, np.array([1.5]), np.arange(2), radius)
        assert [round(one.distance, 6) for one in found] == [0.0, 0.5][:number]


@pytest.mark.parametrize(("place", "size"), [(5.0, 5.0), (0.25, 0.25)])
def test_distances_from_regions_are_exact_for_the_size_of_the_features(place, size):
    net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])  # |x|
    found = rs.preimages.reached_from_elsewhere(net, [place], 0.5, domain=rs.Box(-6, 6, 1))
    assert found["distance_from_region"].tolerance == pytest.approx([1e-9 * size], rel=1e-9, abs=0)


@pytest.mark.parametrize(("lower", "said"), [(0.5, None), (0.51, False)])
def test_a_ball_is_not_reached_if_that_is_proved_of_all_of_it(monkeypatch, lower, said):
    """Its border belongs to it: a region that is as far as the radius, as far as is proved, may reach it."""
    point = np.zeros(1)
    monkeypatch.setattr(
        region_distances, "_nearest", lambda *_: [region_distances._Nearest(0.6, lower, 0, point, point)]
    )
    assert answer(rs.preimages.reached_from_elsewhere(folds(), [0.1], 0.5, domain=rs.Box(-1, 1, 1))) is said
