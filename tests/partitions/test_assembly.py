"""Chunks joined at their seams: facets matched, also where the two sides were cut at different places."""

import numpy as np
import pytest

import reluscope as rs
from partitions.checking import check_equal, check_structure, truth_on
from partitions.layered import network_of
from reluscope.codes.compressed_words import CompressedWords
from reluscope.partitions.ask.dispatch import partition
from reluscope.partitions.table.assembly import Patch, assemble


def patch(corners, cells, seams, words):
    """A chunk of polygons given by their corners; ``seams`` maps a side (two corners) to a number."""
    points = np.array(corners, dtype=float)
    sides, left, right = [], [], []
    for number, cell in enumerate(cells):
        for side in zip(cell, cell[1:] + cell[:1], strict=True):
            key = tuple(sorted(side))
            if key in sides:
                right[sides.index(key)] = number
            else:
                sides.append(key)
                left.append(number)
                right.append(-1)
    return Patch(
        points,
        np.cumsum([0, *map(len, cells)]),
        np.concatenate(cells).astype(np.int32),
        np.array(sides, dtype=np.int64),
        np.array(left),
        np.array(right),
        np.array([seams.get(side, -1) for side in sides]),
        np.zeros(len(cells), dtype=np.int64),
        CompressedWords.of(np.array(words, dtype=np.uint64)[:, None]),
        np.zeros(len(points)),
        np.zeros(len(cells), dtype=bool),
    )


def lower(words, cuts=(), noise=0.0):
    """The rectangle [0, 3] x [-1, 0], cut at some places of its upper side."""
    xs = [0, *cuts, 3]
    corners = [(x, y + noise * (y == 0)) for y in (-1, 0) for x in xs]
    number = len(xs)
    cells = [[i, i + 1, number + i + 1, number + i] for i in range(number - 1)]
    return patch(corners, cells, {(number + i, number + i + 1): 5 for i in range(number - 1)}, words)


def upper(words, cuts=()):
    """The rectangle [0, 3] x [0, 1], cut at some places of its lower side."""
    xs = [0, *cuts, 3]
    corners = [(x, y) for y in (0, 1) for x in xs]
    number = len(xs)
    cells = [[i, i + 1, number + i + 1, number + i] for i in range(number - 1)]
    return patch(corners, cells, {(i, i + 1): 5 for i in range(number - 1)}, words)


def join(*patches, length=1e-9):
    return assemble(list(patches), 2, 1, length)[0]


def neighbours(regions):
    left, right, _ = regions.facets.inner
    pairs = np.sort(np.stack([regions.words[left, 0], regions.words[right, 0]], axis=1), axis=1)
    return sorted(map(tuple, pairs.tolist()))


def euler(regions):
    return len(regions.corners.vertices) - len(regions.facets.ends) + len(regions.words)


def test_equal_cuts_on_both_sides():
    regions = join(lower([1, 2, 3], (1, 2), noise=1e-12), upper([4, 5, 6], (1, 2)))
    assert neighbours(regions) == [(1, 2), (1, 4), (2, 3), (2, 5), (3, 6), (4, 5), (5, 6)]
    assert (len(regions.corners.vertices), euler(regions), regions.num_unmatched) == (12, 1, 0)


def test_one_side_is_not_cut():
    regions = join(lower([1, 2, 3], (1, 2)), upper([4]))
    assert neighbours(regions) == [(1, 2), (1, 4), (2, 3), (2, 4), (3, 4)]
    assert (len(regions.corners.vertices), euler(regions), regions.num_unmatched) == (10, 1, 0)


def test_sides_that_are_cut_at_different_places():
    regions = join(lower([1, 2], (1,)), upper([4, 5], (2,)))
    assert neighbours(regions) == [(1, 2), (1, 4), (2, 4), (2, 5), (4, 5)]
    assert (euler(regions), regions.num_unmatched) == (1, 0)


def test_equal_numbers_of_cuts_at_different_places():
    regions = join(lower([1, 2, 3], (0.5, 2)), upper([4, 5, 6], (1, 2)))
    assert neighbours(regions) == [(1, 2), (1, 4), (2, 3), (2, 4), (2, 5), (3, 6), (4, 5), (5, 6)]
    assert (euler(regions), regions.num_unmatched) == (1, 0)


def test_equal_codes_across_a_seam_are_one_region():
    regions = join(lower([1, 2, 3], (1, 2)), upper([1, 2, 3], (1, 2)))
    assert len(regions.words) == 3
    assert neighbours(regions) == [(1, 2), (2, 3)]
    assert euler(regions) == 1
    ends = regions.corners.vertices[regions.facets.inner[2]]
    assert sorted(np.sort(end[:, 1]).tolist() for end in ends) == [[-1.0, 1.0], [-1.0, 1.0]]


def test_all_codes_equal_leave_one_region_with_its_outline():
    regions = join(lower([1, 1, 1], (1, 2)), upper([1, 1], (1.5,)))
    assert len(regions.words) == 1
    assert (regions.facets.right == -1).all()
    assert euler(regions) == 1


def test_a_seam_beside_unfinished_work_is_boundary():
    regions = join(lower([1, 2, 3], (1, 2)))
    assert len(regions.words) == 3
    assert neighbours(regions) == [(1, 2), (2, 3)]
    assert regions.num_unmatched == 0


def test_sides_that_do_not_face_each_other_are_counted():
    shifted = patch([(2, 0), (5, 0), (5, 1), (2, 1)], [[0, 1, 2, 3]], {(0, 1): 5}, [4])
    regions = join(lower([1, 2, 3], (1, 2)), shifted)
    assert regions.num_unmatched == 1
    assert neighbours(regions) == [(1, 2), (2, 3), (3, 4)]


def test_no_patches_make_an_empty_regions():
    regions, roots = assemble([], 2, 3, 1e-9)
    assert (len(roots), regions.words.shape, regions.corners.vertices.shape) == (0, (0, 3), (0, 2))


@pytest.mark.parametrize("cells", [1, 2, 5])
def test_max_cuts_that_end_at_a_seam(cells, chunks_of):
    # The first gate makes strips; in the right half all candidates of the second are dominated by the last.
    layers = [
        ("affine", [[1.0, 0], [0, 1], [1, 0]], [0.0, 0, -0.5]),
        ("pointwise", [0.0], [0.0, 1.0], [0.0, 0.0]),
        ("affine", [[0.0, 1, 0], [0, -1, 0], [0, 2, 0], [9, 0, 0]], [-0.25, 0.25, -1, 0]),
        ("max", [[0, 1, 2, 3], [3, 1, 0]]),
    ]
    chunks_of(cells)
    part = rs.partition(network_of(layers, 2), rs.Box(-1, 1, 2))
    check_equal(part, truth_on(layers, rs.Box(-1, 1, 2)))
    check_structure(part)


def test_a_partition_with_unequal_seams_can_be_saved(tmp_path, chunks_of):
    generator = np.random.default_rng(3)
    layers, fan_in = [], 2
    for _ in range(3):
        layers += [("affine", generator.normal(size=(15, fan_in)), 0.5 * generator.normal(size=15))]
        layers += [("max", [[3 * unit, 3 * unit + 1, 3 * unit + 2] for unit in range(5)])]
        fan_in = 5
    chunks_of(4)
    part = partition(network_of(layers, 2), rs.Box(-2, 2, 2))
    check_structure(part)
    part.save(tmp_path / "part")
    assert rs.Partition.load(tmp_path / "part").geometry.num_unmatched == 0
