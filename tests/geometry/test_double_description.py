"""Polytopes cut one by one, against polytopes in fractions, and what is counted, widened and refused."""

import os
import subprocess
import sys
from collections import defaultdict
from itertools import product

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope.geometry.cutting import double_description
from reluscope.geometry.cutting.double_description import CutPolytopes, cut_cells
from reluscope.geometry.cutting.polytopes import INNER, Polytopes
from reluscope.geometry.polyhedra.rational_polytopes import RationalPolytope
from reluscope.partitions.cells.first_cells import first_cells


def cells_of(window: rs.Box | rs.Polyhedron) -> Polytopes:
    dim = window.dim
    return first_cells(rs.load([(np.eye(dim), np.zeros(dim))]), window, rs.Tolerance()).cells


def cut_by(
    cells: Polytopes,
    rows,
    breakpoints=None,
    *,
    errors=0.0,
    rounding=1e-15,
    relative=1e-12,
    resolution=0.0,
    words=None,
    **room,
) -> CutPolytopes:
    """Cut all cells by the same functions, rows ``(a, q)`` of ``a x + q``."""
    rows = np.asarray(rows, dtype=float)
    number, width = rows.shape
    breakpoints = np.zeros((1, number)) if breakpoints is None else np.asarray(breakpoints, dtype=float)
    piece_words, zero_words = words or random_words(number, len(breakpoints))
    return cut_by_all(
        cells,
        np.tile(rows, (len(cells), 1, 1)),
        np.full((len(cells), number, width), errors),
        breakpoints,
        piece_words,
        zero_words,
        rounding=rounding,
        resolution=np.append(np.full(width - 1, resolution), 0.0),
        relative=relative,
        **room,
    )


# Flat units, middles, which are bounded, and corners.
NOT_COMPARED = (np.zeros((0, 4), dtype=np.int64), np.zeros((0, 0)), np.zeros(0, dtype=bool), *([np.zeros(0)] * 4))


def cut_by_all(cells: Polytopes, maps, *tables, **how) -> CutPolytopes:
    """Cut again and again, until all units have cut all cells."""
    num_units = maps.shape[1]
    parents, next_units = np.arange(len(cells)), np.zeros(len(cells), dtype=np.int64)
    pieces = np.zeros((len(cells), num_units), dtype=np.uint16)
    done, num_undecided = [], 0
    while len(cells) or not done:
        found = cut_cells(cells, maps, *tables, **how, map_of_cell=parents, first_units=next_units)
        num_undecided += found.num_undecided
        assert (len(found.doubtful) > 0) == (found.num_undecided > 0)
        shown = tables[2][np.arange(num_units), found.pieces]
        units = np.arange(num_units)
        have_cut = (units >= next_units[found.parents, None]) & (units < found.next_units[:, None])
        hashes = np.bitwise_xor.reduce(np.where(have_cut[:, :, None], shown, np.uint64(0)), axis=1)
        np.testing.assert_array_equal(found.hashes, hashes)
        assert found.num_taken > 0 or not len(cells)
        assert (found.parents < found.num_taken).all()
        assert (np.diff(found.parents) >= 0).all()
        # Progress: another unit, or several parts.
        further = found.next_units > next_units[found.parents]
        is_done = found.next_units == num_units
        assert (further | is_done | (np.bincount(found.parents)[found.parents] > 1)).all()
        after = pieces[found.parents] + found.pieces
        done.append((found.cells.select(np.flatnonzero(is_done)), parents[found.parents][is_done], after[is_done]))
        left = np.flatnonzero(~is_done)
        rest = cells.take(found.num_taken, len(cells))
        origin = [parents[found.parents[left]], parents[found.num_taken :]]
        following = [next_units[found.num_taken :], after[left], pieces[found.num_taken :]]
        cells = joined([found.cells.select(left), rest])
        parents, next_units = np.concatenate(origin), np.concatenate([found.next_units[left], following[0]])
        pieces = np.concatenate(following[1:])
    order = np.argsort(np.concatenate([owners for _, owners, _ in done]), kind="stable")
    return CutPolytopes(
        joined([some for some, _, _ in done]).select(order),
        np.concatenate([owners for _, owners, _ in done])[order],
        (pieces := np.concatenate([some for _, _, some in done])[order]),
        np.bitwise_xor.reduce(tables[2][np.arange(num_units), pieces], axis=1),
        np.full(len(order), num_units),
        *NOT_COMPARED,
        len(maps),
        num_undecided,
    )


def joined(parts: list[Polytopes]) -> Polytopes:
    """Cells one after another, all with as many words for their facets."""
    words = max(part.tight.shape[1] for part in parts)
    fields = {}
    for name in parts[0].__dict__:
        rows = [getattr(part, name) for part in parts]
        if name.endswith("offsets"):
            fields[name] = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(row) for row in rows]))])
        elif name == "tight":
            fields[name] = np.concatenate([np.pad(row, ((0, 0), (0, words - row.shape[1]))) for row in rows])
        else:
            fields[name] = np.concatenate(rows)
    return Polytopes(**fields)


def random_words(number: int, num_levels: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(3).integers
    return (
        draw(2**64, size=(number, num_levels + 1, 2), dtype=np.uint64),
        draw(2**64, size=(number, num_levels, 2), dtype=np.uint64),
    )


def parts_of(found: CutPolytopes) -> list[tuple]:
    """Every part by its pieces, its vertices, and the vertices of its facets."""
    cells, parts = found.cells, []
    for cell in range(len(cells)):
        one = cells.take(cell, cell + 1)
        points = [tuple(np.round(row[:-1] / row[-1], 9) + 0.0) for row in one.vertices]
        on = one.tight[:, one.slots // 64] >> (one.slots % 64).astype(np.uint64) & np.uint64(1)
        facets = {frozenset(points[v] for v in np.flatnonzero(column)) for column in on.T}
        assert on.sum() == np.bitwise_count(one.tight).sum()  # nothing but facets
        assert len(set(points)) == len(points)
        parts.append((tuple(found.pieces[cell]), frozenset(points), frozenset(facets)))
    return parts


def parts_in_fractions(whole: RationalPolytope, rows, breakpoints) -> list[tuple]:
    parts = [((), whole)]
    for unit, row in enumerate(rows):
        split = []
        for pieces, part in parts:
            levels = [row_at(row, level[unit]) for level in breakpoints]
            for piece in range(len(levels) + 1):
                above, below = levels[:piece], [tuple(-entry for entry in level) for level in levels[piece:]]
                inside = part.cut([*above, *below])
                if inside is not None:
                    split.append(((*pieces, piece), inside))
        parts = split
    found = []
    for pieces, part in parts:
        points = [tuple(np.round([float(x) for x in point], 9) + 0.0) for point in part.points()]
        facets = frozenset(frozenset(points[v] for v in members) for members in part.facets().values())
        found.append((pieces, frozenset(points), facets))
    return found


def row_at(row, level):
    return (*row[:-1], row[-1] - level)


@pytest.mark.parametrize(("dim", "seed"), list(product((1, 2, 3, 4), range(6))))
def test_parts_of_a_cube_are_those_of_fractions(dim, seed):
    """Small whole numbers: hyperplanes through vertices, along facets and through each other's intersections."""
    generator = np.random.default_rng(seed)
    rows = [tuple(row) for row in generator.integers(-2, 3, (4, dim + 1)).tolist() if any(row[:-1])]
    levels = [[-1] * len(rows), [0] * len(rows)][seed % 2 :]
    found = cut_by(cells_of(rs.Box(-1, 1, dim)), rows, levels)
    expected = parts_in_fractions(RationalPolytope.of(rs.Box(-1, 1, dim)), rows, levels)
    assert len(found.cells) == len(expected)
    assert set(parts_of(found)) == set(expected)
    assert found.num_undecided == 0
    assert (found.parents == 0).all()


def test_vertices_may_share_facets_enough_without_an_edge():
    # An octahedron times a square: at opposite corners, a tip of the octahedron is on the same four facets.
    octahedron = [(*signs, 0, 0) for signs in product((1, -1), repeat=3)]
    square = [(0, 0, 0, *row) for row in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    window = rs.Polyhedron(np.array([*octahedron, *square], dtype=float), np.ones(12))
    rows = [(0, 0, 0, 2, 2, -1), (2, 0, 1, 0, 0, 0)]
    found = cut_by(cells_of(window), rows)
    expected = parts_in_fractions(RationalPolytope.of(window), rows, [[0, 0]])
    assert sorted(len(points) for _, points, _ in expected) == [18, 18, 30, 30]
    assert set(parts_of(found)) == set(expected)
    assert found.num_undecided == 0


@pytest.mark.parametrize("dim", [2, 3, 4, 5])
def test_keys_of_facets_tell_what_all_units_are_there(dim):
    """Among the units one twice, one that is zero everywhere, and one that is zero on a side of the box."""
    generator = np.random.default_rng(dim)
    axes = np.eye(dim + 1)
    rows = np.concatenate([generator.normal(size=(3, dim + 1)), axes[:1], 0 * axes[:1], axes[:2], axes[:1] + axes[-1:]])
    piece_words, zero_words = words = random_words(len(rows), 1)
    found = cut_by(cells_of(rs.Box(-1, 1, dim)), rows, words=words)
    sides = defaultdict(list)
    for cell in range(len(found.cells)):
        one = found.cells.take(cell, cell + 1)
        shown = piece_words[np.arange(len(rows)), found.pieces[cell]]
        keys = one.keys ^ np.bitwise_xor.reduce(shown, axis=0)
        for slot, kind, key in zip(one.slots, one.kinds, keys, strict=True):
            on = one.tight[:, slot // 64] >> np.uint64(slot % 64) & np.uint64(1) == 1
            vanishes = np.abs(one.vertices[on] @ rows.T).max(axis=0) < 1e-9
            expected = np.bitwise_xor.reduce(np.where(vanishes[:, None], zero_words[:, 0], shown), axis=0)
            np.testing.assert_array_equal(key, expected)
            if kind == INNER:
                sides[tuple(key)].append(frozenset(tuple(np.round(row, 9) + 0.0) for row in one.vertices[on]))
    assert len(sides) > len(rows)
    assert all(len(pair) == 2 and pair[0] == pair[1] for pair in sides.values())


def test_slots_are_added_where_there_are_none_left():
    turns = np.arange(90) * 2 * np.pi / 90
    rows = np.column_stack([-np.cos(turns), -np.sin(turns), np.full(90, 0.6)])
    square, corner = cells_of(rs.Box(-2, 2, 2)), rs.Polyhedron([[1.0, 0], [0, 1], [-1, -1]], [1.9, 1.9, -2.0])
    found = cut_by(square, rows)
    inner = found.cells.select(np.flatnonzero((found.pieces == 1).all(axis=1)))
    assert (len(inner), len(inner.vertices), len(inner.slots)) == (1, 90, 90)
    assert sorted(inner.slots) == sorted(set(inner.slots.tolist()))
    assert inner.tight.shape[1] == 2
    assert (np.bitwise_count(inner.tight).sum(axis=1) == 2).all()
    # What has fewer slots to begin with is cut the same, before and after: the rows of every cell are as wide.
    one = cells_of(corner)
    both = Polytopes(
        np.array([0, 3, 7, 10]),
        *(np.concatenate([a, b, a]) for a, b in zip(one.tables[1:4], square.tables[1:4], strict=True)),
        np.array([0, 3, 7, 10]),
        *(np.concatenate([a, b, a]) for a, b in zip(one.tables[5:], square.tables[5:], strict=True)),
    )
    three, alone = cut_by(both, rows), cut_by(one, rows)
    assert alone.cells.tight.shape[1] == 1
    for cell in (0, 2):
        mine = three.cells.select(np.flatnonzero(three.parents == cell))
        for name, table in alone.cells.__dict__.items():
            wider = np.hstack([table, np.zeros_like(table)]) if name == "tight" else table
            np.testing.assert_array_equal(getattr(mine, name), wider)
    middle = three.cells.select(np.flatnonzero(three.parents == 1))
    for table, other in zip(middle.tables, found.cells.tables, strict=True):
        np.testing.assert_array_equal(table, other)


def test_signs_in_doubt_are_counted():
    square = cells_of(rs.Box(-1, 1, 2))
    # At two corners 1e-9 is more than rounding and less than what counts; at none with smaller shares.
    assert cut_by(square, [[1.0, 0, 1 + 1e-9]], relative=1e-6).num_undecided == 2
    assert cut_by(square, [[1.0, 0, 1 + 1e-9]], relative=1e-12).num_undecided == 0
    assert cut_by(square, [[1.0, 0, 1 + 1e-9]], resolution=1e-6).num_undecided == 2
    # An error is doubt, too, where the resolution hides nothing.
    assert cut_by(square, [[1.0, 0, 1 + 1e-9]], errors=1e-6).num_undecided == 2
    assert cut_by(square, [[1.0, 0, 1]], errors=1e-6, relative=1e-6).num_undecided == 0
    # And so is an error of where the corners are.
    blurred = Polytopes(**{**square.__dict__, "errors": np.full_like(square.errors, 1e-6)})
    assert cut_by(blurred, [[1.0, 0, 1 + 1e-9]], relative=1e-12).num_undecided == 2


def test_units_that_floats_call_zero_on_a_whole_part_are_named():
    square = cells_of(rs.Box(-1, 1, 2))
    exact, open_ = [0.0, 0.0, 0.0], [0.0, 0.0, 1e-18]
    errors = np.zeros((1, 4, 3))
    errors[:, 1:3, -1] = 1e-16
    maps = np.array([[exact, exact, open_, [1.0, 0.0, 0.0]]])
    levels, words = np.zeros((1, 4)), np.arange(4 * 3 * 2, dtype=np.uint64).reshape(4, 3, 2)
    resolution = np.array([0.0, 0.0, 1.0])
    how = {"rounding": 1e-15, "resolution": resolution * 1e-9, "relative": 0.0}
    found = cut_cells(square, maps, errors, levels, words[:, :2], words[:, 2:], **how)
    # Nothing hides behind a zero without terms; of the last unit both halves inherit what they lie in.
    assert found.flat_units.tolist() == [[0, 1, 0, 0], [0, 2, 0, 1], [1, 1, 0, 0], [1, 2, 0, 1]]
    assert found.pieces.tolist() == [[0, 0, 0, 0], [0, 0, 0, 1]]
    assert found.num_undecided == 0


def test_cuts_that_rounding_made_impossible_are_counted():
    square = cells_of(rs.Box(-1, 1, 2))
    # Vertices that share no facet have no edges that a cut could cross.
    torn = Polytopes(**{**square.__dict__, "tight": np.zeros_like(square.tight)})
    found = cut_by(torn, [[1.0, 0.5, 0.1]])
    # In the plane two vertices must share one facet.
    assert (len(found.cells), found.num_undecided, found.pieces.tolist()) == (1, 1, [[1]])


def test_what_rounding_left_of_a_facet_is_none():
    square = cells_of(rs.Box(-1, 1, 2))
    top = square.vertices[:, 1] == 1
    slot = next(
        slot for slot in square.slots if (((square.tight[:, 0] >> np.uint64(slot)) & np.uint64(1)) == top).all()
    )
    corner = top & (square.vertices[:, 0] == 1)
    tight = square.tight.copy()
    tight[corner] &= ~(np.uint64(1) << np.uint64(slot))
    found = cut_by(Polytopes(**{**square.__dict__, "tight": tight}), [[0.0, 1.0, 0.0]])
    assert found.pieces.tolist() == [[0], [1]]
    below, above = found.cells.take(0, 1), found.cells.take(1, 2)
    assert (len(below.slots), len(above.slots)) == (4, 3)
    assert slot not in above.slots
    assert not (above.tight & (np.uint64(1) << np.uint64(slot))).any()


def test_crossings_know_how_exactly_they_are_known():
    interval = cells_of(rs.Box(-1, 3, 1))
    low, high = sorted(range(2), key=lambda v: interval.vertices[v, 0])
    assert interval.vertices[[low, high]].tolist() == [[-0.25, 1], [0.75, 1]]
    errors = np.zeros((2, 2))
    errors[[low, high], 0] = 3e-6, 1e-6
    blurred = Polytopes(**{**interval.__dict__, "errors": errors})
    found = cut_by(blurred, [[4.0, -0.5]], errors=1e-7, rounding=1e-9)
    # Heights -3/2 and 5/2, from terms of 3/2 and 7/2; between them 1/8 is crossed, at shares 5/8 and 3/8.
    doubts = 1e-7 * np.array([1.25, 1.75]) + 1e-9 * np.array([1.5, 3.5])
    slide = (5 / 8 * doubts[0] + 3 / 8 * doubts[1] + 4 * 1e-6) / 4
    # Along the interval it slides, and at most as much as the better of the ends it lies beside it.
    expected = [slide + 1e-9 / 8 + 1e-6, 1e-9]
    crossing = found.cells.vertices[:, 0] == 0.125
    assert crossing.sum() == 2
    np.testing.assert_allclose(found.cells.errors[crossing], [expected] * 2, rtol=1e-12)


def test_nothing_to_cut():
    square = cells_of(rs.Box(-1, 1, 2))
    for cells in (square, square.take(0, 0)):
        found = cut_by(cells, np.zeros((0, 3)))
        assert (len(found.cells), found.pieces.shape) == (len(cells), (len(cells), 0))
        for table, other in zip(found.cells.tables, cells.tables, strict=True):
            np.testing.assert_array_equal(table, other)
            assert table.dtype == other.dtype


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("vertex_offsets", lambda table: table + 1, "offsets of cells"),
        ("vertex_offsets", lambda table: table[:-1], "offsets of cells"),
        ("facet_offsets", lambda table: table - 1, "offsets of cells"),
        ("errors", lambda table: table[:-1], "errors and facets"),
        ("tight", lambda table: table[:-1], "errors and facets"),
        ("kinds", lambda table: table[:-1], "a kind and a key"),
        ("flat", lambda table: table[:, :1], "a kind and a key"),
        ("slots", lambda table: table + 61, "slots for which"),
        ("slots", lambda table: table - 1, "slots for which"),
        ("vertices", lambda table: table[:, :-1], "errors and facets"),
    ],
)
def test_tables_that_do_not_fit(name, change, message):
    square = cells_of(rs.Box(-1, 1, 2))
    with pytest.raises(ValueError, match=message):
        cut_by(Polytopes(**{**square.__dict__, name: change(getattr(square, name))}), np.eye(3))


def test_units_that_do_not_fit():
    square = cells_of(rs.Box(-1, 1, 2))
    with pytest.raises(ValueError, match="coefficients of every unit"):
        cut_by(square, np.eye(4))
    with pytest.raises(ValueError, match="words for all breakpoints"):
        cut_by(square, np.eye(3), np.zeros((2, 3)), words=random_words(3, 1))


def test_whatever_the_room_the_parts_are_the_same():
    """One part at a time, few, or all at once; along edges, or by the general method where units go through corners."""
    for rows in (np.random.default_rng(8).normal(size=(7, 4)), np.vstack([np.eye(4)[:3], np.ones((2, 4))])):
        words, levels = random_words(len(rows), 2), np.array([[-0.3] * len(rows), [0.2] * len(rows)])
        cells = cells_of(rs.Box(-1, 1, 3))
        whole = cut_by(cells, rows, levels, words=words)
        for room in ({"max_parts": 1}, {"max_parts": 5}, {"max_vertices": 40}):
            found = cut_by(cells, rows, levels, words=words, **room)
            assert found.num_undecided == whole.num_undecided == 0
            assert len(found.cells) == len(whole.cells)
            assert set(parts_of(found)) == set(parts_of(whole))
            assert sorted(keys_of(found, words)) == sorted(keys_of(whole, words))


def keys_of(found: CutPolytopes, words) -> list[tuple[int, ...]]:
    owner = np.repeat(np.arange(len(found.cells)), np.diff(found.cells.facet_offsets))
    shown = np.bitwise_xor.reduce(words[0][np.arange(found.pieces.shape[1]), found.pieces], axis=1)
    return [tuple(key) for key in (found.cells.keys ^ shown[owner]).tolist()]


@pytest.mark.parametrize("dim", [1, 2, 3, 5, 7])
def test_simple_cells_are_cut_as_others_are(dim):
    """A general cell beside it, or a unit of no sign: the general method cuts the same cell, number for number."""
    generator = np.random.default_rng(dim)
    rows = generator.normal(size=(5, dim + 1)) * [*[1.0] * dim, 0.3]
    words, cells = random_words(6, 1), cells_of(rs.Box(-1, 1, dim))
    simple = cut_by(cells, rows, words=tuple(table[:5] for table in words))
    # A unit that is zero everywhere is in doubt at every vertex.
    general = cut_by(cells, np.vstack([rows, np.zeros(dim + 1)]), words=words)
    assert len(simple.cells) > 2
    assert numbers_of(simple) == numbers_of(general)


def numbers_of(found: CutPolytopes) -> list[tuple]:
    cells = found.cells
    return sorted(
        (tuple(found.pieces[cell, :5].tolist()), sorted(np.hstack([one.vertices, one.errors]).tolist()))
        for cell in range(len(cells))
        for one in [cells.take(cell, cell + 1)]
    )


def test_without_room_there_is_room_for_a_part():
    square = cells_of(rs.Box(-1, 1, 2))
    assert len(cut_by(square, np.eye(3)[:2], max_parts=0).cells) == 4


@pytest.mark.parametrize("kept", [{}, {"is_last": True}, {"is_last": True, "keeps_vertices": False}])
@pytest.mark.parametrize("room", [{}, {"max_parts": 400}, {"max_vertices": 2000, "max_units": 5}])
def test_any_number_of_threads_makes_the_same_tables(monkeypatch, room, kept):
    """Cells along edges, cells by the general method and units that are zero on whole cells, between them."""
    monkeypatch.setattr(double_description, "THREADED_WORK", 0)
    rng = np.random.default_rng(5)
    many = cut_by(cells_of(rs.Box(-1, 1, 3)), rng.normal(size=(8, 4)) * [1, 1, 1, 0.3]).cells
    maps = rng.normal(size=(len(many), 12, 4)) * [1, 1, 1, 0.5]
    maps[1::3, 2] = 0.0
    maps[2::3, 4] = 1.0
    errors = np.zeros_like(maps)
    errors[1::3, 2, -1] = 1e-16
    words, levels = random_words(12, 1), np.zeros((1, 12))
    found = []
    for num_threads in (1, 2, 4, 20):
        monkeypatch.setattr(torch, "get_num_threads", lambda number=num_threads: number)
        resolution = np.array([0.0, 0.0, 0.0, 1e-9])
        how = {"rounding": 1e-15, "resolution": resolution, "relative": 1e-12}
        found.append(cut_cells(many, maps, errors, levels, *words, **how, **room, **kept))
    first = found[0]
    assert (len(first.middles) > 0, len(first.corners) > 0) == (
        "is_last" in kept,
        len(kept) == 1 and not room.get("max_units"),
    )
    assert len(first.cells) > 200
    assert len(first.flat_units) > 1
    assert len(np.unique(first.flat_units[:, 0])) > 1
    assert (first.num_taken < len(many)) == bool(room)
    for other in found[1:]:
        assert (other.num_taken, other.num_undecided) == (first.num_taken, first.num_undecided)
        for one, two in zip(tables_of(first) + ends_of(first), tables_of(other) + ends_of(other), strict=True):
            np.testing.assert_array_equal(one, two)


def ends_of(found: CutPolytopes) -> list[np.ndarray]:
    return [found.middles, found.is_bounded, found.corner_offsets, found.corner_ids, found.corners]


def tables_of(found: CutPolytopes) -> list[np.ndarray]:
    return [*found.cells.tables, found.parents, found.pieces, found.hashes, found.next_units, found.flat_units]


LITTLE_MEMORY = """
import resource
import numpy as np, torch
import reluscope as rs
from reluscope.geometry.cutting.double_description import cut_cells
from reluscope.partitions.cells.first_cells import first_cells
torch.get_num_threads = lambda: 4
cells = first_cells(rs.load([(np.eye(4), np.zeros(4))]), rs.Space(4), rs.Tolerance()).cells
maps = np.random.default_rng(0).normal(size=(16, 60, 5))
words = np.zeros((60, 2, 2), dtype=np.uint64)
with open("/proc/self/statm") as pages:
    used = int(pages.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**25, used + 2**25))
how = {"rounding": 1e-15, "resolution": np.zeros(5), "relative": 0.0}
try:
    cut_cells(cells, maps, 0 * maps, np.zeros((1, 60)), words, words[:, :1].copy(), **how)
except MemoryError:
    print("out of memory")
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are told by Linux")
@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer ends where memory does")
def test_threads_that_run_out_of_memory_say_so():
    found = subprocess.run([sys.executable, "-c", LITTLE_MEMORY], capture_output=True, text=True, check=True)
    assert found.stdout == "out of memory\n"


@pytest.mark.parametrize("room", [{}, {"max_parts": 9}, {"max_vertices": 60}])
@pytest.mark.parametrize("num_levels", [1, 2])
def test_behind_the_last_units_parts_are_the_same(room, num_levels):
    """Simple cells and others have middles, and corners or none; those that come back to be cut have vertices."""
    rng = np.random.default_rng(num_levels)
    levels, words = np.sort(rng.normal(size=(num_levels, 7)), axis=0) * 0.3, random_words(7, num_levels)
    cells = cells_of(rs.Space(3))
    maps = rng.normal(size=(len(cells), 7, 4))
    maps[3, 5] = 0.0
    errors = np.zeros_like(maps)
    errors[3, 5, -1] = 1e-16
    how = {"rounding": 1e-15, "resolution": np.array([0.0, 0, 0, 1e-9]), "relative": 1e-12, **room}
    kept = cut_cells(cells, maps, errors, levels, *words, **how)
    last = cut_cells(cells, maps, errors, levels, *words, **how, is_last=True)
    bare = cut_cells(cells, maps, errors, levels, *words, **how, is_last=True, keeps_vertices=False)
    assert len(kept.middles) == len(kept.is_bounded) == len(kept.corners) == len(bare.corners) == 0
    assert not bare.corner_offsets.any()
    np.testing.assert_allclose(last.middles, bare.middles, rtol=1e-14, atol=1e-15)
    for one, other in zip((*tables_of(last), last.is_bounded), (*tables_of(bare), bare.is_bounded), strict=True):
        np.testing.assert_array_equal(one, other)
    assert (kept.num_taken, kept.num_undecided) == (bare.num_taken, bare.num_undecided)
    for one, other in zip(tables_of(kept)[4:], tables_of(bare)[4:], strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(np.unique(last.corner_ids)) == len(last.corners)  # no part is without one, and none is for nothing
    is_simple = num_levels == 1 and not room  # parallel breakpoints meet at infinity, and nothing is shared then
    assert len(last.corners) <= (0.8 if is_simple else 1.0) * len(last.corner_ids)
    sizes = np.diff(bare.cells.vertex_offsets)
    is_flat = np.isin(np.arange(len(bare.cells)), bare.flat_units[:, 0])
    assert ((sizes == 0) == ((bare.next_units == 7) & ~is_flat)).all()
    for part in range(len(kept.cells)):
        vertices = kept.cells.take(part, part + 1).vertices
        np.testing.assert_allclose(bare.middles[part], vertices.mean(axis=0), rtol=1e-14, atol=1e-15)
        assert bare.is_bounded[part] == (vertices[:, -1] > 0).all()
        corners = last.corners[last.corner_ids[last.corner_offsets[part] : last.corner_offsets[part + 1]]]
        np.testing.assert_array_equal(corners, vertices if bare.next_units[part] == 7 else vertices[:0])
        if sizes[part]:
            np.testing.assert_array_equal(bare.cells.take(part, part + 1).vertices, vertices)
