"""Trees of boxes against a recursion in plain Python, and rays and boxes against fractions."""

from fractions import Fraction

import numpy as np
import pytest

from reluscope.analyses.surfaces.box_tree import BoxTree, at_most, gaps
from reluscope.analyses.surfaces.rays import _candidates


def boxes(rng, number, dim=3):
    """Return boxes of all sizes, some of them flat."""
    low = rng.normal(size=(number, dim)) * 10.0 ** rng.integers(-2, 2, (number, 1))
    return low, low + rng.random((number, dim)) * (rng.random((number, dim)) < 0.7)


def halved(things, places, leaves):
    """Return things in the order of leaves, -1 where there is none: halves at the middle of the widest side."""
    if leaves == 1:
        return things or [-1]
    if things:
        widths = [max(side) - min(side) for side in zip(*(places[thing] for thing in things), strict=True)]
        things = sorted(things, key=lambda thing: places[thing][widths.index(max(widths))])
    return halved(things[: leaves // 2], places, leaves // 2) + halved(things[leaves // 2 :], places, leaves // 2)


@pytest.mark.parametrize("number", [0, 1, 2, 3, 7, 16, 21])
def test_groups_are_halved_at_the_middle_of_their_widest_side(number):
    low, high = boxes(np.random.default_rng(number), number)
    tree = BoxTree(low, high)
    leaves = 1
    while leaves < number:
        leaves *= 2
    assert tree._things[tree._things >= 0].tolist() == [
        thing for thing in halved([*range(number)], ((low + high) / 2).tolist(), leaves) if thing >= 0
    ]
    assert len(tree._things) == max(leaves, 1)


@pytest.mark.parametrize("number", [0, 1, 5, 40])
def test_questions_look_at_all_things_whose_boxes_they_keep(number):
    rng = np.random.default_rng(number)
    low, high = boxes(rng, number)
    points, looked = rng.normal(size=(30, 3)), []

    def keep(rows, lows, highs):
        looked.append(len(rows))
        return gaps(points[rows], lows, highs) <= 0.5

    found = sorted(zip(*(one.tolist() for one in BoxTree(low, high).pairs(30, keep)), strict=True))
    every = [(row, thing) for row in range(30) for thing in range(number)]
    assert found == [pair for pair in every if distance(points[pair[0]], low[pair[1]], high[pair[1]]) <= 0.5]


def distance(point, low, high):
    return float(np.sqrt(sum(max(a - x, x - b, 0.0) ** 2 for x, a, b in zip(point, low, high, strict=True))))


def test_gaps_are_distances_to_boxes():
    rng = np.random.default_rng(0)
    low, high = boxes(rng, 200)
    points = np.where(rng.random((200, 3)) < 0.3, (low + high) / 2, rng.normal(size=(200, 3)))
    assert gaps(points, low, high) == pytest.approx([distance(*row) for row in zip(points, low, high, strict=True)])


def test_distances_that_rounding_may_have_made_larger_count():
    ulp = 2.0**-52
    distances = np.array([1.0, 1 + 8 * ulp, 1 + 64 * ulp, 1 + 1e-9])
    assert at_most(distances, np.ones(4)).tolist() == [True, True, False, False]


def meets(origin, way, low, high):
    """Return whether a ray meets a box, in fractions: the latest entrance is not behind the first exit."""
    enters, leaves = Fraction(0), None
    for o, d, a, b in zip(*(map(Fraction, one.tolist()) for one in (origin, way, low, high)), strict=True):
        if d == 0:
            if not a <= o <= b:
                return False
            continue
        one, two = sorted([(a - o) / d, (b - o) / d])
        enters, leaves = max(enters, one), two if leaves is None else min(leaves, two)
    return leaves is None or enters <= leaves


@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_rays_that_barely_meet_boxes_look_into_them(scale):
    """Boxes that are points on a ray, edges or corners that it touches, and others."""
    rng = np.random.default_rng(3)
    origins = rng.integers(-9, 10, (400, 3)) / 7 * scale
    ways = rng.integers(-3, 4, (400, 3)) / 3
    ways[~ways.any(axis=1)] = 1.0
    where = origins + rng.integers(0, 9, (400, 1)) / 5 * scale * ways
    sides = rng.integers(0, 3, (400, 3)) * scale / 11
    low = where - np.where(rng.random((400, 3)) < 0.5, sides, 0.0)
    high = np.maximum(low, np.where(rng.random((400, 3)) < 0.5, where + sides, where))
    found = [len(_candidates(BoxTree(low[[row]], high[[row]]), origins[[row]], ways[[row]])[0]) for row in range(400)]
    truth = [meets(origins[row], ways[row], low[row], high[row]) for row in range(400)]
    assert all(one or not other for one, other in zip(found, truth, strict=True))


def test_rays_that_rounding_moves_past_a_point_look_into_its_box():
    """The whole step to a point is rounded on every axis, and in fractions the ray meets it."""
    rng, moved = np.random.default_rng(5), 0
    for _ in range(200):
        step, way = int(rng.integers(2**52, 2**54)), rng.choice([-9, -7, -5, -3, -1, 1, 3, 5, 7, 9], 3)
        point = np.array([float(step * int(one)) for one in way])
        origin = np.array([float(int(end) - step * int(one)) for end, one in zip(point, way, strict=True)])
        way = way.astype(float)
        assert meets(origin, way, point, point)
        assert len(_candidates(BoxTree(point[None], point[None]), origin[None], way[None])[0]) == 1
        moved += len({*((point - origin) / way).tolist()}) > 1
    assert moved > 50


def test_boxes_that_rays_from_far_away_meet_are_candidates():
    """Points on a ray whose origin is far out beside them: what rounding takes is a share of the origin."""
    generator = np.random.default_rng(0)
    for _ in range(300):
        way, far = generator.normal(size=3), 10.0 ** generator.integers(3, 9)
        origin = -way * far
        step = Fraction(far)
        exact = [Fraction(a) + step * Fraction(b) for a, b in zip(origin.tolist(), way.tolist(), strict=True)]
        point = np.array([[float(entry) for entry in exact]])
        ends = np.nextafter(point, -np.inf), np.nextafter(point, np.inf)
        assert len(_candidates(BoxTree(*ends), origin[None], way[None])[0]) == 1
