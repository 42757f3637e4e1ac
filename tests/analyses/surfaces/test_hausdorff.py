"""The distance of two surfaces: closed forms, dense points on both, ends that hold under a budget and under blur."""

from dataclasses import replace

import numpy as np
import pytest

import reluscope as rs
from analyses.surfaces.test_curvature import polar
from analyses.surfaces.test_distance import dense
from partitions import bodies
from partitions.test_level_sets import AROUND, random_network
from reluscope.errors import InputError

BALL = rs.load([(np.r_[np.eye(3), -np.eye(3)], np.zeros(6)), (np.ones((1, 6)), -np.ones(1))])
BOX = rs.Box(-2, 2, 3)


def ends(table):
    column = table["one_sided_distance"]
    return column.value, column.lower, column.upper


def test_a_cube_in_two_cubes_and_balls_in_each_other():
    one, two = (rs.level_set(bodies.by_maxima(boxes), AROUND) for boxes in (bodies.CUBE, bodies.TWO))
    table = rs.surfaces.hausdorff(one, two)
    value, low, high = ends(table)
    assert value.tolist() == pytest.approx([0, np.hypot(2, 1)], abs=1e-12)
    assert ((low <= [1e-12, 5**0.5]) & (high >= [0, 5**0.5])).all()
    whole = table.summary.finding("hausdorff_distance")
    assert float(whole) == pytest.approx(5**0.5)
    assert str(whole.claim) == "EXACT"
    assert table.details["points"][1][0] == pytest.approx(3)
    assert table.details["nearest"][1][0] == pytest.approx(1)


def test_the_farthest_point_may_be_inside_a_face():
    # From the wall of a slab to two far cubes' faces: the middle between them is the farthest, no vertex of anything.
    wall = rs.level_set(rs.load([(np.array([[0.0, 0.0, 1.0]]), np.zeros(1))]), rs.Box(-1, 1, 3))
    rods = [((-1.5, -2, 0), (-1, 2, 1)), ((0.5, -2, 0), (2, 2, 1))]
    other = rs.level_set(bodies.by_maxima(rods), rs.Box(-3, 3, 3))
    value, low, high = ends(rs.surfaces.hausdorff(wall, other, precision=1e-5))
    assert low[0] <= 0.75 <= high[0]
    assert value[0] == pytest.approx(0.75, abs=1e-4)
    assert high[0] - low[0] < 1e-4


@pytest.mark.few(1)
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_beside_dense_points(dim, seed):
    boxes = rs.Box(-1, 1, dim)
    one, two = (rs.level_set(random_network(dim, 7, 5, 1, seed=which), boxes) for which in (seed, seed + 10))
    table = rs.surfaces.hausdorff(one, two, precision=1e-3)
    value, low, high = ends(table)
    for row, (source, target) in enumerate(((one, two), (two, one))):
        cloud, spacing = dense(source, 12)
        reached = rs.surfaces.distance(target, cloud)["surface_distance"]
        assert reached.value.max() <= high[row] + 1e-12
        assert low[row] <= reached.upper.max() + spacing
        assert high[row] - low[row] < 2e-2
        at = rs.surfaces.distance(target, table.details["points"][row : row + 1])["surface_distance"]
        assert at.value[0] == pytest.approx(value[row])


def test_the_search_ends_where_ends_are_as_near_as_was_asked():
    one, two = (rs.level_set(random_network(3, 7, 5, 1, seed=seed), rs.Box(-1, 1, 3)) for seed in (0, 10))
    diagonal = np.linalg.norm(np.ptp(np.concatenate([one.vertices, two.vertices]), axis=0))
    for precision in (0.2, 0.02, 1e-3):
        value, low, high = ends(rs.surfaces.hausdorff(one, two, precision=precision))
        assert (high - value <= precision * diagonal + 1e-9).all()
        assert (value - low <= 1e-9).all()
        if precision == 0.2:  # and there is no work for more
            assert (high - value > 0.1).all()


def test_a_surface_is_nowhere_from_itself():
    for network in (BALL, polar(0)):
        found = rs.level_set(network, BOX)
        value, low, high = ends(rs.surfaces.hausdorff(found, found))
        assert (low == 0).all()
        assert (value < 1e-12).all()
        assert (high < 1e-9).all()


def test_a_budget_leaves_wide_ends():
    one, two = (rs.level_set(random_network(3, 9, 7, 1, seed=seed), rs.Box(-1, 1, 3)) for seed in (0, 1))
    fine = rs.surfaces.hausdorff(one, two, precision=1e-3)
    table = rs.surfaces.hausdorff(one, two, precision=1e-12, budget=rs.Budget(seconds=0.0))
    assert table.stopped
    assert (table["one_sided_distance"].upper >= fine["one_sided_distance"].lower).all()
    assert (table["one_sided_distance"].lower <= fine["one_sided_distance"].upper).all()


def test_blur_of_both_is_in_the_ends():
    small, large = (rs.level_set(BALL, BOX, level=level) for level in (0.0, 0.5))
    for blurred, other in ((small, large), (large, small)):
        wide = replace(blurred, blur=np.full(len(blurred.vertices), 1e-3))
        for pair in ((wide, other), (other, wide)):
            value, low, high = ends(rs.surfaces.hausdorff(*pair))
            assert ((value - low > 9e-4) & (high - value > 9e-4)).all()


def test_what_is_not_whole_or_not_there():
    small, empty = rs.level_set(BALL, BOX), rs.level_set(BALL, BOX, level=50.0)
    assert ends(rs.surfaces.hausdorff(small, empty))[0].tolist() == [np.inf, 0]
    assert ends(rs.surfaces.hausdorff(empty, empty))[0].tolist() == [0, 0]
    network = random_network(3, 12, 12, 1, seed=2)
    part = rs.level_set(network, rs.Box(-1, 1, 3), budget=rs.Budget(regions=20))
    whole = rs.level_set(network, rs.Box(-1, 1, 3))
    _, low, high = ends(rs.surfaces.hausdorff(part, whole, precision=1e-2))
    assert (low[1], high[0]) == (0, np.inf)
    _, low, high = ends(rs.surfaces.hausdorff(replace(small, num_undecided=1), small, precision=1e-2))
    assert (low.tolist(), high.tolist()) == ([0, 0], [np.inf, np.inf])
    flat = rs.level_set(rs.load([(np.eye(2)[:1], np.zeros(1))]), rs.Box(-1, 1, 2))
    with pytest.raises(InputError, match="3 dimensions"):
        rs.surfaces.hausdorff(small, flat)
