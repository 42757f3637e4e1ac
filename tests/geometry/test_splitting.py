"""Subdivision by affine functions: counts in one to three dimensions, degenerate cuts, and what is left undecided."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geometry.test_complexes import cube, lists_of
from oracles.codes_by_lp import codes_by_lp
from oracles.fractions_plane import rectangle, split
from oracles.zaslavsky import num_cells
from reluscope.geometry.complexes import Complex, from_polygon, from_segments
from reluscope.geometry.splitting import Subdivision, column_signs, interpolate, steepest, subdivide

TINY = 1e-13


def square() -> tuple[Complex, np.ndarray]:
    return from_polygon(4), np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]])


def interval() -> tuple[Complex, np.ndarray]:
    return from_segments(1), np.array([[-1.0], [1.0]])


SHAPES = {1: interval, 2: square, 3: cube}


def cut_by(cells: Complex, points: np.ndarray, weight, bias, *, limit: int = 10**6) -> Subdivision:
    heights = points @ np.asarray(weight, dtype=float).T + np.asarray(bias, dtype=float)
    seams = np.full(cells.size[cells.dim - 1], -1)
    bound = np.full(heights.shape[1], TINY)
    return subdivide(cells, seams, heights, rounding=bound, floor=bound, limit=limit)


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
    for facet, ids in enumerate(lists_of(cells.facet_vertices())):
        assert len(ids) >= dim
        if right[facet] >= 0:
            flips = np.flatnonzero(work.positive[left[facet]] != work.positive[right[facet]])
            assert len(flips)
            assert not work.heights[np.ix_(ids, flips)].any()
        else:  # on the boundary of the box
            assert (np.abs(where[ids]).min(axis=0) == 1).any()


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
    work = subdivide(cells, np.array([7, -1, 8, -1]), heights, rounding=np.zeros(2), floor=np.zeros(2), limit=99)
    where = points_of(work, points)
    for ids, seam in zip(lists_of(work.complex.facet_vertices()), work.seams, strict=True):
        middle = where[ids].mean(axis=0)
        assert seam == (7 if middle[1] == -1 else 8 if middle[1] == 1 else -1)
    on_line = subdivide(*interval()[:1], np.array([3, 4]), np.array([[-1.0], [1.0]]), rounding=np.zeros(1),
                        floor=np.zeros(1), limit=9)  # fmt: skip
    assert on_line.seams.tolist() == [3, 4, -1]


@pytest.mark.parametrize(
    ("height", "rounding", "floor", "cells", "undecided"),
    [
        (1e-3, 1e-6, 1e-4, 2, 0),  # clear
        (1e-5, 1e-6, 1e-4, 1, 1),  # above rounding, below the resolution
        (1e-5, 1e-4, 1e-6, 1, 1),  # above the resolution, but it may be rounding
        (1e-7, 1e-6, 1e-4, 1, 0),  # zero for both
        (0.0, 0.0, 0.0, 1, 0),
    ],
)
def test_a_sign_between_the_bounds_is_undecided(height, rounding, floor, cells, undecided):
    # One corner of a triangle is cut off, or not.
    triangle = from_polygon(3)
    values = np.array([[height], [-1.0], [-1.0]])
    work = subdivide(triangle, np.full(3, -1), values, rounding=np.array([rounding]), floor=np.array([floor]), limit=9)
    assert (work.complex.num_cells, work.num_undecided) == (cells, undecided)
    assert work.heights[0, 0] == (height if cells == 2 else 0.0)


def test_signs_that_no_affine_function_has_leave_the_cell_whole():
    # + - + - around a square: rounding can do that, and then nothing is claimed.
    cells, _ = square()
    values = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    work = subdivide(cells, np.full(4, -1), values, rounding=np.zeros(1), floor=np.zeros(1), limit=9)
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


def test_column_signs_and_slopes():
    heights = np.array([[1.0, -1.0, 1e-9, 1e-9, 0.5], [2.0, 1.0, -1e-9, 1.0, -1e-9]])
    above, below, within = column_signs(heights, np.full(5, 1e-6))
    assert above.tolist() == [True, True, False, True, True]
    assert below.tolist() == [False, True, False, False, False]
    assert within.tolist() == [False, False, True, True, True]
    assert heights[:, 2].tolist() == [0.0, 0.0]
    assert heights[0, 3] == 1e-9
    slopes = steepest(
        np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 9.0]]), np.array([0, 1]), np.array([1, 2]), np.array([2.0, 4])
    )
    assert slopes.tolist() == [0.5, 2.0]
