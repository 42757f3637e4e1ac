"""Subdivision by affine functions: counts in one to three dimensions, degenerate cuts, and what is left undecided."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geometry.test_complexes import cube, lists_of
from oracles.codes_by_lp import codes_by_lp
from oracles.fractions_plane import rectangle, split
from oracles.zaslavsky import num_cells
from reluscope._kernels import column_ranges, interpolate, steepest
from reluscope.geometry.cutting.complexes import Complex, from_polygon, from_segments
from reluscope.geometry.cutting.splitting import (
    NOISE_MINUS,
    NOISE_PLUS,
    Placement,
    Subdivision,
    subdivide,
)

TINY = 1e-13


def square() -> tuple[Complex, np.ndarray]:
    return from_polygon(4), np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]])


def interval() -> tuple[Complex, np.ndarray]:
    return from_segments(1), np.array([[-1.0], [1.0]])


SHAPES = {1: interval, 2: square, 3: cube}


def cut_by(cells: Complex, points: np.ndarray, weight, bias, *, limit: int = 10**6) -> Subdivision:
    heights = points @ np.asarray(weight, dtype=float).T + np.asarray(bias, dtype=float)
    seams = np.full(cells.size[cells.dim - 1], -1)
    bound, slopes = np.full(heights.shape[1], TINY), np.linalg.norm(weight, axis=1)
    placement = Placement.exact(cells, points)
    return subdivide(cells, placement, seams, heights, rounding=bound, slopes=slopes, floor=bound, limit=limit)


def split_by(cells: Complex, points: np.ndarray, heights, seams=None, *, rounding=0.0, floor=0.0) -> Subdivision:
    """Cut by one or more functions given at the vertices, with the same bounds and slopes of 1."""
    heights = np.array(heights, dtype=float)
    number = heights.shape[1]
    return subdivide(
        cells,
        Placement.exact(cells, points),
        np.full(cells.size[cells.dim - 1], -1) if seams is None else np.array(seams),
        heights,
        rounding=np.full(number, rounding),
        slopes=np.ones(number),
        floor=np.full(number, floor),
        limit=99,
    )


def points_of(work: Subdivision, points: np.ndarray) -> np.ndarray:
    grown = np.vstack([points, np.zeros((len(work.tail), points.shape[1]))])
    interpolate(grown, work.tail, work.head, work.share)
    return grown


def check(work: Subdivision, points: np.ndarray, weight, bias) -> None:
    """Euler's relation, heights that are the functions, signs that are true at the cells' centres."""
    cells, dim = work.complex, work.complex.dim
    assert sum((-1) ** k * int(number) for k, number in enumerate(cells.size)) == 1
    where = points_of(work, points)
    values = where @ np.asarray(weight, dtype=float).T + bias
    np.testing.assert_allclose(work.heights, values, atol=1e-12)
    centers = np.array([where[ids].mean(axis=0) for ids in lists_of(cells.cell_vertices())])
    np.testing.assert_array_equal(work.positive, centers @ np.asarray(weight, dtype=float).T + bias > 1e-12)
    assert len(np.unique(work.positive, axis=0)) == cells.num_cells
    left, right = cells.cofaces()
    for facet, ids in enumerate(lists_of(cells.vertex_lists()[0])):
        assert len(ids) >= dim
        if right[facet] >= 0:
            flips = np.flatnonzero(work.positive[left[facet]] != work.positive[right[facet]])
            assert len(flips)
            assert not work.heights[np.ix_(ids, flips)].any()
        else:  # on the boundary of the box
            assert (np.abs(where[ids]).min(axis=0) == 1).any()


@pytest.mark.few(2)
@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("number", [1, 4, 9])
def test_planes_in_general_position(dim, number):
    cells, points = SHAPES[dim]()
    generator = np.random.default_rng(number)
    weight, bias = generator.normal(size=(number, dim)), 0.3 * generator.normal(size=number)
    work = cut_by(cells, points, weight, bias)
    check(work, points, weight, bias)
    expected = codes_by_lp([(weight, bias), (np.ones((1, number)), [0.0])], box=(-1, 1))
    assert sorted(map(tuple, work.positive.astype(int).tolist())) == expected
    assert work.complex.num_cells <= num_cells(number, dim)
    assert (work.num_done, work.num_undecided) == (number, 0)
    assert (work.parent == 0).all()


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_planes_through_corners_edges_and_a_common_point(dim):
    cells, points = SHAPES[dim]()
    weight = np.array([[1.0, 0, 0], [1, 1, 0], [1, -1, 0], [1, 1, 1], [0, 1, 1], [2, 2, 2], [1, 0, 0]])[:, :dim]
    bias = np.array([0.0, 0, 0, 0, 0, 0, 1])
    work = cut_by(cells, points, weight, bias)
    check(work, points, weight, bias)
    assert sorted(map(tuple, work.positive.astype(int).tolist())) == codes_by_lp(
        [(weight, bias), (np.ones((1, 7)), [0.0])], box=(-1, 1)
    )


@settings(max_examples=60)
@given(st.lists(st.tuples(*[st.integers(-3, 3)] * 3), min_size=1, max_size=7))
def test_integer_lines_against_the_oracle(lines):
    table = np.array(lines, dtype=float)
    cells, points = square()
    work = cut_by(cells, points, table[:, :2], table[:, 2])
    check(work, points, table[:, :2], table[:, 2])
    truth = split([(table[:, :2], table[:, 2]), (np.ones((1, len(lines))), [0.0])], rectangle(-1, 1))
    assert sorted(map(tuple, work.positive.astype(int).tolist())) == sorted(piece.code for piece in truth)
    assert work.num_undecided == 0


@settings(max_examples=25)
@given(st.lists(st.tuples(*[st.integers(-2, 2)] * 4), min_size=1, max_size=5))
def test_integer_planes_in_space(planes):
    table = np.array(planes, dtype=float)
    cells, points = cube()
    work = cut_by(cells, points, table[:, :3], table[:, 3])
    check(work, points, table[:, :3], table[:, 3])
    expected = codes_by_lp([(table[:, :3], table[:, 3]), (np.ones((1, len(planes))), [0.0])], box=(-1, 1))
    assert sorted(map(tuple, work.positive.astype(int).tolist())) == expected


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_cutting_in_two_calls_is_cutting_in_one(dim):
    cells, points = SHAPES[dim]()
    generator = np.random.default_rng(dim)
    weight, bias = generator.normal(size=(6, dim)), 0.3 * generator.normal(size=6)
    once = cut_by(cells, points, weight, bias)
    first = cut_by(cells, points, weight[:3], bias[:3])
    second = cut_by(first.complex, points_of(first, points), weight[3:], bias[3:])
    assert second.complex.size.tolist() == once.complex.size.tolist()
    both = np.hstack([first.positive[second.parent], second.positive])
    assert sorted(map(tuple, both.tolist())) == sorted(map(tuple, once.positive.tolist()))


def test_the_limit_stops_after_a_whole_cut():
    cells, points = square()
    weight, bias = np.array([[1.0, 0]] * 8), np.linspace(-0.8, 0.8, 8)
    work = cut_by(cells, points, weight, bias, limit=4)
    assert (work.num_done, work.complex.num_cells) == (4, 5)
    np.testing.assert_allclose(work.heights, points_of(work, points) @ weight.T + bias, atol=1e-15)


def test_seams_are_inherited_by_the_halves_of_a_facet_and_not_by_new_facets():
    cells, points = square()
    heights = points @ np.array([[1.0, 0.25], [0.0, 1.0]]).T
    work = split_by(cells, points, heights, [7, -1, 8, -1])
    where = points_of(work, points)
    for ids, seam in zip(lists_of(work.complex.vertex_lists()[0]), work.seams, strict=True):
        middle = where[ids].mean(axis=0)
        assert seam == (7 if middle[1] == -1 else 8 if middle[1] == 1 else -1)
    on_line = split_by(*interval(), [[-1.0], [1.0]], [3, 4])
    assert on_line.seams.tolist() == [3, 4, -1]


@pytest.mark.parametrize(
    ("height", "rounding", "floor", "cells", "undecided"),
    [
        (1e-3, 1e-6, 1e-4, 2, 0),  # clear
        (1e-5, 1e-6, 1e-4, 1, 1),  # above rounding, below the resolution
        (1e-5, 1e-4, 1e-6, 1, 1),  # above the resolution, but it may be rounding
        (1e-7, 1e-6, 1e-4, 1, 0),  # zero for both
        (1e-7, 1e-5, 1e-6, 1, 0),  # known well enough for the resolution
        (1e-7, 1e-4, 1e-6, 1, 1),  # nearly zero, but what it truly is may be far above the resolution
        (0.0, 0.0, 0.0, 1, 0),
    ],
)
def test_a_sign_between_the_bounds_is_undecided(height, rounding, floor, cells, undecided):
    # One corner of a triangle is cut off, or not.
    triangle, points = from_polygon(3), np.array([[0.0, 0], [1, 0], [0, 1]])
    work = split_by(triangle, points, [[height], [-1.0], [-1.0]], rounding=rounding, floor=floor)
    assert (work.complex.num_cells, work.num_undecided) == (cells, undecided)
    assert work.heights[0, 0] == (height if cells == 2 else 0.0)
    assert work.snapped[0] == (0.0 if cells == 2 else height)


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("signs", [0, NOISE_PLUS, NOISE_MINUS, NOISE_PLUS | NOISE_MINUS])
def test_flat_cells_remember_what_was_decided_to_be_zero(dim, signs):
    cells, points = SHAPES[dim]()
    heights = np.zeros((len(points), 1))
    heights[0] = 1e-15 if signs & NOISE_PLUS else 0
    heights[-1] = -1e-15 if signs & NOISE_MINUS else 0
    work = split_by(cells, points, heights, rounding=1e-14)
    assert (work.sides.tolist(), work.num_undecided) == ([[signs]], 0)
    assert work.positive.tolist() == [[signs == NOISE_PLUS]]


def test_a_crossing_is_as_blurred_as_it_is_slanted():
    """The first line is known to 1e-10; a crossing at an angle of 10^-k is known to 10^k times as much."""
    cells, points = square()
    for tilt in (1.0, 1e-2, 1e-4):
        heights = points @ np.array([[0.0, 1.0], [tilt, 1.0]]).T
        work = split_by(cells, points, heights, rounding=1e-10)
        meeting = int(np.flatnonzero(np.abs(work.placement.points).max(axis=1) < 1e-9)[0])
        expected = 2e-10 / tilt  # its own error, and that of the first line
        assert expected / 2 < work.placement.blur[meeting] < 2 * expected
        assert work.placement.skew[4:].max() < 4e-10
        # A third function is in doubt there, and nowhere else.
        third = np.concatenate([work.heights, work.placement.points[:, :1] - expected / 2], axis=1)[:, 2:]
        again = subdivide(
            work.complex,
            work.placement,
            work.seams,
            third,
            rounding=np.full(1, 1e-12),
            slopes=np.ones(1),
            floor=np.full(1, 1e-12),
            limit=99,
        )
        assert again.heights[meeting, 0] == 0
        assert again.num_undecided == 1


def test_a_cut_from_corner_to_corner_knows_its_slope():
    cells, points = square()
    work = split_by(cells, points, points @ np.array([[1.0], [1.0]]), rounding=1e-10)
    # The diagonal starts and ends at corners, where nothing is made; a step along a side raises the function by it.
    np.testing.assert_allclose(work.placement.skew, [0, 0, 0, 0, 1e-10])


def test_signs_that_no_affine_function_has_leave_the_cell_whole():
    # + - + - around a square: rounding can do that, and then nothing is claimed.
    work = split_by(*square(), [[1.0], [-1.0], [1.0], [-1.0]])
    assert (work.complex.num_cells, work.num_undecided) == (1, 1)
    assert sum((-1) ** k * int(number) for k, number in enumerate(work.complex.size)) == 1


def test_many_cuts_grow_all_arrays():
    cells, points = square()
    angle = np.pi * (np.arange(60) + 0.4) / 60
    weight = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    generator = np.random.default_rng(0)
    bias = 0.02 * generator.normal(size=60)
    work = cut_by(cells, points, weight, bias)
    check(work, points, weight, bias)
    assert work.complex.num_cells == num_cells(60, 2)


def test_column_ranges_and_slopes():
    low, high = column_ranges(np.array([[1.0, -1.0, 1e-9], [2.0, 1.0, -1e-8]]))
    assert (low.tolist(), high.tolist()) == ([1, -1, -1e-8], [2, 1, 1e-9])
    points = np.array([[0.0, 0.0], [0.0, 2.0], [4.0, 2.0]])
    slopes = steepest(np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 9.0]]), points, np.array([0, 1, 1, 2], dtype=np.int32))
    assert slopes.tolist() == [0.5, 2.0]
