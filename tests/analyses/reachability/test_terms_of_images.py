"""Ends of numbers of images, term by term: corners, errors and doubts set by hand, against fractions and products."""

from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from inspect import unwrap
from itertools import product
from math import prod
from types import SimpleNamespace

import numpy as np
import pytest

import reluscope as rs
from reluscope.errors import InputError
from reluscope.findings.claims import largest_error
from reluscope.partitions.partition_in_memory import Partition
from reluscope.stopping import Stop, StopReason
from reluscope.testing import default_network

module = import_module("reluscope.analyses.reachability.images")
PART = rs.partition(rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))]), rs.Box(-1, 1, 2))
SQUARE = np.array(list(product((0.0, 1.0), repeat=2)))


def image_of(*corners, errors=None, dims=None, **doubts):
    """Return an image with given corners, of a partition that leaves some things open."""
    corners = tuple(np.array(one, dtype=float) for one in corners)
    dim = corners[0].shape[1]
    errors = np.zeros((len(corners), dim)) if errors is None else np.array(errors, dtype=float)
    dims = np.full(len(corners), dim) if dims is None else np.array(dims)
    return module.Image(replace(PART, **doubts), tuple(range(dim)), corners, dims, errors)


@pytest.fixture
def ends_alone(monkeypatch):
    """Numbers are a value and its ends."""
    monkeypatch.setattr(module.Image, "_finding", lambda self, value, ends, **_: (value, *ends))


def maximum(image, weights):
    return unwrap(module.Image._maximum)(image, weights)


def volume(image):
    return unwrap(module.Image.volume)(image)


def test_largest_outputs_are_between_what_corners_and_their_errors_say(ends_alone):
    draw, rounded = np.random.default_rng(0), 0
    for _ in range(200):
        dim, exponent = int(draw.integers(1, 6)), draw.choice([-3, 0, 6])
        corners = [draw.normal(size=(draw.integers(1, 5), dim)) * 10.0**exponent for _ in range(3)]
        errors = np.abs(draw.normal(size=(3, dim))) * draw.choice([0.0, 0.0, 1e-9, 10.0])
        weights = draw.normal(size=dim)
        value, lower, upper = maximum(image_of(*corners, errors=errors), weights)
        least, most, size = [], [], 0.0
        for rows, off in zip(corners, errors, strict=True):
            reach = sum(abs(Fraction(w)) * Fraction(e) for w, e in zip(weights.tolist(), off.tolist(), strict=True))
            for row in rows.tolist():
                exact = sum(Fraction(w) * Fraction(y) for w, y in zip(weights.tolist(), row, strict=True))
                least.append(exact - reach)
                most.append(exact + reach)
                size = max(size, float(np.abs(weights) @ np.abs(row) + 1e5 * reach))
        assert Fraction(float(lower)) <= max(least)
        assert Fraction(float(upper)) >= max(most)
        assert lower <= value <= upper
        assert float(max(least)) - lower <= 1e-13 * size
        assert upper - float(max(most)) <= 1e-13 * size
        rounded += not errors.any() and Fraction(float(value)) != max(most)
    assert rounded > 20


def test_nothing_bounds_what_regions_left_open_reach(ends_alone):
    assert maximum(image_of([[0.0], [2.0]], num_undecided=1), np.ones(1))[2] == np.inf
    value, lower, upper = maximum(image_of([[0.0], [2.0]], num_open=1), np.ones(1))
    assert (value, upper) == (2.0, np.inf)
    assert lower == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("found", "error", "expected"),
    [((5.0, 6.0), 0.5, (4.5, 6.5)), ((5.0, 6.0), 0.0, (5.0, 6.0)), ((5.0, 6.0), 7.0, (0.0, 13.0))],
)
def test_volumes_are_off_by_what_corners_are_and_what_hulls_round(monkeypatch, ends_alone, found, error, expected):
    monkeypatch.setattr(module.Image, "_volume_error", lambda self: error)
    monkeypatch.setattr(
        module, "volume_of_union", lambda *_: SimpleNamespace(lower=found[0], upper=found[1], stop=None)
    )
    monkeypatch.setattr(module, "HULLS", 0.25)  # of the box around all, which is 2 by 3
    corners = [[0.0, 0.0], [2.0, 0.0], [0.0, 3.0]]
    value, lower, upper = volume(image_of(corners))
    assert (value, lower, upper) == (found[0], max(0.0, expected[0] - 1.5), expected[1] + 1.5)
    assert volume(image_of(corners, dims=[1])) == (found[0], *expected)
    assert volume(image_of(corners, num_open=1))[2] == np.inf
    assert volume(image_of(corners, num_undecided=1))[1:] == (0.0, np.inf)


@pytest.mark.parametrize("dim", [1, 2, 3, 4])
def test_bodies_whose_corners_move_gain_what_larger_boxes_do(dim):
    """In more than three dimensions what is thinner than the resolution of the image is left out of bodies, too."""
    corners = np.array(list(product((0.0, 1.0), repeat=dim))) * np.arange(1, dim + 1) + 5.0
    moved = 2.0 ** -np.arange(2, dim + 2)
    found = image_of(corners, corners + 7.0, errors=[moved, np.zeros(dim)])
    thin = 2 * 0.25 if dim > 3 else 0.0
    sides = np.arange(1.0, dim + 1)
    expected = prod(sides + 2 * (moved + thin)) + prod(sides + 2 * thin) - 2 * prod(sides)
    assert found._volume_error() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("is_flat", [True, False])
def test_pieces_that_may_hide_volume_gain_the_box_along_their_axes(monkeypatch, is_flat):
    """A segment of length 5, wherever it is; without errors it hides what its rank allows, and that is nothing."""
    monkeypatch.setattr(module._Ranks, "is_flat", lambda self, row: is_flat)
    segment = [[10.0, 0.0], [13.0, 4.0], [11.5, 2.0]]
    for errors in ([0.375, 0.0], [0.0, 0.5], [0.3, 0.4], [0.0, 0.0], [1e-10, 1e-10]):
        across = 2 * float(np.hypot(*errors))
        expected = (5 + across) * across if max(errors) > 1e-8 or not is_flat else 0.0
        found = image_of(segment, segment, errors=[errors, [0.0, 0.0]], dims=[1, 1])._volume_error()
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_areas_of_triangles_are_between_their_ends(monkeypatch, ends_alone, seed):
    """Corners that are taken for exact, far from the origin or not."""
    monkeypatch.setattr(module.Image, "_volume_error", lambda self: 0.0)
    corners = np.random.default_rng(seed).normal(size=(3, 2)) * np.pi + [0.0, 100.0 * (seed % 2)]
    first, second, third = (tuple(map(Fraction, row)) for row in corners.tolist())
    area = (second[0] - first[0]) * (third[1] - first[1]) - (second[1] - first[1]) * (third[0] - first[0])
    _, lower, upper = volume(image_of(corners))
    assert Fraction(lower) <= abs(area) / 2 <= Fraction(upper)


def test_what_counts_as_flat_is_a_share_of_the_outputs_or_twice_the_errors():
    assert image_of(100 * SQUARE)._thin == pytest.approx(1e-7)
    assert image_of(100 * SQUARE, 100 * SQUARE, errors=[[0.0, 0.0], [0.25, 1e-3]])._thin == 0.5


def test_points_are_held_up_to_a_reach():
    found = image_of(SQUARE, [[2.0, 0.0], [2.0, 1.0]], dims=[2, 1])
    walls = np.concatenate([np.eye(2), -np.eye(2)])
    vars(found)["pieces"] = (
        rs.Polyhedron(walls, [1.0, 1.0, 0.0, 0.0]),
        rs.Polyhedron(walls[[1, 3]], [1.0, 0.0], np.array([[1.0, 0.0], [0.0, 0.0]]), [2.0, 0.0]),
    )
    for index, low, high in ((0, [0, 0], [1, 1]), (1, [2, 0], [2, 1])):
        for reach, off in product((0.0, 0.25), ([0, 0], [0.25, 0], [0, 0.25], [0.5, 0], [0, 0.5])):
            points = np.stack([np.subtract(low, off), np.add(high, off)]).astype(float)
            inside = max(off) <= reach
            assert found._holds(index, points, reach).tolist() == [inside, inside]
        boxes = found._boxes(0.25)[index] - np.array([[-1], [1]]) * (0.5 + found._thin)
        assert boxes == pytest.approx(np.array([low, high]), abs=1e-15)


@pytest.mark.parametrize("way", [(1, 0), (0, -1), (1, 1)])
def test_bodies_overlap_where_a_ball_larger_than_the_resolution_is_in_both(way):
    """The resolution is 0.1: boxes that meet in a strip narrower than twice that do not overlap."""
    for depth, meets in ((-0.5, False), (0.0, False), (0.05, False), (0.19, False), (0.21, True), (1.0, True)):
        other = SQUARE + np.array(way) * (1 - depth)
        found = image_of(SQUARE, other, errors=[[0.05, 0.0], [0.0, 0.0]])
        assert found._overlap(0, 1) == found._overlap(1, 0) == meets
        assert found.overlaps().tolist() == [[0, 1]] * meets
        flat = replace(found, dims=np.array([2, 1]))
        assert flat.overlaps().tolist() == []


def test_one_piece_with_large_errors_makes_an_estimate():
    limit = float(largest_error(1.0))
    assert image_of(SQUARE, SQUARE, errors=[[0.0, limit], [0.0, 0.0]]).claim == "EXACT"
    assert image_of(SQUARE, SQUARE, errors=[[0.0, 2 * limit], [0.0, 0.0]]).claim == "ESTIMATE"
    assert image_of(SQUARE, num_open=1).claim == "LOWER"
    assert image_of(SQUARE, num_undecided=1).claim == "ESTIMATE"


@pytest.mark.parametrize(
    ("ends", "expected"), [((0.5, 2.0), (0.5, 2.0)), ((1.25, 2.0), (1.0, 2.0)), ((0.5, 0.75), (0.5, 1.0))]
)
def test_numbers_lie_between_their_ends_and_tell_what_was_left(ends, expected):
    stops = Stop(StopReason.UNDECIDED_SIGNS), Stop(StopReason.INTERRUPTED)
    fields = {"scale": 1.0, "name": "a number", "definition": "some number"}
    found = image_of(SQUARE, num_undecided=3, stop=stops[0])
    number = found._finding(1.0, ends, **fields)
    assert (number.interval, number.num_undecided, number.stop) == (expected, 3, stops[0])
    assert found._finding(1.0, ends, stop=stops[1], **fields).stop == stops[1]


def test_ranks_are_found_while_there_is_work_left(monkeypatch):
    one = module.multiplications(PART.network_on_domain)
    solid = int(np.argmax(rs.image(PART.network, PART).dims))
    for left, known in ((3 * one - 1, []), (3 * one, [0]), (6 * one, [0, 1]), (10**6, [0, 1, 2, 3])):
        monkeypatch.setattr(module, "MOST_MULTIPLICATIONS", left)
        ranks = module._Ranks(PART, (0, 1))
        order = [*(row for row in range(4) if row != solid), solid]
        expected = [place in known and row != solid for place, row in enumerate(order)]
        assert [ranks.is_flat(row) for row in order] == expected
    assert module._Ranks(PART, (0, 1, 1)).is_flat(solid)


def test_domains_without_corners_are_refused_before_they_are_partitioned(monkeypatch):
    monkeypatch.setattr(module, "partitioned", lambda *_: pytest.fail("partitioned"))
    net = rs.load(default_network([12, 4, 2], seed=0))
    with pytest.raises(InputError, match="needs the corners"):
        rs.image(net, rs.Box(-1, 1, 12))


@pytest.mark.parametrize("is_given", [True, False])
@pytest.mark.parametrize("reason", [StopReason.INTERRUPTED, StopReason.UNDECIDED_SIGNS, None])
def test_of_interrupted_work_the_first_regions_are_looked_at(monkeypatch, is_given, reason):
    stopped = replace(PART, stop=None if reason is None else Stop(reason), num_open=5)
    monkeypatch.setattr(module, "partitioned", lambda *_: stopped)
    monkeypatch.setattr(module, "FEWEST", 3)
    monkeypatch.setattr(module, "MEMORY", 0)
    found = rs.image(PART.network, stopped if is_given else rs.Box(-1, 1, 2))
    is_cut = reason is StopReason.INTERRUPTED and not is_given
    assert (len(found), found.partition.num_open) == ((3, 6) if is_cut else (4, 5))
    assert found.partition.stop == stopped.stop


def test_the_first_regions_are_as_many_as_pass_in_a_moment(monkeypatch):
    each = PART.network_on_domain.bytes_per_point
    for fewest, memory, number in ((1, 2 * each, 2), (3, each, 3), (0, 5 * each, 4), (4, 0, 4)):
        monkeypatch.setattr(module, "FEWEST", fewest)
        monkeypatch.setattr(module, "MEMORY", memory)
        part = module._first(replace(PART, num_open=1), Stop(StopReason.INTERRUPTED))
        assert isinstance(part, Partition)
        assert (len(part), part.num_open) == (number, 1 + 4 - number)
        assert part.stop == Stop(StopReason.INTERRUPTED)
        assert part.geometry is PART.geometry or number < 4


@pytest.mark.parametrize(("height", "error", "dim"), [(1e-3, 0.0, 2), (1e-10, 0.0, 1), (1e-3, 1e-3, 1)])
def test_dimensions_are_those_that_errors_leave(monkeypatch, height, error, dim):
    proper = module.outputs_at_corners
    net = rs.load([(np.diag([1.0, height]), np.zeros(2))])
    monkeypatch.setattr(module, "outputs_at_corners", lambda *given: (proper(*given)[0], proper(*given)[1] + error))
    assert rs.image(net, rs.Box(0, 1, 2)).dims.tolist() == [dim]
