"""Parts of a box in the coordinates of its unit cube: there and back, and how far volumes may be off, term by term."""

import itertools
from fractions import Fraction
from inspect import unwrap
from math import prod, sqrt
from types import SimpleNamespace

import numpy as np
import pytest

import reluscope as rs
from reluscope.analyses.boxes.pullback import RESOLUTION
from reluscope.analyses.verification import unsafe_regions as listing
from reluscope.geometry.numbers.resolutions import HULLS
from reluscope.geometry.polyhedra.interior import Ball
from reluscope.geometry.unions.set_differences import Difference
from reluscope.partitions.left_open import LeftOpen
from reluscope.stopping import StopReason
from reluscope.testing import default_network

BOX = rs.Box([1.0, -3.0], [3.0, 5.0])
ROUNDING = 64 * 2.0**-52


@pytest.fixture
def parts():
    """Return the parts of a box of four quadrants around (2, 1), two of each side of a known share off."""
    net = rs.load([(np.eye(2), np.array([-2.0, -1.0])), (np.ones((1, 2)), np.zeros(1))])
    found = listing._UnsafeParts(rs.partition(net, BOX), BOX, [])
    found.moved = np.array([[0.125, 0.25]]) * np.arange(1, 5)[:, None]
    return found


def swept(sides, moved):
    """Return what a box gains when each side is moved apart: twice its surface, one axis after the other."""
    return sum(moved[axis] * prod(np.delete(sides, axis)) for axis in range(len(sides)))


def test_how_far_sides_are_moved_is_a_share_of_the_box(monkeypatch):
    part = rs.partition(rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]), BOX)
    monkeypatch.setattr(listing, "side_errors", lambda part: np.full(len(part), 0.5))
    found = listing._UnsafeParts(part, BOX, [])
    assert found.moved == pytest.approx(np.tile([0.25 + ROUNDING, 0.0625 + ROUNDING], (len(part), 1)), rel=1e-15, abs=0)
    monkeypatch.setattr(listing, "side_errors", lambda part: np.zeros(len(part)))
    assert (listing._UnsafeParts(part, BOX, []).moved == ROUNDING).all()


def test_what_is_thin_takes_its_width_and_what_is_moved_times_the_largest_shadow(parts):
    for radius, gap, turned in itertools.product((-0.5, -1e-3, 0.0, 1e-3, 0.5), (0.0, 2e-3, 0.25), (0.0, 1e-4, 0.125)):
        ball = Ball(np.full(2, 0.5), radius, gap)
        moved = ROUNDING + 2 * sqrt(2) * turned
        expected = 0.0
        if radius + gap >= -moved:
            expected = min(1.0, (listing.width_bound(ball, 2) + moved) * sqrt(2)) * 16
        assert parts._thin(ball, turned) == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.parametrize("turned", [0.0, 0.125])
def test_volumes_are_off_by_what_sides_and_rows_are_moved(parts, turned):
    ends = np.array([[0.25, 0.0], [0.5, 1.0]])
    for row in range(4):
        moved = parts.moved[row] + sqrt(2) * turned
        expected = swept(ends[1] - ends[0] + 2 * moved, 2 * moved) * 16
        assert parts._error(ends, row, turned) == pytest.approx(expected)


def test_boxes_around_regions_are_as_much_larger_as_these_may_be(parts):
    for row in range(4):
        corners = parts.part[row].vertices
        reach = parts.moved[row] * [2.0, 8.0]
        low, high = np.maximum(corners.min(axis=0) - reach, BOX.lo), np.minimum(corners.max(axis=0) + reach, BOX.hi)
        assert parts._around(row) == pytest.approx(np.stack([low, high]))


def test_rows_of_the_cube_are_those_of_inputs(parts):
    draw = np.random.default_rng(0)
    A, b = draw.normal(size=(6, 2)), draw.normal(size=6)
    # Walls of the cube, and rows beside them or with one entry alone.
    A = np.concatenate([A, [[1, 0], [-1, 0], [0, 4], [0, -2], [1, 0], [0, 1]]])
    b = np.concatenate([b, [1, 0, 4, 0, 0.5, 0.25]])
    normals, offsets = parts._out_of_cube(rs.Polyhedron(A, b))
    for point in draw.uniform(-0.5, 1.5, (200, 2)):
        slack = normals @ (BOX.lo + point * [2.0, 8.0]) - offsets
        scale = np.where(np.arange(12) >= 6, np.abs(normals).max(axis=1) / np.abs(A / [2.0, 8.0]).max(axis=1), 1.0)
        assert slack == pytest.approx((A @ point - b) * scale, abs=1e-12)
    assert normals[6:10].tolist() == [[1, 0], [-1, 0], [0, 1], [0, -1]]
    assert offsets[6:10].tolist() == [3, -1, 5, 3]


def test_rows_in_fractions_are_those_of_the_cube_up_to_their_size(parts):
    for side in ((Fraction(1, 3), Fraction(-2, 7), Fraction(5, 11)), (Fraction(0), Fraction(1, 9), Fraction(-1, 9))):
        normals, offset = parts._exactly_in_cube(side)
        assert max(map(abs, normals)) == 1
        for point in itertools.product((Fraction(0), Fraction(1, 2), Fraction(1)), repeat=2):
            inputs = [low + wide * share for low, wide, share in zip((1, -3), (2, 8), point, strict=True)]
            value = sum(a * x for a, x in zip(side, inputs, strict=False)) + side[2]
            scale = max(abs(side[0]) * 2, abs(side[1]) * 8)
            slack = offset - sum(a * float(x) for a, x in zip(normals, point, strict=True))
            assert slack == pytest.approx(float(value / scale), abs=1e-15)


def test_rows_in_the_cube_leave_room_for_their_rounding(parts, monkeypatch):
    """Walls have none; others 4 eps of their terms, and what the region says; far ones are left out."""
    eps, clear = 2.0**-10, 2.0**-8
    monkeypatch.setattr(listing, "EPSILON", eps)
    monkeypatch.setattr(listing, "CLEAR", clear)
    monkeypatch.setattr(listing, "ROUGH", np.inf)
    A = np.array([[1.0, 0], [0, -1], [1, 1], [1, 1], [1, 1], [-2, 1], [1, 0], [0, -1], [0, 0]])
    b = np.array([3.0, 3.0, 4.0, 8.0 + 16 * eps * 4, 8.2, 3.0, 2.5, 2.0, 0.0])
    errors = np.array([9.0, 9.0, 0.5, 0.0, 0.0, 0.25, 0.125, 0.0, 0.0])
    region = SimpleNamespace(polyhedron=rs.Polyhedron(A, b), row_errors=lambda low, high: errors)
    body, near, turned = unwrap(listing._UnsafeParts._in_cube)(parts, region)
    kept, shifts = [], []
    for row, (normal, end) in enumerate(zip(A, b, strict=True)):
        extent = abs(normal[0]) * 2 + abs(normal[1]) * 8
        highest = max(normal[0] * 2, 0) + max(normal[1] * 8, 0)
        offset = end - normal @ BOX.lo
        is_wall = row < 2
        lost = 0.0 if is_wall else 4 * eps * (abs(normal[0]) * 3 + abs(normal[1]) * 5 + abs(end)) + errors[row]
        if is_wall or highest + lost >= offset - clear * extent:
            kept.append((row, (normal * [2.0, 8.0]).tolist(), highest if is_wall else offset))
            shifts.append(lost / extent if extent else 0.0)
    assert len(kept) < len(A)
    assert near.tolist() == [row for row, _, _ in kept]
    assert body.A.tolist() == [normal for _, normal, _ in kept]
    assert body.b.tolist() == pytest.approx([offset for _, _, offset in kept])
    assert turned == pytest.approx(sum(shifts))


@pytest.mark.parametrize(("left", "is_exact"), [(10**9, True), (10**9, False), (0, True)])
def test_rough_rows_are_made_again_in_fractions_while_there_is_work_left(parts, left, is_exact):
    third = (Fraction(-1, 3), Fraction(-1, 3), Fraction(2, 3))
    body = SimpleNamespace(
        A=np.array([[1.0, 1.0], [1.0, 0.5]]), b=np.array([2.0, 1.75]), is_exact=is_exact, side=lambda row: third
    )
    region = SimpleNamespace(polyhedron=body, row_errors=lambda low, high: np.array([0.5, 0.0]))
    parts.left = left
    found, _, turned = unwrap(listing._UnsafeParts._in_cube)(parts, region)
    is_made = bool(left) and is_exact
    assert found.A[0].tolist() == ([0.25, 1.0] if is_made else [2.0, 8.0])
    assert found.b[0] == (pytest.approx(0.5) if is_made else 4.0)
    assert (turned > 1e-3) == (not is_made)
    if is_made:
        assert turned >= ROUNDING
        assert parts.left == left - 3 * listing.multiplications(parts.part.network_on_domain)


def test_rows_of_outputs_turn_pieces_the_more_the_later_they_are(parts, monkeypatch):
    """Two kinds, x <= 1/2 and x >= 1/4 of the unit square, each a little off; the second has what the first left."""
    square = rs.Polyhedron(np.concatenate([np.eye(2), -np.eye(2)]), [1.0, 1.0, 0.0, 0.0])
    monkeypatch.setattr(parts, "_in_cube", lambda region: (square, np.arange(4), 0.0625))
    cuts = iter([rs.Polyhedron([[1.0, 0.0]], [0.5]), rs.Polyhedron([[-1.0, 0.0]], [-0.25])])
    parts.rows_of_inputs = SimpleNamespace(of=lambda *_: SimpleNamespace(polyhedron=next(cuts), shift=0.125))
    kinds = [(listing.Unsafe(0, place, rs.Polyhedron([[1.0]], [0.0])), False) for place in (0, 1)]
    unwrap(listing._UnsafeParts._cut_region)(parts, 2, SimpleNamespace(polyhedron=square), None, None, None, kinds)
    assert [piece.volume for piece in parts.pieces] == pytest.approx([8.0, 8.0])
    for piece, turned in zip(parts.pieces, (0.1875, 0.3125), strict=True):
        moved = parts.moved[2] + sqrt(2) * turned
        expected = swept(np.array([0.5, 1.0]) + 2 * moved, 2 * moved) * 16 + HULLS * 8
        assert piece.error == pytest.approx(expected)
        assert piece.unsafe is kinds[parts.pieces.index(piece)][0]
    assert parts.missing == 0


@pytest.mark.parametrize("row", range(4))
def test_whole_regions_have_their_volume_and_what_corners_leave_open(parts, row):
    corners = parts.part[row].vertices
    body, unsafe = parts.part[row].polyhedron, listing.Unsafe(0, 0, rs.Polyhedron([[1.0]], [0.0]))
    piece = parts._whole(row, body, unsafe)
    ends = np.stack([corners.min(axis=0), corners.max(axis=0)])
    volume = float(np.prod(ends[1] - ends[0]))
    assert piece.volume == pytest.approx(volume)
    assert piece.ends == pytest.approx(ends)
    shares = (ends[1] - ends[0]) / [2.0, 8.0]
    expected = swept(shares + 2 * parts.moved[row], 2 * parts.moved[row]) * 16 + 2 * RESOLUTION * volume
    assert piece.error == pytest.approx(expected)
    parts.moved[:] = 0.0
    assert parts._whole(row, body, unsafe).error == pytest.approx(2 * RESOLUTION * volume)


def test_pieces_keep_the_rows_that_their_corners_come_near_to(parts):
    A, b = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1], [1, 1]]), np.array([0.5, -0.25, 1.0, 0.0, 1.5 + 1e-9])
    unsafe = listing.Unsafe(0, 0, rs.Polyhedron([[1.0]], [0.0]))
    parts._keep(rs.Polyhedron(np.concatenate([A, [[1.0, 1.0]]]), np.append(b, 1.75)), unsafe, 1, 0.125)
    (piece,) = parts.pieces
    assert len(piece.polyhedron.A) == 5
    assert piece.volume == pytest.approx(0.25 * 16)
    assert piece.ends == pytest.approx(np.array([[1.5, -3.0], [2.0, 5.0]]))
    moved = parts.moved[1] + sqrt(2) * 0.125
    expected = swept(np.array([0.25, 1.0]) + 2 * moved, 2 * moved) * 16 + HULLS * 4
    assert piece.error == pytest.approx(expected)
    parts.moved[:] = 0.0
    parts._keep(rs.Polyhedron(A, b), unsafe, 1, 0.0)
    assert parts.pieces[1].error == pytest.approx(HULLS * 4)
    assert parts.missing == 0
    parts._keep(rs.Polyhedron(A[:4], [0.25 + 1e-13, -0.25, 1.0, 0.0]), unsafe, 1, 0.0)
    assert len(parts.pieces) == 2
    assert 16e-13 <= parts.missing < 1e-10


def test_parts_that_are_left_out_between_two_kinds_are_missing(monkeypatch):
    """Of each region that one kind cuts a thin rest is left out; the next kind does not look at it."""
    kinds = [rs.Polyhedron([[-1.0]], [-0.75]), rs.Polyhedron([[-1.0]], [-0.5])]
    ball = Ball(np.array([0.5]), 1e-13, 0.0)
    monkeypatch.setattr(listing, "without", lambda body, cut, thin: Difference([body], [ball]))
    absolute = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    box = rs.Box([-1.0], [1.0])
    unsafe = [listing.Unsafe(0, place, one) for place, one in enumerate(kinds)]
    one, two = (listing.unsafe_regions(absolute, box, part, rs.Budget()) for part in (unsafe[:1], unsafe))
    assert one.missing == 0
    assert two.missing > 0


@pytest.mark.parametrize("stopped", [False, True])
def test_regions_in_doubt_say_why_there_are_no_pieces(stopped, monkeypatch):
    monkeypatch.setattr(listing, "MOST_MULTIPLICATIONS", 0)
    if not stopped:
        monkeypatch.setattr(listing, "left_open", lambda part: LeftOpen(num_undecided=1))
    net = rs.load(default_network([2, 30, 30, 1], seed=0))
    unsafe = [listing.Unsafe(0, 0, rs.Polyhedron([[1.0]], [0.0]))]
    found = listing.unsafe_regions(net, rs.Box(-1, 1, 2), unsafe, rs.Budget(regions=5) if stopped else rs.Budget())
    assert found.stop is not None
    assert (found.stop.reason is StopReason.UNDECIDED_SIGNS) == (not stopped)
    assert (found.pieces, found.missing) == ([], 4.0)


@pytest.mark.parametrize(
    ("doubtful", "spare", "is_made"), [(False, 0, False), (True, 0, True), (True, -1, False), (False, -1, False)]
)
def test_small_partitions_in_doubt_are_made_again_in_fractions(doubtful, spare, is_made, monkeypatch):
    """One more region than there are, times inputs, times multiplications of a pass."""
    absolute = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    box, made = rs.Box([-1.0], [1.0]), []
    cost = 3 * listing.multiplications(absolute)
    monkeypatch.setattr(listing, "MOST_MULTIPLICATIONS", cost + spare)
    monkeypatch.setattr(listing, "left_open", lambda part: LeftOpen(num_undecided=doubtful and not made))
    monkeypatch.setattr(listing, "certify", lambda part, budget: made.append(part) or part)
    unsafe = [listing.Unsafe(0, 0, rs.Polyhedron([[1.0]], [0.25]))]
    found = listing.unsafe_regions(absolute, box, unsafe, rs.Budget())
    assert len(made) == is_made
    assert (found.stop is None) == (is_made or not doubtful)


@pytest.mark.parametrize("unlike", ["kind", "code", "whole"])
def test_regions_that_floats_find_otherwise_than_listed_stay_open(unlike, monkeypatch):
    absolute = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    box, proper = rs.Box([-1.0], [1.0]), listing.find_regions
    if unlike == "whole":
        monkeypatch.setattr(listing.Region, "is_whole_within", lambda *_: False)
    elif unlike == "kind":
        monkeypatch.setattr(listing, "find_regions", lambda at, domain: [None] * len(at))
    else:
        monkeypatch.setattr(listing, "find_regions", lambda at, domain: proper(at, domain=domain)[::-1])
    unsafe = [listing.Unsafe(0, 0, rs.Polyhedron([[1.0]], [0.25]))]
    found = listing.unsafe_regions(absolute, box, unsafe, rs.Budget())
    assert (len(found.open_boxes), found.pieces) == (2, [])


def test_whole_regions_far_from_the_origin_have_their_volume():
    lower = 1e9 * np.array([1.0, -1.0])
    width = np.array([3.0, 1.0 / 3])
    box = rs.Box(lower, lower + width)
    net = rs.load([(np.eye(2), -lower - width / 2), (np.ones((1, 2)), np.zeros(1))])
    found = listing._UnsafeParts(rs.partition(net, box), box, [])
    unsafe = listing.Unsafe(0, 0, rs.Polyhedron([[1.0]], [0.0]))
    for row in range(4):
        sides = np.ptp(found.part[row].vertices, axis=0)
        piece = found._whole(row, found.part[row].polyhedron, unsafe)
        assert piece.volume == pytest.approx(np.prod(sides / (box.hi - box.lo)) * box.volume(), rel=1e-12)
